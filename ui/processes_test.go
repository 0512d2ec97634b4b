package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/ui/conn"
	"tandem/ui/overlay"
	"tandem/ui/screen"
)

// onProcesses opens the dashboard on the processes of an engine, with one shell
// beside them.
func onProcesses(t *testing.T, w, h int, prepare func(*fakeEngine)) *driver {
	t.Helper()
	e := newFakeEngine()
	e.add("shell", "$ ")
	prepare(e)
	d := drive(t, e, w, h)
	d.shows("$ ")
	d.press("alt+2")
	d.shows("cpu%")
	return d
}

// select puts the cursor on a process.
func (d *driver) selects(name string) {
	d.t.Helper()
	d.press("g")
	d.until("the cursor is on "+name, func() bool {
		p, _ := d.m.processes.Selected()
		if p.Name != name {
			d.press("j")
		}
		return p.Name == name
	})
	d.run(d.m.fetch())
}

// onLog reports whether the log has the keyboard.
func (d *driver) onLog() bool { return d.m.input.scopes()[0] == keymap.ScopeLog }

// logHeading is the row of the log's heading on the screen.
func (d *driver) logHeading() int {
	d.t.Helper()
	at := slices.IndexFunc(strings.Split(d.screen(), "\n"), func(row string) bool { return strings.HasPrefix(row, "─") })
	if at < 0 {
		d.t.Fatalf("there is no log:\n%s", d.screen())
	}
	return at
}

// calls waits until the engine was asked for that and nothing else.
func (d *driver) calls(want string) {
	d.t.Helper()
	d.until("the engine is asked for "+want+", not "+d.engine.called(), func() bool { return d.engine.called() == want })
}

func TestProcessesAreShownWithMetricsAndTheLogBelow(t *testing.T) {
	var web *fakeSession
	d := onProcesses(t, 120, 36, func(e *fakeEngine) { web = e.addProcess("web", "listening on 8080\n") })
	d.shows("listening on 8080")
	d.shows("2.0M")
	web.write("a request\n")
	d.shows("a request")
	d.shows("following")
}

func TestStartFormSaysWhatIsWrongAndStarts(t *testing.T) {
	folder := t.TempDir()
	d := onProcesses(t, 80, 24, func(e *fakeEngine) { e.addProcess("web", "") })
	d.press("n", "enter")
	d.shows("command: say what to run")
	d.press("'make \"it", "enter")
	d.shows("a quote is not closed")
	d.press("'\" so", "tab", "'maker", "tab", "ctrl+u", "'"+folder+"/nowhere", "enter")
	d.shows("no such folder")
	d.press("ctrl+w", "'"+folder, "enter")
	d.shows("started maker")
	d.calls(fmt.Sprintf(`start ["make" "it" "so"] in %s as "maker" keep false env map[]`, folder))
	if p, _ := d.m.processes.Selected(); p.Name != "maker" {
		t.Errorf("the cursor is on %s", p.Name)
	}
}

func TestStartFormTakesEnvironmentKeepAliveAndShellLines(t *testing.T) {
	d := onProcesses(t, 80, 24, func(e *fakeEngine) { e.addProcess("web", "") })
	d.press("n", "'a | b", "tab", "tab", "ctrl+u", "tab", "'A=1,B=x,y C", "enter")
	d.shows("is not NAME=value")
	d.press("'=3", "tab", "space", "enter")
	d.calls(`start ["/bin/sh" "-c" "a | b"] in  as "" keep true env map[A:1 B:x,y C:3]`)
}

func TestStartFormHasMoreUnderAFold(t *testing.T) {
	d := onProcesses(t, 80, 24, func(e *fakeEngine) { e.addProcess("web", "") })
	d.press("n", "'serve", "tab", "tab", "ctrl+u", "down", "down", "down", "down")
	d.shows("[+] restart, readiness, terminal, worktree")
	d.lacks("ready when")
	d.press("space", "tab", "right", "tab", "'prot 80", "tab", "space", "enter")
	d.shows("ready when: must be port NUMBER")
	d.press("ctrl+u", "'port 8080", "enter")
	d.shows("started serve")
	got := d.engine.asked
	if got.Restart == nil || got.Restart.Policy != api.PolicyOnFailure || got.Ready == nil || got.Ready.Port != 8080 || !got.TTY {
		t.Errorf("it asked for restart %+v, ready %+v, terminal %v", got.Restart, got.Ready, got.TTY)
	}
}

func TestStartFormIsWholeInASmallTerminal(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {60, 15}} {
		d := onProcesses(t, size[0], size[1], func(e *fakeEngine) { e.addProcess("web", "") })
		d.press("n", "shift+tab", "space", "shift+tab")
		d.shows("sandbox file")
		d.shows("start")
		for _, label := range []string{"more", "restart", "ready when", "terminal", "worktree", "command"} {
			d.press("tab")
			d.shows(label)
		}
		d.shows("Start a process")
	}
}

func TestStartFormTakesSeveralLines(t *testing.T) {
	d := onProcesses(t, 80, 24, func(e *fakeEngine) { e.addProcess("web", "") })
	d.press("n", "'cd sub", "alt+enter", "'make")
	d.shows("runs in /bin/sh")
	d.press("up", "end", "'dir", "down", "down", "down", "ctrl+u", "down")
	d.typed(screen.Event{Kind: keys.EventPaste, Paste: "A=1\nB=2\n"})
	d.press("enter")
	d.calls(`start ["/bin/sh" "-c" "cd subdir\nmake"] in  as "" keep false env map[A:1 B:2]`)
}

func TestStartFormShowsTheEnginesRefusal(t *testing.T) {
	d := onProcesses(t, 80, 24, func(e *fakeEngine) {
		e.addProcess("web", "")
		e.refuse = api.Errorf(api.CodeInvalid, "start nope: no such program")
	})
	d.press("n", "'nope", "tab", "tab", "ctrl+u", "enter")
	d.shows("command: start nope: no such program")
	d.press("esc")
	d.lacks("Start a process")
}

func TestTabCompletesFolders(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"project-one", "project-two"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "project-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := onProcesses(t, 200, 40, func(e *fakeEngine) { e.addProcess("web", "") })
	d.press("n", "tab", "tab", "ctrl+u", "'"+folder+"/pro")
	d.shows("project-one/  project-two/")
	d.press("tab", "'t")
	d.shows("tab: project-two/")
	d.press("tab")
	if got := d.m.dialog.open.(*overlay.StartForm).Input().Folder; got != folder+"/project-two/" {
		t.Errorf("the folder is %s", got)
	}
}

func TestFilterShowsItsEffectWhileItIsTypedAndCanBeTakenBack(t *testing.T) {
	d := onProcesses(t, 80, 24, func(e *fakeEngine) {
		e.addProcess("web", "")
		e.addProcess("worker", "")
	})
	d.press("/", "'wor")
	d.lacks("web")
	d.press("esc")
	d.shows("web")
	d.press("/", "'wor", "enter")
	d.lacks("web")
	d.press("esc")
	d.shows("web")
}

func TestActionsAskWhereTheyDestroy(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		d := onProcesses(t, 100, 30, func(e *fakeEngine) {
			e.addProcess("one", "")
			e.addProcess("two", "")
			gone := e.addProcess("gone", "")
			gone.process.State, gone.process.PID = api.StateStopped, 0
		})
		d.selects("gone")
		d.press("x")
		d.shows("already exited")
		d.selects("one")
		d.press("space", "space")
		d.shows("2 marked")
		d.press("x")
		d.shows("Stop 2 processes?")
		d.shows("one, two")
		d.press("n")
		d.lacks("Stop 2")
		d.press("X", "y")
		d.until("both are killed", func() bool { return strings.Count(d.engine.called(), "SIGKILL") == 2 })
		d.until("both have ended", func() bool {
			ended := 0
			for _, p := range d.m.news.Processes {
				if (p.Name == "one" || p.Name == "two") && p.State.Ended() {
					ended++
				}
			}
			return ended == 2
		})
		d.press("esc")
		d.selects("two")
		d.engine.mu.Lock()
		d.engine.calls = nil
		d.engine.mu.Unlock()
		d.press("r")
		d.calls("restart 03")
		d.shows("1000") // the pid of the one that runs again
		d.press("a")
		d.calls("restart 03; keep 03 true")
		d.press("s", "'us", "down", "enter")
		d.calls("restart 03; keep 03 true; signal 03 USR2")
		d.press("s", "'34", "enter")
		d.calls("restart 03; keep 03 true; signal 03 USR2; signal 03 34")
		d.press("D")
		d.shows("two is still running")
		d.selects("gone")
		d.press("D")
		d.shows("Delete gone?")
		d.press("y")
		d.until("it is gone", func() bool { return len(d.m.news.Processes) == 3 })
	})
}

func TestARunningProcessIsNotRestartedUnasked(t *testing.T) {
	d := onProcesses(t, 100, 30, func(e *fakeEngine) {})
	d.selects("shell")
	d.press("r")
	d.shows("Restart shell?")
	d.press("n")
	d.lacks("Restart shell?")
	if got := d.engine.called(); got != "" {
		t.Errorf("the engine was asked for %s", got)
	}
}

func TestKeepAliveSaysHowToUndoIt(t *testing.T) {
	d := onProcesses(t, 100, 30, func(e *fakeEngine) {})
	d.selects("shell")
	d.press("a")
	d.shows("Keep-alive is on for shell; a turns it off")
}

func TestWhatSomebodyElseEndsAfterAStopWasCancelledHereIsTold(t *testing.T) {
	var shell *fakeSession
	d := onProcesses(t, 100, 30, func(e *fakeEngine) { shell = e.sessions[0] })
	d.selects("shell")
	for _, key := range []string{"x", "X"} {
		d.press(key, "n")
		d.lacks("cancel")
	}
	d.press("alt+1")
	d.shows("$ ")
	shell.change(func(p *api.Process) { p.EndedBy = "person" })
	shell.end(api.StateStopped, nil)
	d.shows("shell was ended from elsewhere")
}

func TestFailuresAndReadinessAreTold(t *testing.T) {
	var web *fakeSession
	d := onProcesses(t, 120, 30, func(e *fakeEngine) {
		web = e.addProcess("web", "")
		no := false
		web.process.Supervision.Ready = &no
	})
	yes, one, soon := true, 1, time.Now().Add(time.Hour)
	web.change(func(p *api.Process) { p.Supervision = &api.Supervision{Ready: &yes} })
	d.shows("web is ready")
	web.change(func(p *api.Process) {
		p.State, p.ExitCode, p.PID, p.Supervision = api.StateBackoff, &one, 0, &api.Supervision{NextStart: &soon, Restarts: 1}
	})
	d.shows("web failed: exited with status 1")
	d.shows("restarts in")
}

func TestProcessThatFailsOverAndOverIsToldOfOnce(t *testing.T) {
	one, exited := 1, time.Now()
	m := newModel(t.Context(), Options{}.withDefaults(), conn.New(newFakeEngine(), nil), &screen.Input{})
	fine := api.Process{ID: "1", Kind: api.KindProcess, Name: "web", State: api.StateRunning, StartedAt: exited.Add(-time.Hour)}
	bad := fine
	bad.State, bad.ExitCode, bad.ExitedAt = api.StateBackoff, &one, &exited
	m.news.Processes = []api.Process{bad}
	if m.notices.noteChanges([]api.Process{fine}); m.notices.toast.text != "web failed: exited with status 1" {
		t.Fatalf("told %q", m.notices.toast.text)
	}
	m.notices.toast.text = ""
	m.news.Processes[0].StartedAt = exited.Add(-time.Second)
	if m.notices.noteChanges([]api.Process{fine}); m.notices.toast.text != "" {
		t.Errorf("told again: %q", m.notices.toast.text)
	}
}

func TestSplitLogShowsOneStreamAtATime(t *testing.T) {
	d := onProcesses(t, 120, 30, func(e *fakeEngine) {
		e.addProcess("split", "text\n").process.Supervision.SplitLog = true
		e.addProcess("whole", "text\n")
	})
	d.selects("split")
	d.press("tab")
	d.shows("stdout · following")
	d.press("e")
	d.shows("stderr · following")
	d.press("esc")
	d.selects("whole")
	d.press("tab", "e")
	d.shows("one log for both")
}

func TestLogIsSearchedThroughTheEngine(t *testing.T) {
	log := "needle first\n" + strings.Repeat("hay\n", 100_000) + "needle second\n" + strings.Repeat("hay\n", 100)
	d := onProcesses(t, 80, 24, func(e *fakeEngine) { e.addProcess("web", log) })
	d.shows("hay")
	d.press("tab", "/", "'needle", "enter")
	d.shows("needle second")
	d.shows("paused")
	d.press("N")
	d.shows("needle first")
	d.shows("/needle 1/2")
	d.press("N")
	d.shows("search wrapped")
	d.shows("needle second")
	d.press("/", "'needle f")
	d.shows("needle first")
	d.shows("1/1")
	d.press("esc")
	d.shows("needle second")
	d.shows("/needle 2/2")
	d.press("/", "'needle f", "enter") // is nowhere below
	d.shows("needle first")
	d.press("/", "'NEEDLE F")
	d.shows("no match")
	d.press("enter", "/", "alt+r", "'(")
	d.shows("missing closing )")
	d.press("enter")
	d.press("G")
	d.shows("following")
	d.press("esc", "esc")
	if d.onLog() {
		t.Error("esc does not go back to the table")
	}
}

func TestLogIsSavedToANewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.log")
	d := onProcesses(t, 200, 24, func(e *fakeEngine) { e.addProcess("web", strings.Repeat("some text\n", 200_000)) })
	d.shows("some text")
	d.press("tab", "S", "ctrl+u", "'"+path, "enter")
	d.shows("saved 1.9M")
	data, err := os.ReadFile(path)
	if err != nil || string(data) != strings.Repeat("some text\n", 200_000) {
		t.Errorf("the file has %d bytes, %v", len(data), err)
	}
	if err := os.WriteFile(path, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.press("S", "ctrl+u", "'"+path, "enter")
	d.shows("The file already exists")
	d.press("n")
	d.lacks("already")
	if data, _ := os.ReadFile(path); string(data) != "older" {
		t.Errorf("it was replaced unasked, by %d bytes", len(data))
	}
	d.press("S", "ctrl+u", "'"+path, "enter")
	d.shows("replace it")
	d.press("y")
	d.until("it is replaced", func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() == 2_000_000 && info.Mode().Perm() == 0o600
	})
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left %v", entries)
	}
	d.press("S", "ctrl+u", "'"+filepath.Dir(path), "enter")
	d.shows("is not a regular file")
}

func TestEnterOpensTheTerminalOrTheLog(t *testing.T) {
	d := onProcesses(t, 80, 24, func(e *fakeEngine) { e.addProcess("web", "") })
	d.selects("web")
	d.press("enter")
	if !d.onLog() {
		t.Error("the log has no focus")
	}
	d.press("esc")
	d.selects("shell")
	d.press("enter")
	d.until("the session is shown", func() bool { return d.m.view == viewSessions && d.m.sessions.focused() != nil })
}

func TestMouseSelectsSortsScrollsAndDragsTheBorder(t *testing.T) {
	d := onProcesses(t, 120, 30, func(e *fakeEngine) {
		e.addProcess("web", strings.Repeat("line\n", 1000))
		e.addProcess("api", "")
	})
	d.click(10, 3)
	if p, _ := d.m.processes.Selected(); p.Name != "web" {
		t.Errorf("a click selects %q", p.Name)
	}
	d.shows("line")
	d.click(7, 1)
	d.shows("name▲")
	y := d.logHeading()
	d.mouse(keys.Mouse{X: 9, Y: y + 3, Button: keys.WheelUp, Kind: keys.MouseDown})
	d.shows("paused")
	d.mouse(keys.Mouse{X: 9, Y: y, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	d.mouse(keys.Mouse{X: 9, Y: y + 4, Button: keys.ButtonLeft, Kind: keys.MouseMove})
	d.mouse(keys.Mouse{X: 9, Y: y + 4, Button: keys.ButtonLeft, Kind: keys.MouseUp})
	if got := d.logHeading(); got != y+4 {
		t.Errorf("the border is at %d, dragged from %d by 4", got, y)
	}
}

func TestEveryRowOfTheProcessesViewIsAsWideAsTheScreen(t *testing.T) {
	d := onProcesses(t, 80, 24, func(e *fakeEngine) {
		for i := range 40 {
			e.addProcess(fmt.Sprintf("名前-%d", i), "一二三\x1b[2J\tlong "+strings.Repeat("x", 300)+"\n")
		}
	})
	d.shows("long")
	for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 36}, {200, 60}} {
		d.run(d.m.resize(size[0], size[1]))
		for _, press := range []string{"tab", "z", "z", "n", "esc", "tab", "z", "z", "s", "esc"} {
			d.press(press)
			rows := strings.Split(d.m.View().Content, "\n")
			if len(rows) != size[1] {
				t.Fatalf("%v: %d rows", size, len(rows))
			}
			for y, row := range rows {
				if got := ansi.StringWidth(row); got != size[0] {
					t.Fatalf("%v after %s: row %d takes %d cells: %q", size, press, y, got, ansi.Strip(row))
				}
			}
		}
	}
}

func TestCommandLinesAreReadAsAShellReadsThem(t *testing.T) {
	for line, want := range map[string]string{
		`a b  c`: `["a" "b" "c"]`, `a 'b c' "d e" f\ g`: `["a" "b c" "d e" "f g"]`, `a ''`: `["a" ""]`,
		`a "\"\\ \n"`: `["a" "\"\\ \\n"]`, `echo $HOME`: `["/bin/sh" "-c" "echo $HOME"]`, `A=1 b`: `["/bin/sh" "-c" "A=1 b"]`,
		`a 'x|y'`: `["a" "x|y"]`, `a --b=c`: `["a" "--b=c"]`, `a "x`: `error a quote is not closed`, `  `: `error say what to run`,
	} {
		words, err := panes.ParseCommand(line)
		got := fmt.Sprintf("%q", words)
		if err != nil {
			got = "error " + err.Error()
		}
		if got != want {
			t.Errorf("%s is %s, want %s", line, got, want)
		}
	}
}

// thousandProcesses is a dashboard of 200×60 on as many processes.
func thousandProcesses(b *testing.B) *model {
	e := newFakeEngine()
	m := newModel(b.Context(), Options{}.withDefaults(), conn.New(e, nil), &screen.Input{})
	m.sessions.opened, m.news.Connected = true, true
	for i := range 1000 {
		m.news.Processes = append(m.news.Processes, e.addProcess(fmt.Sprintf("worker-%d", i), "").process)
	}
	m.resize(200, 60)
	m.setView(viewProcesses)
	return m
}

func BenchmarkViewThousandProcessesMoving(b *testing.B) {
	m := thousandProcesses(b)
	for b.Loop() {
		m.input.action(keymap.MoveDown)()
		m.dirty = true
		m.View()
	}
}

func BenchmarkEventAmongThousandProcesses(b *testing.B) {
	m := thousandProcesses(b)
	n := m.news
	for b.Loop() {
		n.Serial++
		m.takeNews(n)
		m.View()
	}
}

func TestChartsComeAndGoWithAKey(t *testing.T) {
	d := onProcesses(t, 100, 30, func(e *fakeEngine) { e.addProcess("web", "listening\n") })
	d.shows("listening")
	d.press("i")
	d.shows("memory 2.0M")
	d.press("i")
	d.lacks("memory 2.0M")
	d = onProcesses(t, 100, 60, func(e *fakeEngine) { e.addProcess("web", "listening\n") })
	d.shows("memory 2.0M")
}

func TestWhatIsTypedRightBehindTheStartIsForTheNewProcess(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		for _, late := range []bool{false, true} {
			d := onProcesses(t, 120, 36, func(e *fakeEngine) {
				e.addProcess("web", "a needle that nobody looks for\n")
				e.late = late
			})
			d.shows("nobody looks for")
			d.pressAtOnce("n", "'hay", "tab", "tab", "ctrl+u", "enter", "tab", "/", "'needle", "enter")
			d.shows("started hay")
			d.shows("waiting for output to search")
			d.engine.ran("something else") // news in which the process may not be yet
			d.until("that is known", func() bool { return d.m.news.History > 0 })
			if p, _ := d.m.processes.Selected(); p.Name != "hay" || !d.onLog() {
				t.Fatalf("the cursor is on %s, the log has the keyboard: %v", p.Name, d.onLog())
			}
			d.nth(2).write("some hay\na needle\n")
			d.lacks("waiting for output to search")
			d.lacks("searching")
			d.shows("/needle")
			d.lacks("no match")
			d.press("esc", "esc")
			if d.onLog() {
				t.Error("esc does not lead back")
			}
		}
	})
}

func TestASearchTypedBehindAMoveIsInTheLogOfThatProcess(t *testing.T) {
	d := onProcesses(t, 120, 36, func(e *fakeEngine) {
		e.addProcess("one", "first\n")
		e.addProcess("two", "second\n")
	})
	d.selects("one")
	d.shows("first")
	d.pressAtOnce("j", "tab", "/", "'zzz", "enter")
	d.shows("no match")
	p, _ := d.m.processes.Selected()
	if p.Name != "two" {
		t.Errorf("the cursor is on %s", p.Name)
	}
	if rows := strings.Split(d.screen(), "\n"); !strings.HasPrefix(rows[d.logHeading()], "─ two ") || !strings.Contains(rows[d.logHeading()], "/zzz") {
		t.Errorf("the log is %q", rows[d.logHeading()])
	}
}

func TestEscClosesAFormThatTheEngineDoesNotAnswer(t *testing.T) {
	d := onProcesses(t, 120, 36, func(e *fakeEngine) { e.addProcess("web", "") })
	d.press("n", "'hay")
	lately(d).op = api.ProcessStart.Name
	d.press("enter", "tab", "'x")
	d.shows("Starting…")
	d.shows("what you type waits; esc cancels")
	d.press("esc")
	d.lacks("Starting…")
	d.lacks("what you type waits")
}

func TestCountsOfTheBarLeaveOutSingleCommands(t *testing.T) {
	var once, web *fakeSession
	code := 1
	fail := func(p *api.Process) { p.State, p.ExitCode, p.PID = api.StateFailed, &code, 0 }
	d := onProcesses(t, 120, 36, func(e *fakeEngine) {
		once, web = e.addProcess("once", ""), e.addProcess("web", "")
		once.process.Supervision.Transient = true
	})
	d.shows("3 running")
	once.change(fail)
	d.shows("2 running")
	if strings.Contains(d.screen(), "1 failed") {
		t.Error("a single command is counted as failed")
	}
	web.change(fail)
	d.shows("1 failed")
}

func TestProcessesAreSortedByShiftAndALetter(t *testing.T) {
	d := onProcesses(t, 140, 30, func(e *fakeEngine) {
		e.addProcess("web", "")
		e.addProcess("api", "")
	})
	for _, step := range []struct{ key, head string }{
		{"N", "name▲"}, {"N", "name▼"}, {"C", "cpu%▼"}, {"M", "mem▼"}, {"M", "mem▲"}, {"P", "pid▲"}, {"U", "up▲"}, {"S", "state▲"}, {"R", "rst▼"},
	} {
		d.press(step.key)
		d.shows(step.head)
	}
	d.press("?", "/", "'shift letter")
	d.shows("Processes: Sort, by shift and a letter")
	d.shows("sort by memory; again reverses it")
}
