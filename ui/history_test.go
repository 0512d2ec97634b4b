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
	e.add("shell", "$ ")
	prepare(e)
	d := drive(t, e, w, h)
	d.shows("$ ")
	d.press("alt+3")
	d.until("the history is shown", func() bool { return d.m.history.Settled() })
	return d
}

// typesQuery reports whether the query has the keyboard.
func (d *driver) typesQuery() bool { return d.m.input.scopes()[0] == keymap.ScopeRecall }

func (d *driver) chosen() string {
	row, _ := d.m.history.Selected()
	return row.Command.Command
}

// chooses waits until the cursor is on a command.
func (d *driver) chooses(command string) {
	d.t.Helper()
	d.until("the cursor is on "+command, func() bool { return d.chosen() == command })
}

func TestHistoryShowsTheNewestFirstWithItsOutput(t *testing.T) {
	d := onHistory(t, 120, 36, func(e *fakeEngine) {
		e.nthLog(0, "$ make\r\nmaking\r\n$ false\r\n")
		e.ran("make", func(c *api.Command) { c.LogStart, c.LogEnd = 8, 16 })
		e.ran("false", failed(1), func(c *api.Command) { c.LogStart, c.LogEnd = 25, 25 })
	})
	d.chooses("false")
	d.shows("✗ exit 1")
	d.shows("no output")
	d.press("j")
	d.chooses("make")
	d.shows("making")
	d.lacks("no output")
}

func TestTheOutputOfACommandIsSearchedWhileItIsTyped(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 60}} {
		log := "Needle\r\n" + strings.Repeat("straw\r\n", 90) + "needle\r\n" + strings.Repeat("straw\r\n", 90) + "the end"
		d := onHistory(t, size[0], size[1], func(e *fakeEngine) {
			e.nthLog(0, log)
			e.ran("make", func(c *api.Command) { c.LogStart, c.LogEnd = 0, int64(len(log)) })
		})
		d.chooses("make")
		d.shows("the end")
		d.press("tab", "/", "'need")
		d.shows("2/2 │") // the one nearest to the end, which was in sight
		d.shows("match 2 of 2")
		d.shows("needle")
		d.press("'x")
		d.shows("no match")
		d.shows("the end")
		d.press("backspace", "enter")
		d.lacks("│ / need")
		d.press("n")
		d.shows("match 1 of 2")
		d.shows("Needle")
		d.press("N")
		d.shows("match 2 of 2")
		d.press("/", "'Need")
		d.shows("1/1 │")
		d.shows("Needle")
		d.press("esc")
		d.shows("match 2 of 2")
		d.press("tab", "/")
		d.until("the commands are searched from the list", d.typesQuery)
	}
}

func TestWithoutOutputThereIsNothingToSearchIn(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.ran("true") })
	d.chooses("true")
	d.press("tab", "/")
	d.shows("no output to search")
}

// nthLog is the log of a session.
func (e *fakeEngine) nthLog(i int, log string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions[i].log = log
}

func TestEmptyHistorySaysWhatFillsIt(t *testing.T) {
	d := onHistory(t, 80, 24, func(*fakeEngine) {})
	d.shows("No commands yet")
	d.shows("L load a history")
	d.engine.ran("make")
	d.chooses("make")
	d.lacks("No commands yet")
}

func TestQueryFindsAsItIsTypedAndEscClearsIt(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.ran("go test")
		e.ran("make")
	})
	d.press("/", "'go")
	d.chooses("go test")
	d.shows("1 found")
	d.press("esc")
	d.shows("2 commands")
	if d.typesQuery() {
		t.Error("the query still has the keyboard")
	}
	d.press("/", "'mak", "enter", "j", "k")
	d.chooses("make")
	d.press("esc")
	d.shows("2 commands")
}

func TestTypingAsksForTheLastQueryAlone(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		for i := range 300 {
			e.ran(fmt.Sprint("command ", i))
		}
	})
	before := len(d.engine.searched())
	d.press("/", "'command 299")
	d.shows("1 found")
	for _, in := range d.engine.searched()[before:] {
		if in.Query != "command 299" {
			t.Errorf("%q was searched", in.Query)
		}
	}
}

func TestFiltersAreSwitchedByKeysAndByMouse(t *testing.T) {
	d := onHistory(t, 120, 36, func(e *fakeEngine) {
		e.ran("old", func(c *api.Command) { c.StartedAt = time.Now().Add(-49 * time.Hour) })
		e.ran("elsewhere", func(c *api.Command) { c.CWD = "/" })
		e.ran("other session", func(c *api.Command) { c.Process = "00000000000f" })
		e.ran("agent's", func(c *api.Command) { c.Actor = "agent:codex/1" })
		e.ran("bad", failed(2), func(c *api.Command) { c.StartedAt = time.Now() })
		e.ran("bad", failed(2), func(c *api.Command) { c.StartedAt = time.Now() })
	})
	d.shows("5 commands")
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
		d.press(test.key)
		d.shows(test.found)
		all := d.engine.searched()
		if in := all[len(all)-1]; !test.check(in) {
			t.Errorf("%s: %+v", test.key, in)
		}
		if d.press(test.off); test.key == "w" {
			d.shows("1 found")
			d.press("w")
		}
		d.shows("5 commands")
	}
	d.press("t")
	d.until("nothing old is shown", func() bool { return !strings.Contains(d.screen(), " old ") })
	d.press("esc")
	d.shows("5 commands")
	at := strings.Index(strings.Split(d.screen(), "\n")[2], "failed")
	d.click(at-3, 2)
	d.shows("1 found")
}

func TestEnterPutsTheCommandOnThePromptOfTheLastSession(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.ran("go test") })
	d.chooses("go test")
	d.press("enter")
	d.typedInto(d.nth(0), "go test")
	if d.m.view != viewSessions || d.m.sessions.focused() == nil {
		t.Error("the session is not shown with the keyboard")
	}
}

func TestInsertingAsksWhereNoPromptWaits(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.ran("go test")
		e.sessions[0].runs = "vim"
	})
	d.chooses("go test")
	d.press("enter")
	d.shows("shell is running vim.")
	d.shows("Type it there anyway, or open a new session?")
	d.press("esc")
	d.lacks("is running vim")
	if got := d.nth(0).input(); got != "" {
		t.Fatalf("vim got %q", got)
	}

	d.press("alt+3", "enter")
	d.shows("is running vim")
	d.press("'t", "' -v")
	d.typedInto(d.nth(0), "go test -v")

	d.press("alt+3", "enter")
	d.shows("is running vim")
	d.press("'n")
	d.hasStarted(2)
	d.typedInto(d.nth(1), "go test")
	if got := d.nth(0).input(); got != "go test -v" {
		t.Errorf("vim got %q as well", got)
	}
}

func TestWhatIsTypedAheadForAPromptAnswersNoQuestion(t *testing.T) {
	d := recalls(t, 80, 24, func(e *fakeEngine) {
		e.ran("go")
		e.sessions[0].runs = "vim"
	})
	d.shows("1 command")
	d.pressAtOnce("enter", "' test", "enter")
	d.shows("shell is running vim.")
	d.press("'n")
	d.hasStarted(2)
	d.typedInto(d.nth(1), "go")
	if got := d.nth(0).input(); got != "" {
		t.Errorf("vim got %q", got)
	}
}

func TestCommandsOfSeveralLinesAreNotRunByBeingPasted(t *testing.T) {
	const lines = "cat <<E\none\nE"
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.ran(lines + "\n") })
	d.chooses(lines + "\n")
	d.press("enter")
	d.typedInto(d.nth(0), lines)

	d = onHistory(t, 80, 24, func(e *fakeEngine) {
		e.ran(lines)
		e.sessions[0].process.Argv = []string{"python3"}
	})
	d.chooses(lines)
	d.press("enter")
	d.shows("Insert 3 lines at the prompt?")
	d.press("n")
	d.lacks("Put 3 lines")
	d.press("enter", "y")
	d.typedInto(d.nth(0), lines)
}

func TestEnterStartsASessionWhenTheLastHasEnded(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.ran("go test") })
	d.nth(0).end(api.StateStopped, nil)
	d.until("the session is gone", func() bool { return d.m.sessions.tabs.Current == nil })
	d.chooses("go test")
	d.press("enter")
	d.hasStarted(2)
	d.typedInto(d.nth(1), "go test")
}

func TestRunAgainStartsTheCommandWhereItRan(t *testing.T) {
	t.Setenv("SHELL", "/bin/bash")
	d := onHistory(t, 120, 24, func(e *fakeEngine) { e.ran("make -k all") })
	d.chooses("make -k all")
	d.press("r")
	d.shows("started make in the background – alt+2 shows it")
	d.calls(`start ["make" "-k" "all"] in /home/ann/src as "make" keep false env map[]`)
	d.engine.ran("A=1 make | tee log")
	d.shows("2 commands")
	d.press("g")
	d.chooses("A=1 make | tee log")
	d.press("r")
	d.until("it is started in a shell", func() bool {
		return strings.HasSuffix(d.engine.called(), `start ["/bin/bash" "-c" "A=1 make | tee log"] in /home/ann/src as "make-2" keep false env map[]`)
	})
}

func TestRunAgainAsksWhenASecretIsMissing(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.ran("deploy --token ***") })
	d.chooses("deploy --token ***")
	d.press("r")
	d.shows("It contained a secret")
	d.press("n")
	d.lacks("It contained a secret")
	if got := d.engine.called(); got != "" {
		t.Errorf("the engine was asked for %s", got)
	}
}

func TestCopyKeepsTheCommandForPasting(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.ran("go test\n") })
	d.chooses("go test\n")
	d.press("y")
	d.shows("copied 7 characters")
	if got := d.m.clip.text; got != "go test" {
		t.Errorf("the buffer has %q", got)
	}
}

func TestForgetAsksAndTakesAllRunsOrOne(t *testing.T) {
	d := onHistory(t, 80, 50, func(e *fakeEngine) {
		e.ran("secret")
		e.ran("make")
		e.ran("secret")
	})
	d.chooses("secret")
	d.shows("2 runs")
	d.press("D")
	d.shows("Delete all 2 runs")
	d.press("n", "u")
	d.shows("3 runs")
	d.press("D")
	d.shows("Delete this run?")
	d.press("y")
	d.calls(`forget "" [3]`)
	d.shows("2 runs")
	d.press("u")
	d.until("equal commands are one", func() bool { return strings.Contains(d.screen(), "2 commands") && d.m.history.Settled() })
	d.press("j")
	d.chooses("secret")
	d.press("D", "y")
	d.calls(`forget "" [3]; forget "secret" []`)
	d.shows("1 command")
}

func TestHistoryIsSavedAndLoaded(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.ran("make")
		e.history.files = map[string]bool{"/home/ann/commands.txt": true}
	})
	d.press("S", "enter")
	d.shows("Replace ~/commands.txt?")
	d.press("y")
	d.shows("saved 1 command to ~/commands.txt")
	d.press("L", "ctrl+u", "'commands.txt", "enter")
	d.shows("added 1,200 commands from ~/commands.txt")
	d.press("L", "ctrl+u", "'~/nowhere", "enter")
	d.shows("no such file")
	d.calls("save /home/ann/commands.txt false; save /home/ann/commands.txt true; load /home/ann/commands.txt; load /home/ann/nowhere")
}

func TestNewCommandsShowUpAndTheCursorStaysWhereItIs(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.ran("one")
		e.ran("two")
	})
	d.chooses("two")
	d.press("j")
	d.chooses("one")
	d.engine.ran("three")
	d.shows("3 commands")
	d.chooses("one")
	d.press("alt+1", "alt+3")
	d.chooses("one")
	d.press("g", "alt+1")
	d.engine.ran("four")
	d.press("alt+3")
	d.shows("4 commands")
	d.chooses("three")
}

func TestHistoryComesBackWithTheEngine(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.ran("one") })
	d.mu.Lock()
	d.next = d.engine.die()
	d.engine = d.next
	d.mu.Unlock()
	d.shows("reconnected")
	d.press("/", "'one")
	d.shows("1 found")
}

func TestMouseChoosesScrollsAndPutsOnThePrompt(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		for i := range 40 {
			e.ran(fmt.Sprintf("command %02d", i))
		}
	})
	d.chooses("command 39")
	d.click(20, 6)
	d.chooses("command 37")
	d.mouse(keys.Mouse{X: 20, Y: 8, Button: keys.WheelDown, Kind: keys.MouseDown})
	d.chooses("command 34")
	d.click(5, 1)
	if !d.typesQuery() {
		t.Error("a click on the query does not give it the keyboard")
	}
	d.click(20, 6)
	d.click(20, 6)
	d.until("it is on the prompt", func() bool { return strings.HasPrefix(d.nth(0).input(), "command ") })
}

func TestDetailsCanBeScrolled(t *testing.T) {
	var log strings.Builder
	for i := range 200 {
		fmt.Fprintf(&log, "line %d.\r\n", i)
	}
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.nthLog(0, log.String())
		e.ran("seq 200", func(c *api.Command) { c.LogEnd = int64(log.Len()) })
	})
	d.shows("line 199.")
	d.press("tab", "g")
	d.shows("line 0.")
	d.lacks("line 199.")
	d.press("G")
	d.shows("line 199.")
	d.press("esc", "enter")
	d.typedInto(d.nth(0), "seq 200")
}

// recalls opens the history over a terminal.
func recalls(t *testing.T, w, h int, prepare func(*fakeEngine)) *driver {
	t.Helper()
	e := newFakeEngine()
	e.add("shell", "$ ")
	prepare(e)
	d := drive(t, e, w, h)
	d.shows("$ ")
	d.press("ctrl+b", "r")
	return d
}

func TestHistoryOverATerminalPutsTheChosenCommandOnItsPrompt(t *testing.T) {
	d := recalls(t, 80, 24, func(e *fakeEngine) {
		e.ran("go vet")
		e.ran("go test")
		e.ran("make")
	})
	d.shows("3 commands")
	d.press("'go", "ctrl+r", "up", "down")
	d.shows("2 found")
	d.press("enter")
	d.until("it is on the prompt", func() bool { return d.nth(0).input() != "" })
	if got := d.nth(0).input(); got != "go test" && got != "go vet" {
		t.Errorf("the prompt has %q", got)
	}
	if d.m.dialog.open != nil {
		t.Error("the history is still open")
	}
}

func TestEnterTypedAheadWaitsForTheAnswerAndWhatFollowsGoesToTheShell(t *testing.T) {
	d := recalls(t, 80, 24, func(e *fakeEngine) {
		e.ran("go test")
		e.ran("make")
	})
	d.press("'go", "enter", "' -v", "enter")
	d.typedInto(d.nth(0), "go test -v\r")
}

func TestEscTakesAChoiceBackThatWaits(t *testing.T) {
	d := recalls(t, 80, 24, func(e *fakeEngine) { e.ran("make") })
	d.press("'x", "enter", "esc")
	d.until("the history is closed", func() bool { return d.m.dialog.open == nil })
	d.press("'ls")
	d.typedInto(d.nth(0), "ls")
}

func TestHistoryOverATerminalTakesMouseFiltersAndPaste(t *testing.T) {
	d := recalls(t, 120, 36, func(e *fakeEngine) {
		e.ran("go test", failed(1))
		e.ran("make")
	})
	d.shows("2 commands")
	d.press("alt+e")
	d.shows("1 found")
	d.press("alt+e")
	d.shows("2 commands")
	d.typed(screen.Event{Kind: keys.EventPaste, Paste: "go"})
	d.shows("1 found")
	y := 0
	for i, row := range strings.Split(d.screen(), "\n") {
		if strings.Contains(row, "go test") {
			y = i
		}
	}
	d.click(60, y)
	d.click(60, y)
	d.typedInto(d.nth(0), "go test")
}

func TestHistoryFillsTheScreenAtEverySize(t *testing.T) {
	needs.FullRun(t)
	for _, size := range [][2]int{{60, 15}, {80, 24}, {100, 17}, {120, 36}, {149, 40}, {150, 40}, {200, 60}} {
		d := onHistory(t, size[0], size[1], func(e *fakeEngine) {
			for i := range 100 {
				e.ran(fmt.Sprint("command ", i, strings.Repeat(" and more", i)))
			}
		})
		d.shows("command 99")
		for _, open := range []string{"", "ctrl+b"} {
			if open != "" {
				d.press(open, "r")
				d.shows("insert at the prompt")
			}
			rows := strings.Split(d.screen(), "\n")
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

func TestNothingIsOfferedToBeDoneWithWhatWasNotFound(t *testing.T) {
	d := recalls(t, 80, 24, func(e *fakeEngine) { e.ran("make") })
	d.shows("insert at the prompt")
	d.press("'zzz")
	d.shows("nothing found")
	d.lacks("insert at the prompt")
	d.shows("esc close")
	d = onHistory(t, 80, 24, func(e *fakeEngine) { e.ran("make") })
	d.press("'/zzz", "enter")
	d.shows("nothing found")
	d.lacks("insert at the prompt")
	d.shows("esc clear")
}
