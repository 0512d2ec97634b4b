package cli

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/sleep"
)

const (
	// departureLimit is how long a process may take to end that was asked to.
	departureLimit = 10 * time.Second
	// collectLimit is how long whoever collects it may take after that.
	collectLimit  = 500 * time.Millisecond
	departurePoll = 5 * time.Millisecond
)

// A departure is a process that is about to end, and none that has its number
// later.
type departure struct {
	what  string
	pid   int
	pidfd int // -1 if it is gone already
}

func departureOf(what string, pid int) *departure {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		pidfd = -1
	}
	return &departure{what, pid, pidfd}
}

// await returns when the process is gone, or says that it is not. It does not
// wait for one that was not asked to end.
func (d *departure) await(ctx context.Context, asked bool) error {
	if d.pidfd < 0 {
		return nil
	}
	defer unix.Close(d.pidfd)
	if !asked {
		return nil
	}
	for began := time.Now(); ; {
		ended := d.ended()
		gone := ended && unix.PidfdSendSignal(d.pidfd, 0, nil, 0) == unix.ESRCH
		switch since := time.Since(began); {
		case gone, ended && since > collectLimit:
			return nil
		case since > departureLimit:
			return fmt.Errorf("shut down: the %s (pid %d) is still running", d.what, d.pid)
		}
		if err := sleep.For(ctx, departurePoll); err != nil {
			return err
		}
	}
}

func (d *departure) ended() bool {
	fds := []unix.PollFd{{Fd: int32(d.pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}
