package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/wire"
	"tandem/engine/base/scope"
)

// maxReadyLine is the maximum length of the keeper's first line, in bytes.
const maxReadyLine = 64 << 10

// keeperGrace is how long to wait for a keeper after ctx is done. It is enough for a normal start.
// So after a cancelled activation, an engine is either running or will not start.
const keeperGrace = time.Second

// runKeeper starts the keeper in its own process session, and reads its single line of output:
// "ready" or an error. If the keeper prints nothing in time, it is not killed, because it may
// already have children.
func runKeeper(ctx context.Context, o Options) error {
	r, w, err := os.Pipe()
	if err != nil {
		return api.Errorf(api.CodeUnavailable, "start keeper: %v", err)
	}
	defer r.Close()
	exited, err := spawnMoved(o, w)
	w.Close() // before reading: only the keeper's copy may keep the pipe open
	if err != nil {
		return api.Errorf(api.CodeUnavailable, "start keeper: %v", wire.Root(err)).WithHint(hintLog(o.DataDir))
	}
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Now().Add(keeperGrace)) })
	defer stop()
	line, err := bufio.NewReader(io.LimitReader(r, maxReadyLine)).ReadString('\n')
	line = strings.TrimSpace(line)
	switch {
	case line == "ready":
		return nil
	case line != "":
		return api.Errorf(api.CodeUnavailable, "start keeper: %s", line).WithHint(hintLog(o.DataDir))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("start keeper: %w", ctx.Err())
	}
	return silentKeeper(ctx, o, exited)
}

// A silentError means that a keeper exited without printing anything, usually because it was
// killed.
type silentError struct{ cause *api.Error }

func (e *silentError) Error() string { return e.cause.Error() }
func (e *silentError) Unwrap() error { return e.cause }

// maxSilentKeepers is how many keepers in a row may exit without printing anything before start
// gives up.
const maxSilentKeepers = 3

// silentKeeper returns the error for a keeper that closed its output without printing anything. It
// waits up to a second for the exit status.
func silentKeeper(ctx context.Context, o Options, exited <-chan string) error {
	status := "it closed its output"
	select {
	case status = <-exited:
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	return &silentError{api.Errorf(api.CodeUnavailable, "start keeper: no output from the keeper: %s", status).WithHint(hintLog(o.DataDir))}
}

// scopeTimeout is how long the user's manager may take to move a keeper.
const scopeTimeout = 300 * time.Millisecond

// spawnMoved starts the keeper in a scope of its own if that cannot shorten its life, and otherwise
// in this process's cgroup. The keeper waits until it has been moved, so that its children start in
// the scope. If the manager does not move it in time, it is killed, because it may be moved later,
// and another one starts that is not moved.
func spawnMoved(o Options, stdout *os.File) (exited <-chan string, err error) {
	login := scope.Current()
	if o.login != nil {
		login = *o.login
	}
	if !login.MayMove() {
		_, exited, err = spawnKeeper(o, nil, stdout)
		return exited, err
	}
	stdin, moved, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer moved.Close()
	keeper, exited, err := spawnKeeper(o, stdin, stdout)
	stdin.Close()
	if err != nil {
		return nil, err
	}
	if err := login.Move(o.DataDir, keeper.Pid, scopeTimeout); err != nil {
		_ = keeper.Kill() // fails only if it has exited
		<-exited
		_, exited, err = spawnKeeper(o, nil, stdout)
		return exited, err
	}
	return exited, nil
}

// spawnKeeper starts the keeper's process. A goroutine waits for it, so it does not become a
// zombie, and sends its exit status on exited.
func spawnKeeper(o Options, stdin, stdout *os.File) (keeper *os.Process, exited <-chan string, err error) {
	cmd := keeperCommand(o)
	if stdin != nil {
		cmd.Stdin = stdin
	}
	cmd.Stdout = stdout
	cmd.Dir = "/"
	outside := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "TANDEM_SESSION_ID=") })
	cmd.Env = append(outside, "TANDEM_DATA_DIR="+o.DataDir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	log, err := os.OpenFile(logPath(o.DataDir), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		defer log.Close()
		cmd.Stderr = log
	}
	inheritNothing()
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	status := make(chan string, 1)
	go func() {
		_ = cmd.Wait() // ProcessState has the result
		status <- cmd.ProcessState.String()
	}()
	return cmd.Process, status, nil
}

// keeperCommand returns o.Command, or this executable by its path in /proc. That path works even
// after the file was replaced or deleted.
func keeperCommand(o Options) *exec.Cmd {
	if len(o.Command) > 0 {
		return exec.Command(o.Command[0], o.Command[1:]...)
	}
	path := "/proc/self/exe"
	if _, err := os.Stat(path); err != nil {
		if exe, err := os.Executable(); err == nil {
			path = exe
		}
	}
	cmd := exec.Command(path, "keeper")
	cmd.Args[0] = "tandem"
	return cmd
}
