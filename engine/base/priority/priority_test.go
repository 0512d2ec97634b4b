package priority

import (
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/base/panics"
)

// priorityOf returns the nice value of the calling thread. The system call returns 20 less the value.
func priorityOf(t *testing.T) int {
	t.Helper()
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Error(err)
	}
	return 20 - n
}

func TestRunLowLowersOnlyItsOwnThread(t *testing.T) {
	before := priorityOf(t)
	for range 50 { // on the first thread sooner or later
		thread, low := 0, 0
		RunLow(func() { thread, low = unix.Gettid(), priorityOf(t) })
		if want := max(before, niceness); low != want || thread == unix.Getpid() {
			t.Fatalf("it ran on thread %d of process %d with priority %d, want %d", thread, unix.Getpid(), low, want)
		}
	}
	if after := priorityOf(t); after != before {
		t.Errorf("the caller has priority %d, had %d", after, before)
	}
	if c := panics.Catch(func() { RunLow(func() { panic("x") }) }); c == nil || c.Value != "x" {
		t.Errorf("a panic is passed on as %v", c)
	}
}
