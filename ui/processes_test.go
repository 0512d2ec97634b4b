package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/ui/conn"
	"tandem/ui/screen"
)

// onProcesses opens the dashboard on the processes of an engine, with one shell beside
// them.
func onProcesses(t *testing.T, w, h int, prepare func(*fakeEngine)) *driver {
	t.Helper()
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	prepare(e)
	d := drive(t, e, w, h)
	d.waitText("$ ")
	d.pressKeys("alt+2")
	d.waitText("cpu%")
	return d
}

// selectProcess moves the cursor to a process.
func (d *driver) selectProcess(name string) {
	d.t.Helper()
	d.pressKeys("g")
	d.waitUntil("the cursor is on "+name, func() bool {
		p, _ := d.m.processes.Selected()
		if p.Name != name {
			d.pressKeys("j")
		}
		return p.Name == name
	})
	d.run(d.m.fetchViews())
}

// onLog reports whether the log has the keyboard.
func (d *driver) onLog() bool { return d.m.keyboard.activeScopes()[0] == keymap.ScopeLog }

// waitCalls waits until exactly the operations in want were requested.
func (d *driver) waitCalls(want string) {
	d.t.Helper()
	d.waitUntil("the engine is asked for "+want+", not "+d.engine.listCalls(), func() bool { return d.engine.listCalls() == want })
}

func TestStartFormReportsErrorsAndStarts(t *testing.T) {
	folder := t.TempDir()
	d := onProcesses(t, 80, 24, func(e *fakeEngine) { e.addProcess("web", "") })
	d.pressKeys("n", "enter")
	d.waitText("command: enter a command")
	d.pressKeys("'make \"it", "enter")
	d.waitText("a quote is not closed")
	d.pressKeys("'\" so", "tab", "'maker", "tab", "ctrl+u", "'"+folder+"/nowhere", "enter")
	d.waitText("no such folder")
	d.pressKeys("ctrl+w", "'"+folder, "enter")
	d.waitText("started maker")
	d.waitCalls(fmt.Sprintf(`start ["make" "it" "so"] in %s as "maker" keep false env map[]`, folder))
	if p, _ := d.m.processes.Selected(); p.Name != "maker" {
		t.Errorf("the cursor is on %s", p.Name)
	}
}

func TestExitIsReportedAfterCancelledStop(t *testing.T) {
	var shell *fakeSession
	d := onProcesses(t, 100, 30, func(e *fakeEngine) { shell = e.sessions[0] })
	d.selectProcess("shell")
	for _, key := range []string{"x", "X"} {
		d.pressKeys(key, "n")
		d.waitNoText("cancel")
	}
	d.pressKeys("alt+1")
	d.waitText("$ ")
	shell.update(func(p *api.Process) { p.EndedBy = "person" })
	shell.exitWith(api.StateStopped, nil)
	d.waitText("shell was stopped from elsewhere")
}

func TestFailuresAndReadinessAreReported(t *testing.T) {
	var web *fakeSession
	d := onProcesses(t, 120, 30, func(e *fakeEngine) {
		web = e.addProcess("web", "")
		no := false
		web.process.Supervision.Ready = &no
	})
	yes, one, soon := true, 1, time.Now().Add(time.Hour)
	web.update(func(p *api.Process) { p.Supervision = &api.Supervision{Ready: &yes} })
	d.waitText("web is ready")
	web.update(func(p *api.Process) {
		p.State, p.ExitCode, p.PID, p.Supervision = api.StateBackoff, &one, 0, &api.Supervision{NextStart: &soon, Restarts: 1}
	})
	d.waitText("web failed: exited with status 1")
	d.waitText("restarts in")
}

func TestRepeatedFailureIsReportedOnce(t *testing.T) {
	one, exited := 1, time.Now()
	m := newModel(t.Context(), Options{Settings: defaultSettings()}.withDefaults(), conn.New(newFakeEngine(), nil), &screen.Input{})
	fine := api.Process{ID: "1", Kind: api.KindProcess, Name: "web", State: api.StateRunning, StartedAt: exited.Add(-time.Hour)}
	bad := fine
	bad.State, bad.ExitCode, bad.ExitedAt = api.StateBackoff, &one, &exited
	m.news.Processes = []api.Process{bad}
	if m.notices.reportChanges(&panes.News{Processes: []api.Process{fine}}, m.news.Processes); m.notices.toast.text != "web failed: exited with status 1" {
		t.Fatalf("told %q", m.notices.toast.text)
	}
	m.notices.toast.text = ""
	m.news.Processes[0].StartedAt = exited.Add(-time.Second)
	if m.notices.reportChanges(&panes.News{Processes: []api.Process{fine}}, m.news.Processes); m.notices.toast.text != "" {
		t.Errorf("told again: %q", m.notices.toast.text)
	}
}

func TestEnterOpensTerminalOrLog(t *testing.T) {
	d := onProcesses(t, 80, 24, func(e *fakeEngine) { e.addProcess("web", "") })
	d.selectProcess("web")
	d.pressKeys("enter")
	if !d.onLog() {
		t.Error("the log has no focus")
	}
	d.pressKeys("esc")
	d.selectProcess("shell")
	d.pressKeys("enter")
	d.waitUntil("the session is shown", func() bool {
		return d.m.views.action() == keymap.ViewSessions && d.m.sessions.FocusedPane() != nil
	})
}

// thousandProcesses returns a dashboard of 200×60 cells with 1,000 processes.
func thousandProcesses(b *testing.B) *model {
	e := newFakeEngine()
	m := newModel(b.Context(), Options{Settings: defaultSettings()}.withDefaults(), conn.New(e, nil), &screen.Input{})
	m.news.Connected = true
	for i := range 1000 {
		m.news.Processes = append(m.news.Processes, e.addProcess(fmt.Sprintf("worker-%d", i), "").process)
	}
	m.setSize(200, 60)
	m.env.ForUser(panes.ActionOf(func() { m.setView(keymap.ViewProcesses) }))
	return m
}

func BenchmarkViewThousandProcessesMoving(b *testing.B) {
	m := thousandProcesses(b)
	for b.Loop() {
		m.keyboard.findAction(keymap.MoveDown)()
		m.frame.redraw()
		m.View()
	}
}

func BenchmarkEventAmongThousandProcesses(b *testing.B) {
	m := thousandProcesses(b)
	n := m.news
	for b.Loop() {
		n.Serial++
		m.applyNews(n)
		m.View()
	}
}

func TestKeysTypedAfterStartApplyToNewProcess(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		for _, late := range []bool{false, true} {
			d := onProcesses(t, 120, 36, func(e *fakeEngine) {
				e.addProcess("app", "a needle that nobody looks for\n")
				e.late = late
			})
			d.waitText("nobody looks for")
			d.pressAtOnce("n", "'hay", "tab", "tab", "ctrl+u", "enter", "tab", "/", "'needle", "enter")
			d.waitText("started hay")
			d.waitText("waiting for output to search")
			d.engine.history.AddRun("something else") // news that may precede the process
			d.waitUntil("that is known", func() bool { return d.m.news.History > 0 })
			if p, _ := d.m.processes.Selected(); p.Name != "hay" || !d.onLog() {
				t.Fatalf("the cursor is on %s, the log has the keyboard: %v", p.Name, d.onLog())
			}
			d.nthSession(2).writeLog("some hay\na needle\n")
			d.waitNoText("waiting for output to search")
			d.waitNoText("searching")
			d.waitText("/needle")
			d.waitNoText("no match")
			d.pressKeys("esc", "esc")
			if d.onLog() {
				t.Error("esc does not lead back")
			}
		}
	})
}

func TestEscClosesFormOfHungEngine(t *testing.T) {
	d := onProcesses(t, 120, 36, func(e *fakeEngine) { e.addProcess("web", "") })
	d.pressKeys("n", "'hay")
	delayStarts(d).op = api.ProcessStart.Name
	d.pressKeys("enter", "tab", "'x")
	d.waitText("Starting…")
	d.waitText("your input is queued; esc cancels")
	d.pressKeys("esc")
	d.waitNoText("Starting…")
	d.waitNoText("your input is queued")
}

func TestTopBarDoesNotCountOneOffCommands(t *testing.T) {
	var once, web *fakeSession
	code := 1
	fail := func(p *api.Process) { p.State, p.ExitCode, p.PID = api.StateFailed, &code, 0 }
	d := onProcesses(t, 120, 36, func(e *fakeEngine) {
		once, web = e.addProcess("once", ""), e.addProcess("web", "")
		once.process.Supervision.Transient = true
	})
	d.waitText("2 running")
	d.waitMatch(`▸ your commands +1 command`)
	once.update(fail)
	d.waitText("2 running")
	if strings.Contains(d.screenText(), "1 failed") {
		t.Error("a single command is counted as failed")
	}
	web.update(fail)
	d.waitText("1 failed")
}

func TestHelpListsSortingOfProcesses(t *testing.T) {
	d := onProcesses(t, 140, 30, func(*fakeEngine) {})
	d.pressKeys("?", "/", "'shift letter")
	d.waitText("Processes: Sort, by shift and a letter")
	d.waitText("sort by memory; again reverses it")
}
