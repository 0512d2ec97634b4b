package proctree

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTerminalStepsKeepStopTimeout(t *testing.T) {
	for timeout, want := range map[time.Duration][3]time.Duration{
		0:                      {0, 700 * time.Millisecond, 3 * time.Second},
		30 * time.Second:       {0, 700 * time.Millisecond, 30 * time.Second},
		100 * time.Millisecond: {0, 100 * time.Millisecond, 100 * time.Millisecond},
	} {
		steps := TerminalSteps(timeout)
		for i, step := range steps {
			if step.after != want[i] {
				t.Errorf("time-out %v: step %d after %v, want %v", timeout, i, step.after, want[i])
			}
		}
		if last := steps[2]; !last.repeat || last.signals[0] != unix.SIGKILL {
			t.Errorf("the last step is %+v", last)
		}
	}
}
