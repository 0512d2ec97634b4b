package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/tests/needs"
	"tandem/ui/screen"
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

// typesQuery reports whether the query has the keyboard.
func (d *driver) typesQuery() bool { return d.m.input.activeScopes()[0] == keymap.ScopeRecall }

func (d *driver) chosenCommand() string {
	row, _ := d.m.history.Selected()
	return row.Command.Command
}

// waitChosen waits until the cursor is on a command.
func (d *driver) waitChosen(command string) {
	d.t.Helper()
	d.waitUntil("the cursor is on "+command, func() bool { return d.chosenCommand() == command })
}

func TestHistoryShowsNewestFirstWithOutput(t *testing.T) {
	d := onHistory(t, 120, 36, func(e *fakeEngine) {
		e.setLog(0, "$ make\r\nmaking\r\n$ false\r\n")
		e.addRun("make", func(c *api.Command) { c.LogStart, c.LogEnd = 8, 16 })
		e.addRun("false", withExit(1), func(c *api.Command) { c.LogStart, c.LogEnd = 25, 25 })
	})
	d.waitChosen("false")
	d.waitText("✗ exit 1")
	d.waitText("no output")
	d.pressKeys("j")
	d.waitChosen("make")
	d.waitText("making")
	d.waitNoText("no output")
}

func TestOutputSearchUpdatesWhileTyping(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 60}} {
		log := "Needle\r\n" + strings.Repeat("straw\r\n", 90) + "needle\r\n" + strings.Repeat("straw\r\n", 90) + "the end"
		d := onHistory(t, size[0], size[1], func(e *fakeEngine) {
			e.setLog(0, log)
			e.addRun("make", func(c *api.Command) { c.LogStart, c.LogEnd = 0, int64(len(log)) })
		})
		d.waitChosen("make")
		d.waitText("the end")
		d.pressKeys("tab", "/", "'need")
		d.waitText("2/2 │") // the visible match nearest to the end
		d.waitText("match 2 of 2")
		d.waitText("needle")
		d.pressKeys("'x")
		d.waitText("no match")
		d.waitText("the end")
		d.pressKeys("backspace", "enter")
		d.waitNoText("│ / need")
		d.pressKeys("n")
		d.waitText("match 1 of 2")
		d.waitText("Needle")
		d.pressKeys("N")
		d.waitText("match 2 of 2")
		d.pressKeys("/", "'Need")
		d.waitText("1/1 │")
		d.waitText("Needle")
		d.pressKeys("esc")
		d.waitText("match 2 of 2")
		d.pressKeys("tab", "/")
		d.waitUntil("the commands are searched from the list", d.typesQuery)
	}
}

func TestOutputSearchNeedsOutput(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.addRun("true") })
	d.waitChosen("true")
	d.pressKeys("tab", "/")
	d.waitText("no output to search")
}

// setLog sets the log of session number i.
func (e *fakeEngine) setLog(i int, log string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions[i].log = log
}

func TestEmptyHistoryExplainsHowItFills(t *testing.T) {
	d := onHistory(t, 80, 24, func(*fakeEngine) {})
	d.waitText("No commands yet")
	d.waitText("L load a history")
	d.engine.addRun("make")
	d.waitChosen("make")
	d.waitNoText("No commands yet")
}

func TestQueryUpdatesWhileTypingAndEscClearsIt(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.addRun("go test")
		e.addRun("make")
	})
	d.pressKeys("/", "'go")
	d.waitChosen("go test")
	d.waitText("1 found")
	d.pressKeys("esc")
	d.waitText("2 commands")
	if d.typesQuery() {
		t.Error("the query still has the keyboard")
	}
	d.pressKeys("/", "'mak", "enter", "j", "k")
	d.waitChosen("make")
	d.pressKeys("esc")
	d.waitText("2 commands")
}

func TestFastTypingSearchesOnlyLastQuery(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		for i := range 300 {
			e.addRun(fmt.Sprint("command ", i))
		}
	})
	before := len(d.engine.listSearches())
	d.pressKeys("/", "'command 299")
	d.waitText("1 found")
	for _, in := range d.engine.listSearches()[before:] {
		if in.Query != "command 299" {
			t.Errorf("%q was searched", in.Query)
		}
	}
}

func TestFiltersAreToggledByKeyAndMouse(t *testing.T) {
	d := onHistory(t, 120, 36, func(e *fakeEngine) {
		e.addRun("old", func(c *api.Command) { c.StartedAt = time.Now().Add(-49 * time.Hour) })
		e.addRun("elsewhere", func(c *api.Command) { c.CWD = "/" })
		e.addRun("other session", func(c *api.Command) { c.Process = "00000000000f" })
		e.addRun("agent's", func(c *api.Command) { c.Actor = "agent:codex/1" })
		e.addRun("bad", withExit(2), func(c *api.Command) { c.StartedAt = time.Now() })
		e.addRun("bad", withExit(2), func(c *api.Command) { c.StartedAt = time.Now() })
	})
	d.waitText("5 commands")
	for _, test := range []struct {
		key, off, found string
		check           func(api.HistorySearchInput) bool
	}{
		{"d", "d", "4 found in ~/src", func(in api.HistorySearchInput) bool { return in.CWD == "/home/ann/src" }},
		{"s", "s", "4 found", func(in api.HistorySearchInput) bool { return in.Process == "000000000001" }},
		{"f", "esc", "1 found", func(in api.HistorySearchInput) bool { return in.Failed }},
		{"w", "w", "4 found", func(in api.HistorySearchInput) bool { return in.Actor == "person" }},
		{"u", "u", "6 runs", func(in api.HistorySearchInput) bool { return !in.Unique }},
	} {
		d.pressKeys(test.key)
		d.waitText(test.found)
		all := d.engine.listSearches()
		if in := all[len(all)-1]; !test.check(in) {
			t.Errorf("%s: %+v", test.key, in)
		}
		if d.pressKeys(test.off); test.key == "w" {
			d.waitText("1 found")
			d.pressKeys("w")
		}
		d.waitText("5 commands")
	}
	d.pressKeys("t")
	d.waitUntil("nothing old is shown", func() bool { return !strings.Contains(d.screenText(), " old ") })
	d.pressKeys("esc")
	d.waitText("5 commands")
	at := strings.Index(strings.Split(d.screenText(), "\n")[2], "failed")
	d.click(at-3, 2)
	d.waitText("1 found")
}

func TestEnterInsertsCommandAtPromptOfLastSession(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.addRun("go test") })
	d.waitChosen("go test")
	d.pressKeys("enter")
	d.waitTyped(d.nthSession(0), "go test")
	if d.m.view != viewSessions || d.m.sessions.focusedPane() == nil {
		t.Error("the session is not shown with the keyboard")
	}
}

func TestInsertAsksIfSessionIsNotAtPrompt(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.addRun("go test")
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

func TestKeysTypedAheadForPromptAnswerNoQuestion(t *testing.T) {
	d := openRecall(t, 80, 24, func(e *fakeEngine) {
		e.addRun("go")
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

func TestPastedMultilineCommandIsNotRun(t *testing.T) {
	const lines = "cat <<E\none\nE"
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.addRun(lines + "\n") })
	d.waitChosen(lines + "\n")
	d.pressKeys("enter")
	d.waitTyped(d.nthSession(0), lines)

	d = onHistory(t, 80, 24, func(e *fakeEngine) {
		e.addRun(lines)
		e.sessions[0].process.Argv = []string{"python3"}
	})
	d.waitChosen(lines)
	d.pressKeys("enter")
	d.waitText("Insert 3 lines at the prompt?")
	d.pressKeys("n")
	d.waitNoText("Put 3 lines")
	d.pressKeys("enter", "y")
	d.waitTyped(d.nthSession(0), lines)
}

func TestEnterStartsSessionIfLastOneHasExited(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.addRun("go test") })
	d.nthSession(0).exitWith(api.StateStopped, nil)
	d.waitUntil("the session is gone", func() bool { return d.m.sessions.tabs.Current == nil })
	d.waitChosen("go test")
	d.pressKeys("enter")
	d.waitStarted(2)
	d.waitTyped(d.nthSession(1), "go test")
}

func TestRunAgainStartsCommandInSameFolder(t *testing.T) {
	t.Setenv("SHELL", "/bin/bash")
	d := onHistory(t, 120, 24, func(e *fakeEngine) { e.addRun("make -k all") })
	d.waitChosen("make -k all")
	d.pressKeys("r")
	d.waitText("started make in the background – alt+2 shows it")
	d.waitCalls(`start ["make" "-k" "all"] in /home/ann/src as "make" keep false env map[]`)
	d.engine.addRun("A=1 make | tee log")
	d.waitText("2 commands")
	d.pressKeys("g")
	d.waitChosen("A=1 make | tee log")
	d.pressKeys("r")
	d.waitUntil("it is started in a shell", func() bool {
		return strings.HasSuffix(d.engine.listCalls(), `start ["/bin/bash" "-c" "A=1 make | tee log"] in /home/ann/src as "make-2" keep false env map[]`)
	})
}

func TestRunAgainAsksForMissingSecret(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.addRun("deploy --token ***") })
	d.waitChosen("deploy --token ***")
	d.pressKeys("r")
	d.waitText("It contained a secret")
	d.pressKeys("n")
	d.waitNoText("It contained a secret")
	if got := d.engine.listCalls(); got != "" {
		t.Errorf("the engine was asked for %s", got)
	}
}

func TestCopiedCommandCanBePasted(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.addRun("go test\n") })
	d.waitChosen("go test\n")
	d.pressKeys("y")
	d.waitText("copied 7 characters")
	if got := d.m.clip.text; got != "go test" {
		t.Errorf("the buffer has %q", got)
	}
}

func TestDeleteAsksAndRemovesAllRunsOrOne(t *testing.T) {
	d := onHistory(t, 80, 50, func(e *fakeEngine) {
		e.addRun("secret")
		e.addRun("make")
		e.addRun("secret")
	})
	d.waitChosen("secret")
	d.waitText("2 runs")
	d.pressKeys("D")
	d.waitText("Delete all 2 runs")
	d.pressKeys("n", "u")
	d.waitText("3 runs")
	d.pressKeys("D")
	d.waitText("Delete this run?")
	d.pressKeys("y")
	d.waitCalls(`forget "" [3]`)
	d.waitText("2 runs")
	d.pressKeys("u")
	d.waitUntil("equal commands are one", func() bool { return strings.Contains(d.screenText(), "2 commands") && d.m.history.IsSettled() })
	d.pressKeys("j")
	d.waitChosen("secret")
	d.pressKeys("D", "y")
	d.waitCalls(`forget "" [3]; forget "secret" []`)
	d.waitText("1 command")
}

func TestHistoryIsSavedAndLoaded(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.addRun("make")
		e.history.files = map[string]bool{"/home/ann/commands.txt": true}
	})
	d.pressKeys("S", "enter")
	d.waitText("Replace ~/commands.txt?")
	d.pressKeys("y")
	d.waitText("saved 1 command to ~/commands.txt")
	d.pressKeys("L", "ctrl+u", "'commands.txt", "enter")
	d.waitText("added 1,200 commands from ~/commands.txt")
	d.pressKeys("L", "ctrl+u", "'~/nowhere", "enter")
	d.waitText("no such file")
	d.waitCalls("save /home/ann/commands.txt false; save /home/ann/commands.txt true; load /home/ann/commands.txt; load /home/ann/nowhere")
}

func TestNewCommandsAppearAndCursorStays(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.addRun("one")
		e.addRun("two")
	})
	d.waitChosen("two")
	d.pressKeys("j")
	d.waitChosen("one")
	d.engine.addRun("three")
	d.waitText("3 commands")
	d.waitChosen("one")
	d.pressKeys("alt+1", "alt+3")
	d.waitChosen("one")
	d.pressKeys("g", "alt+1")
	d.engine.addRun("four")
	d.pressKeys("alt+3")
	d.waitText("4 commands")
	d.waitChosen("three")
}

func TestHistoryReloadsAfterReconnect(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.addRun("one") })
	d.mu.Lock()
	d.next = d.engine.killEngine()
	d.engine = d.next
	d.mu.Unlock()
	d.waitText("reconnected")
	d.pressKeys("/", "'one")
	d.waitText("1 found")
}

func TestMouseSelectsScrollsAndInsertsCommand(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		for i := range 40 {
			e.addRun(fmt.Sprintf("command %02d", i))
		}
	})
	d.waitChosen("command 39")
	d.click(20, 6)
	d.waitChosen("command 37")
	d.sendMouse(keys.Mouse{X: 20, Y: 8, Button: keys.WheelDown, Kind: keys.MouseDown})
	d.waitChosen("command 34")
	d.click(5, 1)
	if !d.typesQuery() {
		t.Error("a click on the query does not give it the keyboard")
	}
	d.click(20, 6)
	d.click(20, 6)
	d.waitUntil("it is on the prompt", func() bool { return strings.HasPrefix(d.nthSession(0).typedText(), "command ") })
}

func TestDetailsCanBeScrolled(t *testing.T) {
	var log strings.Builder
	for i := range 200 {
		fmt.Fprintf(&log, "line %d.\r\n", i)
	}
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.setLog(0, log.String())
		e.addRun("seq 200", func(c *api.Command) { c.LogEnd = int64(log.Len()) })
	})
	d.waitText("line 199.")
	d.pressKeys("tab", "g")
	d.waitText("line 0.")
	d.waitNoText("line 199.")
	d.pressKeys("G")
	d.waitText("line 199.")
	d.pressKeys("esc", "enter")
	d.waitTyped(d.nthSession(0), "seq 200")
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
		e.addRun("go vet")
		e.addRun("go test")
		e.addRun("make")
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
		e.addRun("go test")
		e.addRun("make")
	})
	d.pressKeys("'go", "enter", "' -v", "enter")
	d.waitTyped(d.nthSession(0), "go test -v\r")
}

func TestEscCancelsPendingRecall(t *testing.T) {
	d := openRecall(t, 80, 24, func(e *fakeEngine) { e.addRun("make") })
	d.pressKeys("'x", "enter", "esc")
	d.waitUntil("the history is closed", func() bool { return d.m.dialog.open == nil })
	d.pressKeys("'ls")
	d.waitTyped(d.nthSession(0), "ls")
}

func TestRecallAcceptsMouseFiltersAndPaste(t *testing.T) {
	d := openRecall(t, 120, 36, func(e *fakeEngine) {
		e.addRun("go test", withExit(1))
		e.addRun("make")
	})
	d.waitText("2 commands")
	d.pressKeys("alt+e")
	d.waitText("1 found")
	d.pressKeys("alt+e")
	d.waitText("2 commands")
	d.sendEvent(screen.Event{Kind: keys.EventPaste, Paste: "go"})
	d.waitText("1 found")
	y := 0
	for i, row := range strings.Split(d.screenText(), "\n") {
		if strings.Contains(row, "go test") {
			y = i
		}
	}
	d.click(60, y)
	d.click(60, y)
	d.waitTyped(d.nthSession(0), "go test")
}

func TestHistoryFillsScreenAtEverySize(t *testing.T) {
	needs.FullRun(t)
	for _, size := range [][2]int{{60, 15}, {80, 24}, {100, 17}, {120, 36}, {149, 40}, {150, 40}, {200, 60}} {
		d := onHistory(t, size[0], size[1], func(e *fakeEngine) {
			for i := range 100 {
				e.addRun(fmt.Sprint("command ", i, strings.Repeat(" and more", i)))
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

func TestEmptyResultOffersNoActions(t *testing.T) {
	d := openRecall(t, 80, 24, func(e *fakeEngine) { e.addRun("make") })
	d.waitText("insert at the prompt")
	d.pressKeys("'zzz")
	d.waitText("nothing found")
	d.waitNoText("insert at the prompt")
	d.waitText("esc close")
	d = onHistory(t, 80, 24, func(e *fakeEngine) { e.addRun("make") })
	d.pressKeys("'/zzz", "enter")
	d.waitText("nothing found")
	d.waitNoText("insert at the prompt")
	d.waitText("esc clear")
}
