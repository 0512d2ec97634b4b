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

// enginePIDVariable tells a keeper the PID of the engine that started it.
const enginePIDVariable = "TANDEM_ENGINE_PID"

// KeeperEnginePID returns the PID of the engine that started this keeper after its own had died, or
// 0. It is the EnginePID of keeper.Options.
func KeeperEnginePID() int {
	pid, err := strconv.Atoi(os.Getenv(enginePIDVariable))
	if err != nil || pid != os.Getppid() {
		return 0
	}
	return pid
}

// StartKeeper runs this executable as a keeper for this engine and waits until it accepts
// connections. If ctx ends meanwhile, the engine is exiting, and StartKeeper ends the new keeper,
// which has no children yet. Otherwise it would start another engine, even while the system shuts
// down.
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
	// In its own session, no terminal's signals reach the keeper.
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
