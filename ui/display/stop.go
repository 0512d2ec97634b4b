package display

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// StopProgram stops the program, as SIGTSTP would without a handler, and returns once the
// program continues.
func StopProgram() {
	// A signal to the whole process may reach another thread first, and this one would go on
	// for a moment.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGSTOP) // cannot fail
}
