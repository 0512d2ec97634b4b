package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// enginePIDVariable is the environment variable with the PID of the engine, for a keeper started by
// it.
const enginePIDVariable = "TANDEM_ENGINE_PID"

// KeeperEnginePID returns the PID of the engine that started this keeper in place of an exited one,
// or 0. It is meant for EnginePID in keeper.Options.
func KeeperEnginePID() int {
	pid, err := strconv.Atoi(os.Getenv(enginePIDVariable))
	if err != nil || pid != os.Getppid() {
		return 0
	}
	return pid
}

// StartKeeper runs this executable as a keeper for this engine and waits until it accepts
// connections. If ctx ends meanwhile, the engine is exiting, so StartKeeper kills the new keeper,
// which has no children yet. Otherwise the keeper would start another engine, even during a
// shutdown.
func StartKeeper(ctx context.Context, args []string, dataDir string) (err error) {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	exiting := ctx.Err
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start keeper: %v", err)
	}
	defer r.Close()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Args[0] = "tandem"
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "TANDEM_DATA_DIR="+dataDir, enginePIDVariable+"="+strconv.Itoa(os.Getpid()))
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	// A session of its own protects the keeper from signals of a terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return fmt.Errorf("start keeper: %v", err)
	}
	defer func() {
		if exiting() != nil {
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have exited
			err = exiting()
		}
	}()
	go cmd.Wait() // reaps it if it exits before this engine
	stop := context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(io.LimitReader(r, 64<<10)).ReadString('\n')
	switch line = strings.TrimSpace(line); {
	case line == "ready":
		return nil
	case line != "":
		return errors.New("start keeper: " + line)
	}
	return fmt.Errorf("start keeper: no output from the keeper: %v", err)
}
