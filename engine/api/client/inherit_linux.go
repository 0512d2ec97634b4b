package client

import (
	"math"

	"golang.org/x/sys/unix"

	"tandem/persist/procstat"
)

// inheritNothing sets close-on-exec on descriptors left open by this program's parent. A keeper
// far outlives its parent, and would otherwise hold a script's lock, or a pipe read until EOF.
// Descriptors opened by Go already have the flag, and those passed on purpose are unaffected.
func inheritNothing() {
	// Before Linux 5.11 this fails, and such descriptors are inherited.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}

// isStopped reports whether the process pid is suspended, for example by ctrl+z.
func isStopped(pid int) bool {
	p, err := procstat.Read(pid)
	return err == nil && p.State == 'T'
}
