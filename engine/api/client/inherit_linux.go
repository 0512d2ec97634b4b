package client

import (
	"math"

	"golang.org/x/sys/unix"

	"tandem/persist/procstat"
)

// inheritNothing sets close-on-exec on descriptors that this program's parent left open. A keeper
// outlives that parent by far, and would otherwise hold the lock of a script, or keep a pipe open
// that is read until EOF. Descriptors opened by Go have the flag already, and those passed on
// purpose are not affected.
func inheritNothing() {
	// Before Linux 5.11, close_range cannot set close-on-exec. There the descriptors that the parent
	// left open are inherited.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}

// isStopped reports whether the process pid is suspended, for example by ctrl+z.
func isStopped(pid int) bool {
	p, err := procstat.Read(pid)
	return err == nil && p.State == 'T'
}
