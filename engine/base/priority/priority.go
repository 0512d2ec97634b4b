// Package priority runs work on all processors without delaying anything else.
package priority

import (
	"runtime"

	"golang.org/x/sys/unix"

	"tandem/engine/base/panics"
)

// niceness is the nice value of threads of low priority, unless the process has a higher one.
const niceness = 5

// RunLow runs f on a thread of low priority, and returns once f has returned.
//
// Go runs GOMAXPROCS goroutines at a time, up to 10 ms each, whatever the priority of their threads.
// A program with up to n calls of RunLow at a time must therefore raise GOMAXPROCS by n, so the
// system decides between the threads.
func RunLow(f func()) {
	var thread panics.Group
	thread.Start(func() {
		// The thread is never unlocked, so it exits with its goroutine: it could not get its
		// priority back.
		runtime.LockOSThread()
		// The first thread cannot exit: keep it busy until f has run on another one.
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			RunLow(f)
			return
		}
		if n, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil && 20-n < niceness { // of this thread
			_ = unix.Setpriority(unix.PRIO_PROCESS, 0, niceness)
		}
		f()
	})
	thread.Wait()
}
