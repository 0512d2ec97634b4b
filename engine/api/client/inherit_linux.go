package client

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// inheritNothing keeps descriptors that whoever started this program left open
// out of the processes that it starts. A keeper outlives its starter by far,
// and would hold a script's lock or a pipe that somebody reads to its end. What
// Go opens is marked already, and what it passes on purpose is not affected.
func inheritNothing() {
	// Before Linux 5.11 this fails, and such descriptors are inherited.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}

// isStopped reports whether the process pid is suspended, for example by ctrl+z.
func isStopped(pid int) bool {
	if pid == 0 {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, fields, found := strings.Cut(string(stat[max(0, bytes.LastIndexByte(stat, ')')):]), ") ")
	return err == nil && found && strings.HasPrefix(fields, "T")
}
