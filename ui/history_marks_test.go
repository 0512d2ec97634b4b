package ui

import (
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
)

// at has a run begin some minutes ago.
func minutesAgo(n int) func(*api.Command) {
	return func(c *api.Command) { c.StartedAt = time.Now().Add(-time.Duration(n) * time.Minute) }
}

// marksSome opens a history of three commands, one of them run twice, and marks
// the newest and the oldest.
func marksSome(t *testing.T) *driver {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		e.ran("make", minutesAgo(40))
		e.ran("go vet", minutesAgo(30))
		e.ran("make", minutesAgo(20))
		e.ran("go test", minutesAgo(10))
	})
	d.pressAtOnce("space", "j", "space")
	d.shows("2 marked")
	return d
}

func TestMarkedCommandsAreCopiedOldestFirst(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		d := marksSome(t)
		d.press("y")
		d.shows("copied 2 commands")
		if got := d.m.clip.text; got != "go vet\ngo test" {
			t.Errorf("the buffer has %q", got)
		}
		d.shows("2 marked")
		d.press("esc")
		d.lacks("2 marked")
		d.press("g", "y")
		d.until("the one under the cursor is copied", func() bool { return d.m.clip.text == "go test" })
	})
}

func TestMarkedCommandsAreForgottenAfterAQuestion(t *testing.T) {
	d := marksSome(t)
	d.press("g", "j", "space") // make, with both of its runs
	d.shows("3 marked")
	d.press("D")
	d.shows("Delete 3 commands?")
	d.shows("go vet")
	d.shows("All their runs go")
	d.press("n")
	d.lacks("Delete 3 commands?")
	d.shows("3 marked")
	if got := d.engine.called(); got != "" {
		t.Errorf("the engine was asked for %s", got)
	}
	d.press("D", "y")
	d.calls(`forget "go vet" []; forget "make" []; forget "go test" []`)
	d.shows("No commands yet")
	d.lacks("3 marked")
}

func TestSingleRunsAreMarkedAndForgottenWhereEachIsARow(t *testing.T) {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		for i := range 4 {
			e.ran("make", minutesAgo(10-i))
		}
	})
	d.press("u")
	d.shows("4 runs")
	d.pressAtOnce("space", "space", "D")
	d.shows("Delete 2 runs?")
	d.press("y")
	d.calls(`forget "" [3 4]`)
	d.shows("2 runs")
}

func TestMarksStayThroughASearchAndAreSaved(t *testing.T) {
	d := marksSome(t)
	d.press("/", "'make", "enter")
	d.shows("1 found")
	d.shows("2 marked")
	d.press("S")
	d.shows("Save the marked 2 commands to")
	d.press("enter")
	d.shows("saved 2 commands to ~/commands.txt")
	d.calls("save /home/ann/commands.txt false; of [2 4]")
}

func TestMarkedCommandsAreRunAgainUnderNamesOfTheirOwn(t *testing.T) {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		e.ran("make one", minutesAgo(2))
		e.ran("make two", minutesAgo(1))
	})
	d.pressAtOnce("space", "space", "r")
	d.shows("Run 2 commands in the background?")
	d.press("y")
	d.shows("started 2 processes in the background – alt+2 shows them")
	d.calls(`start ["make" "one"] in /home/ann/src as "make" keep false env map[]; ` +
		`start ["make" "two"] in /home/ann/src as "make-2" keep false env map[]`)
}

func TestWhatWasStoppedOnPurposeIsNoFailure(t *testing.T) {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		e.ran("make", failed(2))
		e.ran("serve", func(c *api.Command) { c.ExitCode, c.ExitSignal, c.Stopped = nil, "SIGTERM", true })
	})
	d.shows("■ stopped by SIGTERM")
	if screen := d.screen(); strings.Contains(screen, "✗ TERM") || !strings.Contains(screen, "■ stopped  ") {
		t.Error(screen)
	}
	d.press("f")
	d.shows("1 found")
	d.chooses("make")
}
