package history

import (
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/panes/panestest"
)

// minutesAgo makes a run begin n minutes ago.
func minutesAgo(n int) func(*api.Command) {
	return func(c *api.Command) { c.StartedAt = time.Now().Add(-time.Duration(n) * time.Minute) }
}

// markTwo opens a history of three commands, one of them run twice, and marks the newest
// and the oldest.
func markTwo(t *testing.T) *view {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		e.AddRun("make", minutesAgo(40))
		e.AddRun("go vet", minutesAgo(30))
		e.AddRun("make", minutesAgo(20))
		e.AddRun("go test", minutesAgo(10))
	})
	d.Press("space", "j", "space")
	d.WaitText("2 marked")
	return d
}

func TestMarkedCommandsAreCopiedOldestFirst(t *testing.T) {
	d := markTwo(t)
	d.Press("y")
	if got := d.env.Copied; got != "go vet\ngo test" {
		t.Errorf("copied %q", got)
	}
	d.WaitText("2 marked")
	d.Press("esc")
	d.WaitNoText("2 marked")
	d.Press("g", "y")
	d.Wait("the one under the cursor is copied", func() bool { return d.env.Copied == "go test" })
}

func TestMarkedCommandsAreDeletedAfterConfirmation(t *testing.T) {
	d := markTwo(t)
	d.Press("g", "j", "space") // make, with both of its runs
	d.WaitText("3 marked")
	d.Press("D")
	d.WaitText("Delete 3 commands?")
	d.WaitText("go vet")
	d.WaitText("All their runs go")
	d.Press("n")
	d.WaitNoText("Delete 3 commands?")
	d.WaitText("3 marked")
	if got := d.engine.listCalls(); got != "" {
		t.Errorf("the engine was asked for %s", got)
	}
	d.Press("D", "y")
	d.waitCalls(`forget "go vet" []; forget "make" []; forget "go test" []`)
	d.WaitText("No commands yet")
	d.WaitNoText("3 marked")
}

func TestSingleRunsAreMarkedAndDeletedInListOfRuns(t *testing.T) {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		for i := range 4 {
			e.AddRun("make", minutesAgo(10-i))
		}
	})
	d.Press("u")
	d.WaitText("4 runs")
	d.Press("space", "space", "D")
	d.WaitText("Delete 2 runs?")
	d.Press("y")
	d.waitCalls(`forget "" [3 4]`)
	d.WaitText("2 runs")
}

func TestMarksSurviveSearchAndAreSaved(t *testing.T) {
	d := markTwo(t)
	d.Press("/", "'make", "enter")
	d.WaitText("1 found")
	d.WaitText("2 marked")
	d.Press("S")
	d.WaitText("Save the marked 2 commands to")
	d.Press("enter")
	d.WaitText("saved 2 commands to ~/commands.txt")
	d.waitCalls("save /home/ann/commands.txt false; of [2 4]")
}

func TestMarkedCommandsRunAgainUnderDistinctNames(t *testing.T) {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		e.AddRun("make one", minutesAgo(2))
		e.AddRun("make two", minutesAgo(1))
	})
	d.Press("space", "space", "r")
	d.WaitText("Run 2 commands in the background?")
	d.Press("y")
	d.WaitText("started 2 processes in the background – alt+2 shows them")
	d.waitCalls(`start ["make" "one"] in /home/ann/src as "make" keep false env map[]; ` +
		`start ["make" "two"] in /home/ann/src as "make-2" keep false env map[]`)
}

func TestStoppedCommandIsNotShownAsFailed(t *testing.T) {
	d := onHistory(t, 100, 30, func(e *fakeEngine) {
		e.AddRun("make", panestest.WithExit(2))
		e.AddRun("serve", func(c *api.Command) { c.ExitCode, c.ExitSignal, c.Stopped = nil, "SIGTERM", true })
	})
	d.WaitText("■ stopped by SIGTERM")
	if screen := d.Screen(); strings.Contains(screen, "✗ TERM") || !strings.Contains(screen, "■ stopped  ") {
		t.Error(screen)
	}
	d.Press("f")
	d.WaitText("1 found")
	d.waitChosen("make")
}
