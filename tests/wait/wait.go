// Package wait waits in tests: for a value from a channel, for an event of an engine, for the exit
// of a process, and by polling for all other changes. Nothing else in a test sleeps or polls, except
// in a synctest bubble.
package wait

import (
	"context"
	"errors"
	"iter"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Timeout bounds each wait. It is far longer than anything takes, even on a busy machine.
const Timeout = time.Minute

// Receive returns the next value from c, or the zero value if c is closed.
func Receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	limit := time.NewTimer(Timeout)
	defer limit.Stop()
	select {
	case v := <-c:
		return v
	case <-limit.C:
		t.Fatalf("timed out waiting for %s", what)
	}
	panic("unreachable")
}

// Watch waits for a state of an engine: it calls look after each event from watch, until look
// returns done, and returns the last state. The first event has to be a snapshot, like that of
// client.Client.Watch. If watch ends, because its engine is replaced, Watch calls it again.
func Watch[E, T any](t testing.TB, what string, watch func(context.Context) iter.Seq2[E, error], look func() (state T, done bool)) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	var state T
	for began := time.Now(); ctx.Err() == nil; time.Sleep(pace(began)) {
		for _, err := range watch(ctx) {
			if err != nil {
				break
			}
			var done bool
			if state, done = look(); done {
				return state
			}
		}
	}
	t.Fatalf("timed out waiting for %s; last state:\n%+v", what, state)
	return state
}

// Poll calls look until it is done, and returns its last state. It is for changes without an event.
func Poll[T any](t Failer, what string, look func() (state T, done bool)) T {
	if t, ok := t.(testing.TB); ok {
		t.Helper()
	}
	for began := time.Now(); ; time.Sleep(pace(began)) {
		state, done := look()
		if done {
			return state
		}
		if time.Since(began) > Timeout {
			t.Fatalf("timed out waiting for %s; last state:\n%+v", what, state)
		}
	}
}

// File polls until the file at path exists.
func File(t testing.TB, path string) {
	t.Helper()
	Poll(t, path, func() (error, bool) {
		_, err := os.Stat(path)
		return err, err == nil
	})
}

// pace returns the pause before the next poll: the longer the wait, the rarer the polls.
func pace(began time.Time) time.Duration {
	return min(max(time.Since(began)/16, 5*time.Millisecond), 200*time.Millisecond)
}

// Exit returns once the process pid has exited, whoever started it.
func Exit(t Failer, pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatalf("waiting for the exit of process %d: %v", pid, err)
	}
	defer unix.Close(fd)
	awaitExit(t, pid, fd)
}

// A Failer is a testing.TB or a testscript.TestScript.
type Failer interface {
	Fatalf(format string, args ...any)
}

// Kill kills the process pid and returns once it has exited.
func Kill(t Failer, pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("kill process %d: %v", pid, err)
	}
	defer unix.Close(fd)
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		t.Fatalf("kill process %d: %v", pid, err)
	}
	awaitExit(t, pid, fd)
}

// awaitExit waits until a pidfd reports the exit of its process.
func awaitExit(t Failer, pid, fd int) {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for end := time.Now().Add(Timeout); ; {
		n, err := unix.Poll(poll, int(max(0, time.Until(end).Milliseconds())))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			t.Fatalf("waiting for the exit of process %d: %v", pid, err)
		case n == 0:
			t.Fatalf("timed out waiting for the exit of process %d", pid)
		default:
			return
		}
	}
}
