package history

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/panestest"
)

// A view is a history on the screen.
type view struct {
	*panestest.Driver
	t      *testing.T
	env    *panestest.Env
	pane   *Pane
	engine *fakeEngine
}

// A fakeEngine has a history and can start processes. log is the log of its only session.
type fakeEngine struct {
	*panestest.Engine
	*panestest.History
	announce func(api.Event)
	log      string

	mu    sync.Mutex
	calls []string
}

func newFakeEngine() *fakeEngine {
	e := &fakeEngine{Engine: panestest.NewEngine(), History: &panestest.History{}, announce: func(api.Event) {}}
	e.Serve(e.Engine, func(ev api.Event) { e.announce(ev) }, e.recordCall)
	panestest.On(e.Engine, api.ProcessStart, e.startProcess)
	panestest.On(e.Engine, api.ProcessLog, func(_ context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		return panestest.LogOf(e.log, in), nil
	})
	return e
}

func (e *fakeEngine) recordCall(call string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, call)
}

// listCalls returns the requested changes.
func (e *fakeEngine) listCalls() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.calls, "; ")
}

func (e *fakeEngine) startProcess(_ context.Context, in api.ProcessStartInput) (api.Process, error) {
	e.recordCall(fmt.Sprintf("start %q in %s as %q keep %v env %v", in.Command, in.CWD, in.Name, in.KeepAlive, in.Env))
	p := api.Process{ID: in.Name, Kind: api.KindProcess, Name: in.Name, State: api.StateRunning}
	e.announce(api.Event{Type: api.EventProcess, Process: &p})
	return p, nil
}

// onHistory shows the history of a fake engine with one session. prepare may add to it first.
func onHistory(t *testing.T, w, h int, prepare func(*fakeEngine)) *view {
	t.Helper()
	e := newFakeEngine()
	prepare(e)
	env := newTestEnv()
	env.API = e.Engine
	env.Inks = *unicodeLook()
	env.Known.Processes = []api.Process{{ID: "000000000001", Kind: api.KindSession, Name: "shell", State: api.StateRunning, Terminal: &api.Terminal{}}}
	pane := New(env)
	d := &view{panestest.Drive(t, env, pane, w, h), t, env, pane, e}
	e.announce = d.Announce
	d.Wait("the history is shown", pane.IsSettled)
	return d
}

// openRecall opens the history over a terminal.
func openRecall(t *testing.T, w, h int, prepare func(*fakeEngine)) *view {
	t.Helper()
	d := onHistory(t, w, h, prepare)
	d.Run(d.pane.OpenRecall())
	return d
}

// typesQuery reports whether the query has the keyboard.
func (d *view) typesQuery() bool { return d.Scopes()[0] == keymap.ScopeRecall }

// waitChosen waits until the cursor is on a command.
func (d *view) waitChosen(command string) {
	d.t.Helper()
	d.Wait("the cursor is on "+command, func() bool {
		row, _ := d.pane.Selected()
		return row.Command.Command == command
	})
}

// waitInserted waits until text is inserted at the prompt.
func (d *view) waitInserted(text string) {
	d.t.Helper()
	d.Wait(text+" is inserted", func() bool { return d.env.Inserted == text })
}

// waitCalls waits until exactly the changes in want were requested.
func (d *view) waitCalls(want string) {
	d.t.Helper()
	d.Wait("the engine is asked for "+want+", not "+d.engine.listCalls(), func() bool { return d.engine.listCalls() == want })
}

func TestHistoryShowsNewestFirstWithOutput(t *testing.T) {
	d := onHistory(t, 120, 36, func(e *fakeEngine) {
		e.log = "$ make\r\nmaking\r\n$ false\r\n"
		e.AddRun("make", func(c *api.Command) { c.LogStart, c.LogEnd = 8, 16 })
		e.AddRun("false", panestest.WithExit(1), func(c *api.Command) { c.LogStart, c.LogEnd = 25, 25 })
	})
	d.waitChosen("false")
	d.WaitText("✗ exit 1")
	d.WaitText("no output")
	d.Press("j")
	d.waitChosen("make")
	d.WaitText("making")
	d.WaitNoText("no output")
}

func TestOutputSearchUpdatesWhileTyping(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 60}} {
		log := "Needle\r\n" + strings.Repeat("straw\r\n", 90) + "needle\r\n" + strings.Repeat("straw\r\n", 90) + "the end"
		d := onHistory(t, size[0], size[1], func(e *fakeEngine) {
			e.log = log
			e.AddRun("make", func(c *api.Command) { c.LogStart, c.LogEnd = 0, int64(len(log)) })
		})
		d.waitChosen("make")
		d.WaitText("the end")
		d.Press("tab", "/", "'need")
		d.WaitText("2/2 │") // the visible match nearest to the end
		d.WaitText("match 2 of 2")
		d.WaitText("needle")
		d.Press("'x")
		d.WaitText("no match")
		d.WaitText("the end")
		d.Press("backspace", "enter")
		d.WaitNoText("│ / need")
		d.Press("n")
		d.WaitText("match 1 of 2")
		d.WaitText("Needle")
		d.Press("N")
		d.WaitText("match 2 of 2")
		d.Press("/", "'Need")
		d.WaitText("1/1 │")
		d.WaitText("Needle")
		d.Press("esc")
		d.WaitText("match 2 of 2")
		d.Press("tab", "/")
		d.Wait("the commands are searched from the list", d.typesQuery)
	}
}

func TestOutputSearchWithoutOutputIsRefused(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.AddRun("true") })
	d.waitChosen("true")
	d.Press("tab", "/")
	d.WaitText("no output to search")
}

func TestEmptyHistoryExplainsHowItFills(t *testing.T) {
	d := onHistory(t, 80, 24, func(*fakeEngine) {})
	d.WaitText("No commands yet")
	d.WaitText("L load a history")
	d.engine.AddRun("make")
	d.waitChosen("make")
	d.WaitNoText("No commands yet")
}

func TestQueryUpdatesWhileTypingAndEscClearsIt(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.AddRun("go test")
		e.AddRun("make")
	})
	d.Press("/", "'go")
	d.waitChosen("go test")
	d.WaitText("1 found")
	d.Press("esc")
	d.WaitText("2 commands")
	if d.typesQuery() {
		t.Error("the query still has the keyboard")
	}
	d.Press("/", "'mak", "enter", "j", "k")
	d.waitChosen("make")
	d.Press("esc")
	d.WaitText("2 commands")
}

func TestFastTypingSearchesOnlyLastQuery(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		for i := range 300 {
			e.AddRun(fmt.Sprint("command ", i))
		}
	})
	before := len(d.engine.Searches())
	d.Press("/", "'command 299")
	d.WaitText("1 found")
	for _, in := range d.engine.Searches()[before:] {
		if in.Query != "command 299" {
			t.Errorf("%q was searched", in.Query)
		}
	}
}

func TestFiltersAreToggledByKeyAndMouse(t *testing.T) {
	d := onHistory(t, 120, 36, func(e *fakeEngine) {
		e.AddRun("old", func(c *api.Command) { c.StartedAt = time.Now().Add(-49 * time.Hour) })
		e.AddRun("elsewhere", func(c *api.Command) { c.CWD = "/" })
		e.AddRun("other session", func(c *api.Command) { c.Process = "00000000000f" })
		e.AddRun("agent's", func(c *api.Command) { c.Actor = "agent:codex/1" })
		e.AddRun("bad", panestest.WithExit(2), func(c *api.Command) { c.StartedAt = time.Now() })
		e.AddRun("bad", panestest.WithExit(2), func(c *api.Command) { c.StartedAt = time.Now() })
	})
	d.WaitText("5 commands")
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
		d.Press(test.key)
		d.WaitText(test.found)
		all := d.engine.Searches()
		if in := all[len(all)-1]; !test.check(in) {
			t.Errorf("%s: %+v", test.key, in)
		}
		if d.Press(test.off); test.key == "w" {
			d.WaitText("1 found")
			d.Press("w")
		}
		d.WaitText("5 commands")
	}
	d.Press("t")
	d.Wait("nothing old is shown", func() bool { return !strings.Contains(d.Screen(), " old ") })
	d.Press("esc")
	d.WaitText("5 commands")
	at := strings.Index(strings.Split(d.Screen(), "\n")[2], "failed")
	d.Click(at-3, 2)
	d.WaitText("1 found")
}

func TestRunAgainAsksForMissingSecret(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.AddRun("deploy --token ***") })
	d.waitChosen("deploy --token ***")
	d.Press("r")
	d.WaitText("It contained a secret")
	d.Press("n")
	d.WaitNoText("It contained a secret")
	if got := d.engine.listCalls(); got != "" {
		t.Errorf("the engine was asked for %s", got)
	}
}

func TestCommandIsCopiedWithoutItsLastNewline(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) { e.AddRun("go test\n") })
	d.waitChosen("go test\n")
	d.Press("y")
	if got := d.env.Copied; got != "go test" {
		t.Errorf("copied %q", got)
	}
}

func TestDeleteAsksAndRemovesAllRunsOrOne(t *testing.T) {
	d := onHistory(t, 80, 50, func(e *fakeEngine) {
		e.AddRun("secret")
		e.AddRun("make")
		e.AddRun("secret")
	})
	d.waitChosen("secret")
	d.WaitText("2 runs")
	d.Press("D")
	d.WaitText("Delete all 2 runs")
	d.Press("n", "u")
	d.WaitText("3 runs")
	d.Press("D")
	d.WaitText("Delete this run?")
	d.Press("y")
	d.waitCalls(`forget "" [3]`)
	d.WaitText("2 runs")
	d.Press("u")
	d.Wait("equal commands are one", func() bool { return strings.Contains(d.Screen(), "2 commands") && d.pane.IsSettled() })
	d.Press("j")
	d.waitChosen("secret")
	d.Press("D", "y")
	d.waitCalls(`forget "" [3]; forget "secret" []`)
	d.WaitText("1 command")
}

func TestHistoryIsSavedAndLoaded(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.AddRun("make")
		e.Files = map[string]bool{"/home/ann/commands.txt": true}
	})
	d.Press("S", "enter")
	d.WaitText("Replace ~/commands.txt?")
	d.Press("y")
	d.WaitText("saved 1 command to ~/commands.txt")
	d.Press("L", "ctrl+u", "'commands.txt", "enter")
	d.WaitText("added 1,200 commands from ~/commands.txt")
	d.Press("L", "ctrl+u", "'~/nowhere", "enter")
	d.WaitText("no such file")
	d.waitCalls("save /home/ann/commands.txt false; save /home/ann/commands.txt true; load /home/ann/commands.txt; load /home/ann/nowhere")
}

func TestNewCommandsAppearAndCursorStays(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.AddRun("one")
		e.AddRun("two")
	})
	d.waitChosen("two")
	d.Press("j")
	d.waitChosen("one")
	d.engine.AddRun("three")
	d.WaitText("3 commands")
	d.waitChosen("one")
	d.Press("alt+1", "alt+3")
	d.waitChosen("one")
	d.Press("g", "alt+1")
	d.engine.AddRun("four")
	d.Press("alt+3")
	d.WaitText("4 commands")
	d.waitChosen("three")
}

func TestMouseSelectsScrollsAndInsertsCommand(t *testing.T) {
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		for i := range 40 {
			e.AddRun(fmt.Sprintf("command %02d", i))
		}
	})
	d.waitChosen("command 39")
	d.Click(20, 6)
	d.waitChosen("command 37")
	d.Mouse(keys.Mouse{X: 20, Y: 8, Button: keys.WheelDown, Kind: keys.MouseDown})
	d.waitChosen("command 34")
	d.Click(5, 1)
	if !d.typesQuery() {
		t.Error("a click on the query does not give it the keyboard")
	}
	d.Click(20, 6)
	d.Click(20, 6)
	d.Wait("it is on the prompt", func() bool { return strings.HasPrefix(d.env.Inserted, "command ") })
}

func TestDetailsCanBeScrolled(t *testing.T) {
	var log strings.Builder
	for i := range 200 {
		fmt.Fprintf(&log, "line %d.\r\n", i)
	}
	d := onHistory(t, 80, 24, func(e *fakeEngine) {
		e.log = log.String()
		e.AddRun("seq 200", func(c *api.Command) { c.LogEnd = int64(log.Len()) })
	})
	d.WaitText("line 199.")
	d.Press("tab", "g")
	d.WaitText("line 0.")
	d.WaitNoText("line 199.")
	d.Press("G")
	d.WaitText("line 199.")
	d.Press("esc", "enter")
	d.waitInserted("seq 200")
}

func TestRecallAppliesFiltersAndPaste(t *testing.T) {
	d := openRecall(t, 120, 36, func(e *fakeEngine) {
		e.AddRun("go test", panestest.WithExit(1))
		e.AddRun("make")
	})
	d.WaitText("2 commands")
	d.Press("alt+e")
	d.WaitText("1 found")
	d.Press("alt+e")
	d.WaitText("2 commands")
	d.Paste("go")
	d.WaitText("1 found")
}

func TestRecallInsertsDoubleClickedCommand(t *testing.T) {
	d := openRecall(t, 120, 36, func(e *fakeEngine) { e.AddRun("go test"); e.AddRun("make") })
	d.WaitText("2 commands")
	d.Press("'go")
	d.WaitText("1 found")
	y := 0
	for i, row := range strings.Split(d.Screen(), "\n") {
		if strings.HasPrefix(row, "│ ▌") {
			y = i
		}
	}
	d.Wait("the search has ended", d.env.Shown.(*recall).finder.list.IsSettled)
	d.Click(60, y)
	d.Click(60, y)
	d.waitInserted("go test")
}

func TestEmptyResultOffersNoActions(t *testing.T) {
	d := openRecall(t, 80, 24, func(e *fakeEngine) { e.AddRun("make") })
	d.WaitText("insert at the prompt")
	d.Press("'zzz")
	d.WaitText("nothing found")
	d.WaitNoText("insert at the prompt")
	d.WaitText("esc close")
	d = onHistory(t, 80, 24, func(e *fakeEngine) { e.AddRun("make") })
	d.Press("'/zzz", "enter")
	d.WaitText("nothing found")
	d.WaitNoText("insert at the prompt")
	d.WaitText("esc clear")
}

func TestRunAgainStartsCommandInSameFolder(t *testing.T) {
	t.Setenv("SHELL", "/bin/bash")
	d := onHistory(t, 120, 24, func(e *fakeEngine) { e.AddRun("make -k all") })
	d.waitChosen("make -k all")
	d.Press("r")
	d.WaitText("started make in the background – alt+2 shows it")
	d.waitCalls(`start ["make" "-k" "all"] in /home/ann/src as "make" keep false env map[]`)
	d.engine.AddRun("A=1 make | tee log")
	d.WaitText("2 commands")
	d.Press("g")
	d.waitChosen("A=1 make | tee log")
	d.Press("r")
	d.Wait("it is started in a shell", func() bool {
		return strings.HasSuffix(d.engine.listCalls(), `start ["/bin/bash" "-c" "A=1 make | tee log"] in /home/ann/src as "make-2" keep false env map[]`)
	})
}

// The list has no one-shot command whose record was trimmed, so only its log tells about its streams.
func TestOutputOfAnUnlistedCommandHasBothStreams(t *testing.T) {
	e := newFakeEngine()
	panestest.On(e.Engine, api.ProcessLog, func(_ context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		return api.ProcessLogOutput{Data: map[string]string{"": "out\n", "stderr": "errors\n"}[in.Stream], State: api.StateExited,
			Process: &api.Process{State: api.StateExited, Supervision: &api.Supervision{SplitLog: true}}}, nil
	})
	if out := fetchOutput(t.Context(), e.Engine, api.Command{Kind: "exec", Process: "p"}, false); out.Text != "out\nerrors\n" {
		t.Errorf("output %+v", out)
	}
}
