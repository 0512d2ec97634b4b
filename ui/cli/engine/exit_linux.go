package engine

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/base/sleep"
)

const (
	// exitTimeout is how long to wait for a process asked to exit.
	exitTimeout = 10 * time.Second
	// reapTimeout is how long the parent of an exited process may take to reap it.
	reapTimeout = 500 * time.Millisecond
	exitPoll    = 5 * time.Millisecond
)

// An exitWatch waits for one process to exit. It holds a pidfd, so a later process with the same
// pid is not mistaken for it.
type exitWatch struct {
	what  string
	pid   int
	pidfd int // -1 if the process no longer exists
}

func watchExit(what string, pid int) *exitWatch {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		pidfd = -1
	}
	return &exitWatch{what, pid, pidfd}
}

// await waits for the process to exit and be reaped, and returns an error if it is still running
// after exitTimeout. If asked is false, the process was not asked to exit, and await returns at
// once.
func (d *exitWatch) await(ctx context.Context, asked bool) error {
	if d.pidfd < 0 {
		return nil
	}
	defer unix.Close(d.pidfd)
	if !asked {
		return nil
	}
	for began := time.Now(); ; {
		ended := d.hasExited()
		// An unreaped process has exited but still takes a signal. Its parent may be slow or never
		// reap it, so reapTimeout bounds the wait.
		gone := ended && unix.PidfdSendSignal(d.pidfd, 0, nil, 0) == unix.ESRCH
		switch since := time.Since(began); {
		case gone, ended && since > reapTimeout:
			return nil
		case since > exitTimeout:
			return fmt.Errorf("shut down: the %s (pid %d) is still running", d.what, d.pid)
		}
		if err := sleep.For(ctx, exitPoll); err != nil {
			return err
		}
	}
}

func (d *exitWatch) hasExited() bool {
	// A pidfd becomes readable when its process exits, before it is reaped.
	fds := []unix.PollFd{{Fd: int32(d.pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}
