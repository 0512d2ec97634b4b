package files

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// pinned is a path that leads to an open folder, whatever becomes of its name.
func pinned(dir *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", dir.Fd()) }

// onMainThread reports whether the calling thread is the one that the process
// began with.
func onMainThread() bool { return unix.Gettid() == os.Getpid() }
