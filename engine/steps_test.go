package engine

import (
	"testing"
	"time"

	"tandem/persist"

	"golang.org/x/sys/unix"
)

func TestTheStopTimeoutHoldsWithATerminalToo(t *testing.T) {
	for timeout, want := range map[int][3]time.Duration{
		0:      {0, 700 * time.Millisecond, 3 * time.Second},
		30_000: {0, 700 * time.Millisecond, 30 * time.Second},
		100:    {0, 100 * time.Millisecond, 100 * time.Millisecond},
	} {
		steps := stepsOf(persist.Record{TTY: true, StopTimeoutMS: timeout}, "")
		for i, step := range steps {
			if step.after != want[i] {
				t.Errorf("time-out %d ms: step %d after %v, want %v", timeout, i, step.after, want[i])
			}
		}
		if last := steps[2]; !last.repeat || last.signals[0] != unix.SIGKILL {
			t.Errorf("the last step is %+v", last)
		}
	}
}
