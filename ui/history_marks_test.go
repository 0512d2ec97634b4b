package ui

import (
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
)

// minutesAgo makes a run begin n minutes ago.
func minutesAgo(n int) func(*api.Command) {
	return func(c *api.Command) { c.StartedAt = time.Now().Add(-time.Duration(n) * time.Minute) }
}

// markTwo opens a history of three commands, one of them run twice, and marks the newest
// and the oldest.
func markTwo(t *testing.T) *driver {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		e.addRun("make", minutesAgo(40))
		e.addRun("go vet", minutesAgo(30))
		e.addRun("make", minutesAgo(20))
		e.addRun("go test", minutesAgo(10))
	})
	d.pressAtOnce("space", "j", "space")
	d.waitText("2 marked")
	return d
}

func TestMarkedCommandsAreCopiedOldestFirst(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		d := markTwo(t)
		d.pressKeys("y")
		d.waitText("copied 2 commands")
		if got := d.m.clip.text; got != "go vet\ngo test" {
			t.Errorf("the buffer has %q", got)
		}
		d.waitText("2 marked")
		d.pressKeys("esc")
		d.waitNoText("2 marked")
		d.pressKeys("g", "y")
		d.waitUntil("the one under the cursor is copied", func() bool { return d.m.clip.text == "go test" })
	})
}

func TestMarkedCommandsAreDeletedAfterConfirmation(t *testing.T) {
	d := markTwo(t)
	d.pressKeys("g", "j", "space") // make, with both of its runs
	d.waitText("3 marked")
	d.pressKeys("D")
	d.waitText("Delete 3 commands?")
	d.waitText("go vet")
	d.waitText("All their runs go")
	d.pressKeys("n")
	d.waitNoText("Delete 3 commands?")
	d.waitText("3 marked")
	if got := d.engine.listCalls(); got != "" {
		t.Errorf("the engine was asked for %s", got)
	}
	d.pressKeys("D", "y")
	d.waitCalls(`forget "go vet" []; forget "make" []; forget "go test" []`)
	d.waitText("No commands yet")
	d.waitNoText("3 marked")
}

func TestSingleRunsAreMarkedAndDeletedInListOfRuns(t *testing.T) {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		for i := range 4 {
			e.addRun("make", minutesAgo(10-i))
		}
	})
	d.pressKeys("u")
	d.waitText("4 runs")
	d.pressAtOnce("space", "space", "D")
	d.waitText("Delete 2 runs?")
	d.pressKeys("y")
	d.waitCalls(`forget "" [3 4]`)
	d.waitText("2 runs")
}

func TestMarksSurviveSearchAndAreSaved(t *testing.T) {
	d := markTwo(t)
	d.pressKeys("/", "'make", "enter")
	d.waitText("1 found")
	d.waitText("2 marked")
	d.pressKeys("S")
	d.waitText("Save the marked 2 commands to")
	d.pressKeys("enter")
	d.waitText("saved 2 commands to ~/commands.txt")
	d.waitCalls("save /home/ann/commands.txt false; of [2 4]")
}

func TestMarkedCommandsRunAgainUnderDistinctNames(t *testing.T) {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		e.addRun("make one", minutesAgo(2))
		e.addRun("make two", minutesAgo(1))
	})
	d.pressAtOnce("space", "space", "r")
	d.waitText("Run 2 commands in the background?")
	d.pressKeys("y")
	d.waitText("started 2 processes in the background – alt+2 shows them")
	d.waitCalls(`start ["make" "one"] in /home/ann/src as "make" keep false env map[]; ` +
		`start ["make" "two"] in /home/ann/src as "make-2" keep false env map[]`)
}

func TestStoppedCommandIsNotShownAsFailed(t *testing.T) {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		e.addRun("make", withExit(2))
		e.addRun("serve", func(c *api.Command) { c.ExitCode, c.ExitSignal, c.Stopped = nil, "SIGTERM", true })
	})
	d.waitText("■ stopped by SIGTERM")
	if screen := d.screenText(); strings.Contains(screen, "✗ TERM") || !strings.Contains(screen, "■ stopped  ") {
		t.Error(screen)
	}
	d.pressKeys("f")
	d.waitText("1 found")
	d.waitChosen("make")
}
