package logs

import (
	"sync/atomic"
	"testing"
	"time"

	"tandem/tests/wait"
)

// stumbling is a growth that panics at the first wait.
type stumbling struct {
	growth
	waits *atomic.Int32
}

func (s stumbling) wait(until time.Time) ([]int, []int, bool) {
	if s.waits.Add(1) == 1 {
		panic("stumbled")
	}
	return s.growth.wait(until)
}

func TestLogsContinueAfterPanic(t *testing.T) {
	r := newLogRig(t)
	r.logs.growths = func() growth { return stumbling{newGrowth(), new(atomic.Int32)} }
	r.logs.enqueue(func() { panic("stumbled") })
	grew, stop := r.logs.follow(r.source.Path, nil)
	defer stop()
	r.write("news\n")
	wait.Receive(t, "the follower to be told", grew)
}
