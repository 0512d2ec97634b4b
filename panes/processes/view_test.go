package processes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/panestest"
	"tandem/themes"
)

// A view is a table of processes on the screen.
type view struct {
	*panestest.Driver
	t      *testing.T
	env    *panestest.Env
	pane   *Pane
	engine *fakeEngine
}

// A fakeEngine keeps processes in memory.
type fakeEngine struct {
	*panestest.Engine
	announce func(api.Event)

	mu    sync.Mutex
	all   []*fakeProcess
	calls []string
}

// A fakeProcess is a process with its log.
type fakeProcess struct {
	engine  *fakeEngine
	process api.Process
	log     string
	printed chan struct{} // closed when the log grows
}

func newFakeEngine() *fakeEngine {
	e := &fakeEngine{Engine: panestest.NewEngine(), announce: func(api.Event) {}}
	panestest.On(e.Engine, api.ProcessList, e.listProcesses)
	panestest.On(e.Engine, api.ProcessLog, e.readLog)
	panestest.On(e.Engine, api.ProcessStop, func(_ context.Context, in api.ProcessStopInput) (api.Process, error) {
		return e.change(in.ID, "stop "+in.ID[10:]+" "+in.Signal, func(p *api.Process) { p.State, p.PID = api.StateStopped, 0 })
	})
	panestest.On(e.Engine, api.ProcessRestart, func(_ context.Context, in api.ProcessRestartInput) (api.Process, error) {
		return e.change(in.ID, "restart "+in.ID[10:], func(p *api.Process) { p.State, p.PID = api.StateRunning, 1000 })
	})
	panestest.On(e.Engine, api.ProcessUpdate, func(_ context.Context, in api.ProcessUpdateInput) (api.Process, error) {
		return e.change(in.ID, fmt.Sprintf("keep %s %v", in.ID[10:], *in.KeepAlive), func(p *api.Process) { p.KeepAlive = *in.KeepAlive })
	})
	panestest.On(e.Engine, api.ProcessSignal, func(_ context.Context, in api.ProcessSignalInput) (api.Empty, error) {
		_, err := e.change(in.ID, "signal "+in.ID[10:]+" "+in.Signal, func(*api.Process) {})
		return api.Empty{}, err
	})
	panestest.On(e.Engine, api.ProcessRemove, func(_ context.Context, in api.IDInput) (api.Empty, error) {
		e.announce(api.Event{Type: api.EventRemoved, ID: in.ID})
		return api.Empty{}, nil
	})
	return e
}

// addProcess adds a running process whose log is the given text.
func (e *fakeEngine) addProcess(name, log string) *fakeProcess {
	n := len(e.all) + 1
	p := &fakeProcess{engine: e, log: log, printed: make(chan struct{}), process: api.Process{
		ID: fmt.Sprintf("%012x", n), Kind: api.KindProcess, Name: name, State: api.StateRunning, PID: 100 + n,
		CWD: "/home/ann/src", Command: "serve " + name, Argv: []string{"serve", name}, Actor: "person",
		StartedAt: time.Now().Add(-time.Duration(n) * time.Hour), Supervision: &api.Supervision{},
		Metrics: &api.Metrics{CPUPercent: float64(n), RSSBytes: int64(n) << 20,
			CPUHistory: []float64{0, 10, 20, 30, 25, 12, 40}, HistorySeconds: []int{5, 5, 5, 5, 5, 5, 5}},
	}}
	e.all = append(e.all, p)
	return p
}

// addSession adds a running shell.
func (e *fakeEngine) addSession(name string) {
	p := &e.addProcess(name, "").process
	p.Kind, p.Terminal, p.Supervision, p.Metrics = api.KindSession, &api.Terminal{Cols: 80, Rows: 24}, nil, nil
}

// writeLog appends to a process's log.
func (p *fakeProcess) writeLog(text string) {
	p.engine.mu.Lock()
	defer p.engine.mu.Unlock()
	p.log += text
	close(p.printed)
	p.printed = make(chan struct{})
}

// find returns a process. The caller holds the lock.
func (e *fakeEngine) find(id string) *fakeProcess {
	i := slices.IndexFunc(e.all, func(p *fakeProcess) bool { return p.process.ID == id })
	if i < 0 {
		return nil
	}
	return e.all[i]
}

// change records a call that changes a process, and announces the change.
func (e *fakeEngine) change(id, call string, change func(*api.Process)) (api.Process, error) {
	e.mu.Lock()
	e.calls = append(e.calls, call)
	p := e.find(id)
	change(&p.process)
	now := p.process
	e.mu.Unlock()
	e.announce(api.Event{Type: api.EventProcess, Process: &now})
	return now, nil
}

// takeCalls returns the calls that have changed processes since it was called last.
func (e *fakeEngine) takeCalls() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	calls := strings.Join(e.calls, "; ")
	e.calls = nil
	return calls
}

func (e *fakeEngine) listProcesses(context.Context, api.ProcessListInput) (out api.ProcessListOutput, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.all {
		out.Processes = append(out.Processes, p.process)
	}
	return out, nil
}

func (e *fakeEngine) readLog(ctx context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
	e.mu.Lock()
	p := e.find(in.ID)
	out := panestest.LogOf(p.log, in)
	out.State = p.process.State
	printed := p.printed
	e.mu.Unlock()
	if out.Data != "" || in.WaitMS == 0 || in.Grep != "" {
		return out, nil
	}
	select {
	case <-printed:
		in.WaitMS = 0
		return e.readLog(ctx, in)
	case <-ctx.Done():
		return out, ctx.Err()
	}
}

// onProcesses shows the view of processes of a fake engine, which also has a session with a shell.
// prepare adds the processes.
func onProcesses(t *testing.T, w, h int, prepare func(*fakeEngine)) *view {
	t.Helper()
	e := newFakeEngine()
	e.addSession("shell")
	prepare(e)
	env := &panestest.Env{API: e.Engine}
	env.Inks.Glyphs = themes.UnicodeGlyphs()
	for _, p := range e.all {
		p := p.process
		p.Metrics = nil // the list has them
		env.Known.Processes = append(env.Known.Processes, p)
	}
	pane := New(env)
	pane.table.order = order{by: columnState} // what runs comes first
	d := &view{panestest.Drive(t, env, pane, w, h), t, env, pane, e}
	e.announce = d.Announce
	d.WaitText("command")
	return d
}

// selectProcess moves the cursor to a process.
func (d *view) selectProcess(name string) {
	d.t.Helper()
	d.Press("g")
	d.Wait("the cursor is on "+name, func() bool {
		p, _ := d.pane.Selected()
		if p.Name != name {
			d.Press("j")
		}
		return p.Name == name
	})
}

// onLog reports whether the log has the keyboard.
func (d *view) onLog() bool { return d.Scopes()[0] == keymap.ScopeLog }

// logHeading returns the screen row of the log's heading.
func (d *view) logHeading() int {
	d.t.Helper()
	at := slices.IndexFunc(strings.Split(d.Screen(), "\n"), func(row string) bool { return strings.HasPrefix(row, "─") })
	if at < 0 {
		d.t.Fatalf("there is no log:\n%s", d.Screen())
	}
	return at
}

func TestProcessesAreShownWithMetricsAndLog(t *testing.T) {
	var web *fakeProcess
	d := onProcesses(t, 120, 36, func(e *fakeEngine) { web = e.addProcess("web", "listening on 8080\n") })
	d.WaitText("listening on 8080")
	d.WaitText("2.0M")
	web.writeLog("a request\n")
	d.WaitText("a request")
	d.WaitText("following")
}

func TestFilterAppliesWhileTypingAndCanBeCancelled(t *testing.T) {
	d := onProcesses(t, 80, 24, func(e *fakeEngine) {
		e.addProcess("web", "")
		e.addProcess("worker", "")
	})
	d.Press("/", "'wor")
	d.WaitNoText("web")
	d.Press("esc")
	d.WaitText("web")
	d.Press("/", "'wor", "enter")
	d.WaitNoText("web")
	d.Press("esc")
	d.WaitText("web")
}

func TestDestructiveActionsAskFirst(t *testing.T) {
	d := onProcesses(t, 120, 30, func(e *fakeEngine) {
		e.addProcess("one", "")
		e.addProcess("two", "")
		gone := e.addProcess("gone", "")
		gone.process.State, gone.process.PID = api.StateStopped, 0
	})
	d.selectProcess("gone")
	d.Press("x")
	d.WaitText("already exited")
	d.selectProcess("one")
	d.Press("space", "space")
	d.WaitText("2 marked")
	d.Press("x")
	d.WaitText("Stop 2 processes?")
	d.WaitText("one, two")
	d.Press("n")
	d.WaitNoText("Stop 2")
	d.Press("X", "y")
	d.Wait("both are killed", func() bool {
		ended := 0
		for _, p := range d.env.Known.Processes {
			if (p.Name == "one" || p.Name == "two") && p.State.Ended() {
				ended++
			}
		}
		return ended == 2
	})
	if got := d.engine.takeCalls(); strings.Count(got, "SIGKILL") != 2 {
		t.Errorf("asked for %s", got)
	}
	d.Press("esc")
	d.selectProcess("two")
	for _, step := range []struct {
		keys []string
		want string
	}{
		{[]string{"r"}, "restart 03"},
		{[]string{"a"}, "keep 03 true"},
		{[]string{"s", "'us", "down", "enter"}, "signal 03 USR2"},
		{[]string{"s", "'34", "enter"}, "signal 03 34"},
		{[]string{"s", "'sigterm", "enter"}, "signal 03 TERM"},
		{[]string{"s", "'bus", "enter"}, "signal 03 BUS"},
	} {
		d.Press(step.keys...)
		d.Wait("the engine is asked for "+step.want, func() bool { return d.engine.takeCalls() == step.want })
	}
	d.WaitText("1000") // the pid of the restarted process
	d.Press("D")
	d.WaitText("two is still running")
	d.selectProcess("gone")
	d.Press("D")
	d.WaitText("Delete gone?")
	d.Press("y")
	d.Wait("it is gone", func() bool { return len(d.env.Known.Processes) == 3 })
}

func TestRestartOfRunningProcessAsksFirst(t *testing.T) {
	d := onProcesses(t, 100, 30, func(e *fakeEngine) {})
	d.selectProcess("shell")
	d.Press("r")
	d.WaitText("Restart shell?")
	d.Press("n")
	d.WaitNoText("Restart shell?")
	if got := d.engine.takeCalls(); got != "" {
		t.Errorf("the engine was asked for %s", got)
	}
}

func TestKeepAliveNamesKeyToUndoIt(t *testing.T) {
	d := onProcesses(t, 100, 30, func(e *fakeEngine) {})
	d.selectProcess("shell")
	d.Press("a")
	d.WaitText("Keep-alive is on for shell; a turns it off")
}

func TestSplitLogShowsOneStreamAtATime(t *testing.T) {
	d := onProcesses(t, 120, 30, func(e *fakeEngine) {
		e.addProcess("split", "text\n").process.Supervision.SplitLog = true
		e.addProcess("whole", "text\n")
	})
	d.selectProcess("split")
	d.Press("tab")
	d.WaitText("stdout · following")
	d.Press("e")
	d.WaitText("stderr · following")
	d.Press("esc")
	d.selectProcess("whole")
	d.Press("tab", "e")
	d.WaitText("one log for both")
}

func TestLogIsSearchedByEngine(t *testing.T) {
	log := "needle first\n" + strings.Repeat("hay\n", 20_000) + "needle second\n" + strings.Repeat("hay\n", 100)
	d := onProcesses(t, 80, 24, func(e *fakeEngine) { e.addProcess("web", log) })
	d.WaitText("hay")
	d.Press("tab", "/", "'needle", "enter")
	d.WaitText("needle second")
	d.WaitText("paused")
	d.Press("N")
	d.WaitText("needle first")
	d.WaitText("/needle 1/2")
	d.Press("N")
	d.WaitText("search wrapped")
	d.WaitText("needle second")
	d.Press("/", "'needle f")
	d.WaitText("needle first")
	d.WaitText("1/1")
	d.Press("esc")
	d.WaitText("needle second")
	d.WaitText("/needle 2/2")
	d.Press("/", "'needle f", "enter") // matches nothing further down
	d.WaitText("needle first")
	d.Press("/", "'NEEDLE F")
	d.WaitText("no match")
	d.Press("enter", "/", "alt+r", "'(")
	d.WaitText("missing closing )")
	d.Press("enter")
	d.Press("G")
	d.WaitText("following")
	d.Press("esc", "esc")
	if d.onLog() {
		t.Error("esc does not go back to the table")
	}
}

func TestMouseSelectsSortsScrollsAndDragsBorder(t *testing.T) {
	d := onProcesses(t, 120, 30, func(e *fakeEngine) {
		e.addProcess("web", strings.Repeat("line\n", 1000))
		e.addProcess("api", "")
	})
	d.Click(10, 3)
	if p, _ := d.pane.Selected(); p.Name != "web" {
		t.Errorf("a click selects %q", p.Name)
	}
	d.WaitText("line")
	d.Click(7, 1)
	d.WaitText("name▲")
	y := d.logHeading()
	d.Mouse(keys.Mouse{X: 9, Y: y + 3, Button: keys.WheelUp, Kind: keys.MouseDown})
	d.WaitText("paused")
	d.Mouse(keys.Mouse{X: 9, Y: y, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	d.Mouse(keys.Mouse{X: 9, Y: y + 4, Button: keys.ButtonLeft, Kind: keys.MouseMove})
	d.Mouse(keys.Mouse{X: 9, Y: y + 4, Button: keys.ButtonLeft, Kind: keys.MouseUp})
	if got := d.logHeading(); got != y+4 {
		t.Errorf("the border is at %d, dragged from %d by 4", got, y)
	}
}

func TestEveryRowOfProcessesFillsItsWidth(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 36}, {200, 60}} {
		d := onProcesses(t, size[0], size[1], func(e *fakeEngine) {
			for i := range 40 {
				e.addProcess(fmt.Sprintf("名前-%d", i), "一二三\x1b[2J\tlong "+strings.Repeat("x", 300)+"\n")
			}
		})
		d.WaitText("long")
		for _, press := range []string{"tab", "z", "z", "esc", "tab", "z", "z", "s", "esc"} {
			d.Press(press)
			d.CheckRows()
		}
	}
}

func TestKeyTogglesCharts(t *testing.T) {
	d := onProcesses(t, 100, 30, func(e *fakeEngine) { e.addProcess("web", "listening\n") })
	d.WaitText("listening")
	d.Press("i")
	d.WaitText("memory 2.0M")
	d.Press("i")
	d.WaitNoText("memory 2.0M")
	d = onProcesses(t, 100, 60, func(e *fakeEngine) { e.addProcess("web", "listening\n") })
	d.WaitText("memory 2.0M")
}

func TestUnmeasuredProcessHasOnlyItsTimeline(t *testing.T) {
	d := onProcesses(t, 100, 60, func(e *fakeEngine) {
		e.addProcess("one", "listening\n")
		p := &e.addProcess("two", "no such file\n").process
		p.State, p.PID, p.Metrics, p.Error = api.StateFailed, 0, nil, "failed to start"
	})
	d.selectProcess("one")
	d.WaitText("memory 2.0M")
	d.selectProcess("two")
	d.WaitText("no such file")
	heading := d.logHeading()
	rows := strings.Split(d.Screen(), "\n")
	if got := rows[heading-1]; !strings.HasPrefix(got, " runs ") {
		t.Errorf("above the log is %q", got)
	}
	if strings.Contains(d.Screen(), "memory") || !strings.Contains(rows[heading-2], "serve shell") {
		t.Errorf("an unmeasured process has charts:\n%s", d.Screen())
	}
	d.CheckRows()
}

func TestSearchTypedAfterMoveSearchesThatLog(t *testing.T) {
	d := onProcesses(t, 120, 36, func(e *fakeEngine) {
		e.addProcess("one", "first\n")
		e.addProcess("two", "second\n")
	})
	d.selectProcess("one")
	d.WaitText("first")
	d.Press("j", "tab", "/", "'zzz", "enter")
	d.WaitText("no match")
	p, _ := d.pane.Selected()
	if p.Name != "two" {
		t.Errorf("the cursor is on %s", p.Name)
	}
	if rows := strings.Split(d.Screen(), "\n"); !strings.HasPrefix(rows[d.logHeading()], "─ two ") || !strings.Contains(rows[d.logHeading()], "/zzz") {
		t.Errorf("the log is %q", rows[d.logHeading()])
	}
}

func TestShiftedLettersSortProcesses(t *testing.T) {
	d := onProcesses(t, 140, 30, func(e *fakeEngine) {
		e.addProcess("web", "")
		e.addProcess("api", "")
	})
	for _, step := range []struct{ key, head string }{
		{"N", "name▲"}, {"N", "name▼"}, {"C", "cpu%▼"}, {"M", "mem▼"}, {"M", "mem▲"}, {"P", "pid▲"}, {"U", "up▲"}, {"S", "state▲"}, {"R", "rst▼"},
	} {
		d.Press(step.key)
		d.WaitText(step.head)
	}
}

func TestLogIsSavedToNewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.log")
	d := onProcesses(t, 200, 24, func(e *fakeEngine) { e.addProcess("web", strings.Repeat("some text\n", 200_000)) })
	d.WaitText("some text")
	d.Press("tab", "S", "ctrl+u", "'"+path, "enter")
	d.WaitText("saved 1.9M")
	data, err := os.ReadFile(path)
	if err != nil || string(data) != strings.Repeat("some text\n", 200_000) {
		t.Errorf("the file has %d bytes, %v", len(data), err)
	}
	if err := os.WriteFile(path, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Press("S", "ctrl+u", "'"+path, "enter")
	d.WaitText("The file already exists")
	d.Press("n")
	d.WaitNoText("already")
	if data, _ := os.ReadFile(path); string(data) != "older" {
		t.Errorf("it was replaced unasked, by %d bytes", len(data))
	}
	d.Press("S", "ctrl+u", "'"+path, "enter")
	d.WaitText("replace it")
	d.Press("y")
	d.Wait("it is replaced", func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() == 2_000_000 && info.Mode().Perm() == 0o600
	})
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left %v", entries)
	}
	d.Press("S", "ctrl+u", "'"+filepath.Dir(path), "enter")
	d.WaitText("is not a regular file")
}

// What a full-screen program prints makes no lines.
func TestFullScreenProgramIsShownAsItsLastScreen(t *testing.T) {
	var left atomic.Bool
	var asked atomic.Value
	d := onProcesses(t, 100, 30, func(e *fakeEngine) {
		e.addProcess("web", "a line\n")
		e.all[0].log = "heap of leftovers\n"
		panestest.On(e.Engine, api.SessionScreen, func(_ context.Context, in api.SessionScreenInput) (api.Screen, error) {
			asked.Store(in.ID)
			return api.Screen{AltScreen: !left.Load(), Lines: []string{"\x1b[1mTasks\x1b[m: 93", strings.Repeat("x", 200)}}, nil
		})
	})
	d.selectProcess("shell")
	d.WaitText("Tasks: 93")
	d.WaitText(strings.Repeat("x", 99) + "›")
	d.WaitNoText("heap of leftovers")
	if id := asked.Load(); id != d.engine.all[0].process.ID {
		t.Errorf("the screen of %s is shown", id)
	}
	d.selectProcess("web")
	d.WaitText("a line")
	d.WaitNoText("Tasks")
	left.Store(true)
	d.selectProcess("shell")
	d.WaitText("heap of leftovers")
}

func TestExitedFullScreenProgramShowsNoLeftovers(t *testing.T) {
	d := onProcesses(t, 100, 30, func(e *fakeEngine) {
		p := &e.all[0].process
		p.Name, p.State, p.PID = "rename", api.StateExited, 0
		e.all[0].log = "\x1b[?1049hheap of leftovers\x1b[?1049l\n"
		panestest.On(e.Engine, api.SessionScreen, func(context.Context, api.SessionScreenInput) (api.Screen, error) {
			return api.Screen{Lines: []string{"", ""}}, nil
		})
	})
	d.selectProcess("rename")
	d.WaitText("The program left an empty screen.")
	d.WaitNoText("heap of leftovers")
}
