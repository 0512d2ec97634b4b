package ui

import (
	"fmt"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/tests/needs"
)

// onHistory opens the dashboard on the history of an engine with one shell.
func onHistory(t *testing.T, w, h int, prepare func(*fakeEngine)) *driver {
	t.Helper()
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	prepare(e)
	d := drive(t, e, w, h)
	d.waitText("$ ")
	d.pressKeys("alt+3")
	d.waitUntil("the history is shown", func() bool { return d.m.history.IsSettled() })
	return d
}

func (d *driver) chosenCommand() string {
	row, _ := d.m.history.Selected()
	return row.Command.Command
}

// waitChosen waits until the cursor is on a command.
func (d *driver) waitChosen(command string) {
	d.t.Helper()
	d.waitUntil("the cursor is on "+command, func() bool { return d.chosenCommand() == command })
}

func TestEnterInsertsCommandAtPromptOfLastSession(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.history.AddRun("go test") })
	d.waitChosen("go test")
	d.pressKeys("enter")
	d.waitTyped(d.nthSession(0), "go test")
	if d.m.views.action() != keymap.ViewSessions || d.m.sessions.FocusedPane() == nil {
		t.Error("the session is not shown with the keyboard")
	}
}

func TestInsertAsksIfSessionIsNotAtPrompt(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.history.AddRun("go test")
		e.sessions[0].runs = "vim"
	})
	d.waitChosen("go test")
	d.pressKeys("enter")
	d.waitText("shell is running vim.")
	d.waitText("Type it there anyway, or open a new session?")
	d.pressKeys("esc")
	d.waitNoText("is running vim")
	if got := d.nthSession(0).typedText(); got != "" {
		t.Fatalf("vim got %q", got)
	}

	d.pressKeys("alt+3", "enter")
	d.waitText("is running vim")
	d.pressKeys("'t", "' -v")
	d.waitTyped(d.nthSession(0), "go test -v")

	d.pressKeys("alt+3", "enter")
	d.waitText("is running vim")
	d.pressKeys("'n")
	d.waitStarted(2)
	d.waitTyped(d.nthSession(1), "go test")
	if got := d.nthSession(0).typedText(); got != "go test -v" {
		t.Errorf("vim got %q as well", got)
	}
}

func TestKeysTypedAheadForThePromptDoNotAnswerADialog(t *testing.T) {
	d := openRecall(t, 80, 24, func(e *fakeEngine) {
		e.history.AddRun("go")
		e.sessions[0].runs = "vim"
	})
	d.waitText("1 command")
	d.pressAtOnce("enter", "' test", "enter")
	d.waitText("shell is running vim.")
	d.pressKeys("'n")
	d.waitStarted(2)
	d.waitTyped(d.nthSession(1), "go")
	if got := d.nthSession(0).typedText(); got != "" {
		t.Errorf("vim got %q", got)
	}
}

func TestInsertingSeveralLinesAsksIfProgramMayRunThem(t *testing.T) {
	const lines = "cat <<E\none\nE"
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.history.AddRun(lines + "\n") })
	d.waitChosen(lines + "\n")
	d.pressKeys("enter")
	d.waitTyped(d.nthSession(0), lines)

	d = onHistory(t, 80, 24, func(e *fakeEngine) {
		e.history.AddRun(lines)
		e.sessions[0].noPaste = true
	})
	d.waitChosen(lines)
	d.pressKeys("enter")
	d.waitText("Insert 3 lines at the prompt?")
	d.pressKeys("n")
	d.waitNoText("Insert 3 lines")
	if got := d.nthSession(0).typedText(); got != "" {
		t.Errorf("%q is typed without an answer", got)
	}
	d.pressKeys("alt+3", "enter")
	d.waitText("Insert 3 lines at the prompt?")
	d.pressKeys("y")
	d.waitTyped(d.nthSession(0), lines)
}

func TestEnterStartsSessionIfLastOneHasExited(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.history.AddRun("go test") })
	d.nthSession(0).exitWith(api.StateStopped, nil)
	d.waitUntil("the session is gone", func() bool { return d.m.sessions.Tabs.Current == nil })
	d.waitChosen("go test")
	d.pressKeys("enter")
	d.waitStarted(2)
	d.waitTyped(d.nthSession(1), "go test")
}

func TestHistoryReloadsAfterReconnect(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.history.AddRun("one") })
	d.mu.Lock()
	d.next = d.engine.killEngine()
	d.engine = d.next
	d.mu.Unlock()
	d.waitText("reconnected")
	d.pressKeys("/", "'one")
	d.waitText("1 found")
}

// openRecall opens the history over a terminal.
func openRecall(t *testing.T, w, h int, prepare func(*fakeEngine)) *driver {
	t.Helper()
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	prepare(e)
	d := drive(t, e, w, h)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", "r")
	return d
}

func TestRecallInsertsCommandAtPrompt(t *testing.T) {
	d := openRecall(t, 80, 24, func(e *fakeEngine) {
		e.history.AddRun("go vet")
		e.history.AddRun("go test")
		e.history.AddRun("make")
	})
	d.waitText("3 commands")
	d.pressKeys("'go", "ctrl+r", "up", "down")
	d.waitText("2 found")
	d.pressKeys("enter")
	d.waitUntil("it is on the prompt", func() bool { return d.nthSession(0).typedText() != "" })
	if got := d.nthSession(0).typedText(); got != "go test" && got != "go vet" {
		t.Errorf("the prompt has %q", got)
	}
	if d.m.dialog.open != nil {
		t.Error("the history is still open")
	}
}

func TestRecallHoldsEnterUntilAnswerAndPassesLaterKeysToShell(t *testing.T) {
	d := openRecall(t, 80, 24, func(e *fakeEngine) {
		e.history.AddRun("go test")
		e.history.AddRun("make")
	})
	d.pressKeys("'go", "enter", "' -v", "enter")
	d.waitTyped(d.nthSession(0), "go test -v\r")
}

func TestEscCancelsPendingRecall(t *testing.T) {
	d := openRecall(t, 80, 24, func(e *fakeEngine) { e.history.AddRun("make") })
	d.pressKeys("'x", "enter", "esc")
	d.waitUntil("the history is closed", func() bool { return d.m.dialog.open == nil })
	d.pressKeys("'ls")
	d.waitTyped(d.nthSession(0), "ls")
}

func TestHistoryFillsScreenAtEverySize(t *testing.T) {
	needs.FullRun(t)
	for _, size := range [][2]int{{60, 15}, {80, 24}, {100, 17}, {120, 36}, {149, 40}, {150, 40}, {200, 60}} {
		d := onHistory(t, size[0], size[1], func(e *fakeEngine) {
			for i := range 100 {
				e.history.AddRun(fmt.Sprint("command ", i, strings.Repeat(" and more", i)))
			}
		})
		d.waitText("command 99")
		for _, open := range []string{"", "ctrl+b"} {
			if open != "" {
				d.pressKeys(open, "r")
				d.waitText("insert at the prompt")
			}
			rows := strings.Split(d.screenText(), "\n")
			if len(rows) != size[1] {
				t.Errorf("%v: %d rows", size, len(rows))
			}
			for i, row := range rows {
				if got := len([]rune(row)); got != size[0] {
					t.Errorf("%v: row %d is %d wide: %q", size, i, got, row)
				}
			}
		}
	}
}
