// Package jobcontrol stops the program as a shell's job control does (SIGTSTP), after the
// terminal has been restored.
package jobcontrol

import (
	"context"
	"os"
	"os/signal"
	"runtime"

	"golang.org/x/sys/unix"
)

// Notify relays SIGCONT to stops, and SIGTSTP unless it is ignored, until signal.Stop.
func Notify(stops chan<- os.Signal) {
	signal.Notify(stops, unix.SIGCONT)
	if !signal.Ignored(unix.SIGTSTP) {
		signal.Notify(stops, unix.SIGTSTP)
	}
}

// Stop stops the program, as SIGTSTP would without a handler, and returns once the program
// continues.
func Stop() {
	// A signal to the whole process might be delivered to another thread, and this one would
	// run on for a moment.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGSTOP) // cannot fail
}

// AwaitContinue discards signals from stops until the SIGCONT that ended Stop, or until ctx
// is done.
func AwaitContinue(ctx context.Context, stops <-chan os.Signal) {
	for {
		select {
		case s := <-stops:
			if s == unix.SIGCONT {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
