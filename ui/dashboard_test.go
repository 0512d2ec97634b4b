package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/panestest"
	"tandem/tests/needs"
	"tandem/tests/wait"
	"tandem/ui/screen"
)

func TestDashboardStartsShellIfNoSessionRuns(t *testing.T) {
	e := newFakeEngine()
	d := drive(t, e, 120, 36)
	d.waitStarted(1)
	d.waitText("$ ")
	in := e.started[0]
	if in.CWD != "/home/ann" || in.Actor != "" || in.Cols != d.treeArea().W || in.Rows != d.treeArea().H-1 {
		t.Errorf("started with %+v, the pane is %v", in, d.treeArea())
	}
}

func TestDashboardOpensOnRunningSessions(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "hello-42")
	e.addSession("second", "other")
	d := drive(t, e, 120, 36)
	d.waitText("hello-42")
	d.waitText("second")
	if n := len(e.started); n != 0 {
		t.Errorf("%d sessions were started", n)
	}
}

func TestKeysTypedDuringStartReachNewSessionInOrder(t *testing.T) {
	e := newFakeEngine()
	first := e.addSession("first", "$ ")
	d := drive(t, e, 120, 36)
	d.waitText("$ ")
	d.pressKeys("'one", "ctrl+b", "c", "'two", "ctrl+b", "%", "'three", "enter")
	d.waitStarted(3)
	d.waitTyped(first, "one")
	d.waitTyped(d.nthSession(1), "two")
	d.waitTyped(d.nthSession(2), "three\r")
}

func TestTenThousandKeysArriveInOrder(t *testing.T) {
	needs.FullRun(t)
	e := newFakeEngine()
	s := e.addSession("first", "$ ")
	d := drive(t, e, 120, 36)
	d.waitText("$ ")
	text := strings.Repeat("0123456789", 1000)
	d.pressKeys("'" + text)
	d.waitTyped(s, text)
}

func TestPasteArrivesInOnePiece(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "$ ")
	d := drive(t, e, 120, 36)
	d.waitText("$ ")
	text := strings.Repeat("line of a large paste\n", 50_000)
	d.pressKeys("'a")
	d.run(d.m.input.handleEvents([]screen.Event{{Kind: keys.EventPaste, Paste: text}}))
	d.pressKeys("'b")
	d.waitTyped(s, "a"+text+"b")
}

func TestSplitsGoBesideOrBelowAndTakeFocus(t *testing.T) {
	e := newFakeEngine()
	first := e.addSession("first", "$ ")
	d := drive(t, e, 160, 40)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", "%")
	d.waitStarted(2)
	d.pressKeys("ctrl+b", `"`)
	d.waitStarted(3)
	d.pressKeys("'c", "ctrl+b", "up", "'b", "alt+left", "'a", "ctrl+b", "ctrl+b")
	d.waitTyped(d.nthSession(2), "c")
	d.waitTyped(d.nthSession(1), "b")
	d.waitTyped(first, "a\x02")
	if got := len(d.m.sessions.Tabs.Current.Root.Leaves(nil)); got != 3 {
		t.Errorf("%d panes", got)
	}
	d.pressKeys("alt+left")
	if d.m.sessions.FocusedPane() != nil {
		t.Error("left of the leftmost pane is not the list")
	}
}

func TestNextAndPreviousCycleThroughSessions(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	e.addSession("second", "two$ ")
	e.addSession("third", "three$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "n")
	d.waitText("two$ ")
	d.pressKeys("ctrl+b", "p", "ctrl+b", "p")
	d.waitText("three$ ")
	d.pressKeys("ctrl+b", "n")
	d.waitText("one$ ")
}

func TestSuccessfulSessionLeavesScreen(t *testing.T) {
	e := newFakeEngine()
	first := e.addSession("first", "one$ ")
	e.addSession("second", "two$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	zero := 0
	first.exitWith(api.StateExited, &zero)
	d.waitText("two$ ")
	d.waitNoText("first")
}

func TestFailedSessionStaysUntilHidden(t *testing.T) {
	e := newFakeEngine()
	first := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	seven := 7
	first.exitWith(api.StateExited, &seven)
	d.waitText("exited with status 7")
	d.waitText("exit 7")
	var restored []string
	panestest.On(e.Engine, api.SessionRestore, func(_ context.Context, in api.SessionRestoreInput) (out api.SessionRestoreOutput, err error) {
		restored = append(restored, in.IDs...)
		return out, errors.New("not now")
	})
	d.pressKeys("'z", "enter")
	d.waitText("not now")
	if !slices.Equal(restored, []string{first.process.ID}) {
		t.Errorf("restored %q", restored)
	}
	d.pressKeys("'x")
	d.waitText("No session is running")
	d.pressKeys("enter")
	d.waitStarted(2)
}

func TestEmptyPageKeepsTheErrorOfTheLastStart(t *testing.T) {
	e := newFakeEngine()
	e.refuse = api.Errorf(api.CodeInvalid, "start session: /nonexistent not found")
	d := drive(t, e, 120, 36)
	d.waitText("No session is running")
	d.m.notices.toast.ClearMessage()
	d.waitText("start session: /nonexistent not found")
	d.waitNoText("has exited")
	e.mu.Lock()
	e.refuse = nil
	e.mu.Unlock()
	d.pressKeys("enter")
	d.waitStarted(1)
	d.nthSession(0).exitWith(api.StateExited, new(int))
	d.waitText("Everything that was started here has exited.")
}

func TestExitedPanesDoNotReplaceOthers(t *testing.T) {
	e := newFakeEngine()
	var names []string
	for i := range 6 { // more than stay attached while hidden
		names = append(names, fmt.Sprint("failed-", i))
		e.addSession(names[i], fmt.Sprint("text ", i))
	}
	e.addSession("lives", "the last one")
	d := drive(t, e, 120, 30)
	code := 1
	for i := range names {
		d.waitText(fmt.Sprint("text ", i))
		d.nthSession(i).exitWith(api.StateFailed, &code)
		d.waitUntil("the pane knows", func() bool { return d.m.sessions.FocusedPane().FinalState() != nil })
		d.pressKeys("ctrl+b", "n")
	}
	d.waitText("the last one")
	d.pressKeys("ctrl+b", "p")
	d.waitText(fmt.Sprint("text ", len(names)-1))
}

func TestHiddenSessionsStayHiddenInNextDashboard(t *testing.T) {
	e := newFakeEngine()
	first, second := e.addSession("first", "one$ "), e.addSession("second", "two$ ")
	e.addSession("third", "three$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	seven := 7
	first.exitWith(api.StateExited, &seven)
	d.waitText("enter restore")
	d.pressKeys("'x")
	d.waitText("two$ ")
	second.exitWith(api.StateExited, &seven)
	d.waitText("enter restore")
	d.pressKeys("'x")
	d.waitText("three$ ")
	d.waitSaved()
	again := drive(t, e, 120, 36)
	again.waitText("third")
	if screen := again.screenText(); strings.Contains(screen, "first") || strings.Contains(screen, "second") || strings.Contains(screen, "failed") {
		t.Error(screen)
	}
	first.update(func(p *api.Process) { p.State, p.PID, p.ExitCode = api.StateRunning, 7, nil })
	again.waitText("first")
	again.waitUntil("only the second is saved as hidden", func() bool {
		kept, _ := e.layouts.Current()
		return slices.Equal(kept.Closed, []string{second.process.ID})
	})
}

func TestDashboardReportsWhoEndedShownSession(t *testing.T) {
	e := newFakeEngine()
	first, second, third := e.addSession("first", "one$ "), e.addSession("second", "two$ "), e.addSession("third", "three$ ")
	e.addSession("fourth", "four$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	third.exitWith(api.StateStopped, nil) // it is not visible
	d.waitNoText("third")
	first.update(func(p *api.Process) { p.EndedBy = "agent:codex/1.0" })
	first.exitWith(api.StateStopped, nil)
	d.waitText("first was stopped by codex")
	d.waitText("two$ ")
	second.update(func(p *api.Process) { p.EndedBy = "person" })
	second.exitWith(api.StateStopped, nil)
	d.waitText("second was stopped from elsewhere")
	d.waitText("four$ ")
	d.m.notices.toast.ClearMessage()
	d.pressKeys("ctrl+b", "x", "'y")
	d.waitText("No session is running")
	d.waitNoText("was stopped")
}

func TestSmallTerminalNamesWayBackFromHiddenView(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 20, 6)
	d.waitText("one$ ")
	for i, key := range []string{"alt+2", "alt+3", "alt+4"} {
		d.pressKeys("ctrl+b", key)
		d.waitText("esc or alt+1: back")
		d.pressKeys([]string{"esc", "alt+1", "esc"}[i])
		d.waitText("one$ ")
	}
	d.pressKeys("ctrl+b", "?")
	d.waitText("Keys  1–2 of")
	d.waitText("esc close")
	d.pressKeys("esc", "ctrl+b", ":")
	d.waitText("Find any")
	d.pressKeys("esc", "ctrl+b", "alt+2")
	d.update(tea.WindowSizeMsg{Width: 120, Height: 36})
	d.waitText("cpu%")
	d.pressKeys("esc")
	if d.m.views.action() != keymap.ViewProcesses {
		t.Error("esc leaves a view that there is room for")
	}
}

func TestToastOfPreviousViewDoesNotCoverHints(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.m.notices.toast.Say("that is no name", true)
	d.waitText("that is no name")
	d.pressKeys("alt+2")
	d.waitNoText("that is no name")
	d.m.notices.toast.ShowNote("web failed", true)
	d.pressKeys("alt+1")
	d.waitText("web failed")
}

func TestEndingSessionAsksFirst(t *testing.T) {
	e := newFakeEngine()
	first := e.addSession("first", "one$ ")
	first.process.Terminal.Shell = true
	e.addSession("second", "two$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "x")
	d.waitText("Kill session first?")
	d.waitText("Daemons started from the shell keep running.")
	if c := d.m.View().Cursor; c != nil {
		t.Error("the program's cursor shows through the question")
	}
	d.pressKeys("'n")
	d.waitNoText("Kill session")
	d.pressKeys("ctrl+b", "x", "'y")
	d.waitText("two$ ")
	if s := first.process.State; s != api.StateStopped {
		t.Errorf("the session is %s", s)
	}
	d.pressKeys("ctrl+b", "x")
	d.waitText("Kills its program and everything it started.")
	d.pressKeys("'n")
	if got := first.typedText(); got != "" {
		t.Errorf("the answers reached the program: %q", got)
	}
}

func TestSessionIsRenamedInPrompt(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", ",", "ctrl+u", "'web 漢x", "backspace")
	d.run(d.m.input.handleEvents([]screen.Event{{Kind: keys.EventPaste, Paste: " two\n"}}))
	d.pressKeys("enter")
	d.waitText("web 漢 two")
}

func TestDashboardReconnectsAndKeepsTypedKeys(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("'before ")
	d.waitTyped(s, "before ")
	next := d.loseEngine()
	d.pressKeys("'while ")
	d.restoreEngine(next)
	d.pressKeys("'after")
	d.waitTyped(s, "before while after")
}

// loseEngine kills the engine and waits until the dashboard shows the loss. The dashboard can
// reconnect only after next has been started with restoreEngine.
func (d *driver) loseEngine() (next *fakeEngine) {
	d.t.Helper()
	d.mu.Lock()
	d.next = nil
	d.mu.Unlock()
	next = d.engine.killEngine()
	d.waitText("reconnecting")
	return next
}

func (d *driver) restoreEngine(next *fakeEngine) {
	d.t.Helper()
	d.startEngine(next)
	d.waitText("reconnected")
}

// startEngine makes an engine reachable.
func (d *driver) startEngine(next *fakeEngine) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next, d.engine = next, next
}

func TestCancelledAttachmentDoesNotWaitForAnother(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 36)
	d.waitText("$ ")
	p := d.m.sessions.FocusedPane()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan bool, 1)
	go func() {
		d.m.link.Attach(ctx, p.ID, p.Feed)
		ended <- true
	}()
	cancel()
	wait.Receive(t, "the end of the cancelled attachment", ended)
	d.pressKeys("'x")
	d.waitTyped(d.nthSession(0), "x")
}

func TestFailedStartReportsErrorAndLeavesNoPane(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	e.mu.Lock()
	e.refuse = errors.New("start session: no more PTYs\x1b[2J")
	e.mu.Unlock()
	d.pressKeys("ctrl+b", "%")
	d.waitText("no more PTYs")
	if got := len(d.m.sessions.Tabs.Current.Root.Leaves(nil)); got != 1 {
		t.Errorf("%d panes are left", got)
	}
}

func TestKeysTypedBeforeFirstSessionWaitForIt(t *testing.T) {
	d := drive(t, newFakeEngine(), 80, 24)
	d.pressKeys("'/bin/", "'ls q", "enter")
	if d.m.dialog.open != nil || d.quit {
		t.Fatal("the list took it")
	}
	d.waitStarted(1)
	d.pressKeys("'x")
	d.waitTyped(d.nthSession(0), "/bin/ls q\rx")
}

func TestPrefixKeyDetachesBeforeFirstSession(t *testing.T) {
	d := drive(t, newFakeEngine(), 80, 24)
	d.pressKeys("'ls", "ctrl+b", "d")
	d.waitUntil("it is left", func() bool { return d.quit })
}

func TestTooSmallTerminalShowsErrorAndRecovers(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 10, 3)
	d.waitUntil("news", func() bool { return d.m.sessions.IsOpen() })
	if got := d.screenText(); !strings.Contains(strings.Join(strings.Fields(got), " "), "too small: needs 60×15") {
		t.Errorf("at 10×3:\n%s", got)
	}
	d.update(tea.WindowSizeMsg{Width: 59, Height: 15})
	d.pressKeys("ctrl+b", "alt+2")
	d.waitText("terminal too small: 59×15, needs 60×15")
	d.pressKeys("alt+1")
	d.update(tea.WindowSizeMsg{Width: 60, Height: 15})
	d.waitText("one$ ")
}

func TestEveryRowFillsScreenWidth(t *testing.T) {
	needs.FullRun(t)
	e := newFakeEngine()
	e.addSession("first", "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字x", "b")
	e.addSession("second", "two$ ")
	d := drive(t, e, 120, 36)
	d.waitText("漢字")
	d.pressKeys("ctrl+b", "%")
	d.waitStarted(3)
	d.pressKeys("ctrl+b", "-")
	d.waitStarted(4)
	for _, size := range [][2]int{{60, 15}, {61, 16}, {80, 24}, {90, 30}, {106, 30}, {120, 36}, {200, 60}, {300, 100}} {
		d.update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for range d.m.views.all {
			d.checkSize(size[0], size[1])
			d.pressKeys("alt+2", "?")
			d.checkSize(size[0], size[1])
			d.pressKeys("esc", "alt+1", "ctrl+b", "x")
			d.checkSize(size[0], size[1])
			d.pressKeys("esc", "ctrl+b", "z")
			d.checkSize(size[0], size[1])
			d.pressKeys("ctrl+b", "z", "ctrl+b")
			d.checkSize(size[0], size[1])
			d.pressKeys("esc")
		}
	}
}

func (d *driver) checkSize(w, h int) {
	d.t.Helper()
	rows := strings.Split(d.m.View().Content, "\n")
	if len(rows) != h {
		d.t.Fatalf("%d rows at %d×%d:\n%s", len(rows), w, h, d.screenText())
	}
	for _, r := range rows {
		if got := ansi.StringWidth(r); got != w {
			d.t.Fatalf("row of %d cells at %d×%d: %q", got, w, h, ansi.Strip(r))
		}
	}
}

func TestZoomedPaneFillsScreen(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "z")
	d.waitNoText("sessions ─")
	d.waitUntil("the session has the size", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return s.size == api.Size{Cols: 120, Rows: 36}
	})
	d.checkSize(120, 36)
	d.pressKeys("ctrl+b", "z")
	d.waitText("sessions ─")
}

func TestMouseFocusesDragsAndReachesPrograms(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	s.mouse = keys.MouseClick
	d := drive(t, e, 160, 40)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "%")
	d.waitStarted(2)
	tree := d.treeArea()
	d.click(tree.X+4, tree.Y+3)
	d.pressKeys("'a")
	d.waitTyped(s, "a")
	e.mu.Lock()
	mice := s.mice
	e.mu.Unlock()
	if len(mice) != 2 || mice[0].X != 4 || mice[0].Y != 2 || mice[1].Kind != keys.MouseUp {
		t.Errorf("the program got %+v", mice)
	}
	before := d.m.sessions.Tabs.Current.Root.BorderCell()
	d.sendMouse(keys.Mouse{X: before, Y: 9, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	d.sendMouse(keys.Mouse{X: before - 10, Y: 9, Button: keys.ButtonLeft, Kind: keys.MouseMove})
	d.sendMouse(keys.Mouse{X: before - 10, Y: 9, Button: keys.ButtonLeft, Kind: keys.MouseUp})
	if got := d.m.sessions.Tabs.Current.Root.BorderCell(); got != before-10 {
		t.Errorf("the border is at %d, dragged from %d", got, before)
	}
	d.click(5, 1+2)
	if d.m.sessions.Tabs.Current.Focus.ID != d.nthSession(1).process.ID {
		t.Error("a click on the list's second row does not focus its session")
	}
	d.click(25, 0)
	d.waitText("command")
}

func TestFocusReportsFollowKeyboard(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.waitUntil("focus in", func() bool { d.pressKeys("alt+2", "alt+1"); return len(s.focusReports()) >= 2 })
	got := s.focusReports()
	if got[len(got)-2] || !got[len(got)-1] {
		t.Errorf("leaving and coming back reported %v", got)
	}
	d.run(d.m.input.handleEvents([]screen.Event{{Kind: keys.EventFocusOut}}))
	if got := s.focusReports(); got[len(got)-1] {
		t.Errorf("another window has the keyboard, reported %v", got)
	}
}

func (s *fakeSession) focusReports() []bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]bool(nil), s.focus...)
}

func TestWindowTitleNamesSession(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first\x1b]0;x\x07", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	if got := d.m.View().WindowTitle; got != "tandem – first]0;x" {
		t.Errorf("the title is %q", got)
	}
}

func TestListFiltersAndDeletesSessions(t *testing.T) {
	e := newFakeEngine()
	e.addSession("alpha", "one$ ")
	e.addSession("beta", "two$ ")
	gone := e.addSession("gamma", "three$ ")
	seven := 7
	gone.process.State, gone.process.ExitCode = api.StateExited, &seven
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "s", "/", "'bet", "enter")
	d.waitNoText("gamma")
	d.pressKeys("esc")
	d.waitText("gamma")
	d.pressKeys("G", "x")
	d.waitText("Delete session gamma?")
	d.pressKeys("enter") // enter never confirms an irreversible action
	d.pressKeys("y")
	d.waitNoText("gamma")
	d.pressKeys("q")
	d.waitUntil("the dashboard ends", func() bool { return d.quit })
}

func TestUnchangedFrameIsNotRedrawn(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.m.View()
	d.update(nil)
	if d.m.frame.dirty || d.m.sessions.NeedsRedraw() {
		t.Error("a message that changes nothing makes the screen dirty")
	}
}

func TestKeysTypedAfterDetachAreDropped(t *testing.T) {
	e := newFakeEngine()
	e.addSession("alpha", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	var batch []screen.Event
	for _, name := range []string{"a", "ctrl+b", "d", "r", "m"} {
		k, err := keys.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, screen.Event{Kind: keys.EventKey, Key: k})
	}
	d.run(d.m.input.handleEvents(batch))
	d.waitUntil("the dashboard ends", func() bool { return d.quit })
	d.waitTyped(d.nthSession(0), "a")
}

func TestRestartedSessionReusesPaneOfFailedRun(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("server", "first run")
	d := drive(t, e, 120, 36)
	d.waitText("first run")
	status := 1
	s.exitWith(api.StateFailed, &status)
	d.waitText("exit")
	d.waitUntil("it has ended", func() bool { return d.m.sessions.CurrentPane().FinalState() != nil })
	s.update(func(p *api.Process) {
		p.State, p.ExitCode = api.StateRunning, nil
		p.StartedAt = p.StartedAt.Add(time.Minute)
	})
	d.waitUntil("it runs again", func() bool { return d.m.sessions.CurrentPane().FinalState() == nil })
	d.pressKeys("'typed")
	d.waitTyped(s, "typed")
}

func TestHiddenPanesClaimNoSize(t *testing.T) {
	e := newFakeEngine()
	first, second := e.addSession("first", "one$ "), e.addSession("second", "two$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	last := func(s *fakeSession) (size api.Size) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.resized); n > 0 {
			size = s.resized[n-1]
		}
		return size
	}
	sizes := func(one, two bool) {
		t.Helper()
		d.waitUntil(fmt.Sprintf("the sessions have sizes: %t, %t", one, two), func() bool {
			return (last(first) != api.Size{}) == one && (last(second) != api.Size{}) == two
		})
	}
	sizes(true, false)
	d.pressKeys("alt+2")
	sizes(false, false)
	d.pressKeys("alt+1")
	sizes(true, false)
	d.pressKeys("ctrl+b", "n")
	d.waitText("two$ ")
	sizes(false, true)
	d.pressKeys("ctrl+b", "n")
	d.waitText("one$ ")
	sizes(true, false)
}

func TestHelpInInboxListsItsKeysAndReturns(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 36)
	d.waitStarted(1)
	d.nthSession(0).engine.addRequest(newRequest("r1", "make install"))
	d.waitText("1 asking")
	d.pressKeys("ctrl+b", "u")
	d.waitText("1 request")
	d.waitText("? keys")
	d.pressKeys("?")
	d.waitText("clear a finished item, undo an answer")
	d.pressKeys("esc")
	d.waitText("1 request")
	d.pressKeys("esc")
	d.waitNoText("1 request")
}

func TestClosePaneFromListClosesSelectedSession(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "%")
	d.waitStarted(2)
	d.waitUntil("two panes are shown", func() bool { return len(d.m.sessions.Tabs.Current.Root.Leaves(nil)) == 2 })
	d.pressKeys("ctrl+b", "s", "g", "ctrl+b", "w")
	d.waitUntil("each has a tab", func() bool {
		return len(d.m.sessions.Tabs.Current.Root.Leaves(nil)) == 1 && len(d.m.sessions.Tabs.All) == 2
	})
	if id := d.m.sessions.Tabs.Current.Focus.ID; id == d.nthSession(0).process.ID {
		t.Error("the other pane was closed")
	}
	d.pressKeys("ctrl+b", "w")
	d.waitText("the session's only pane")
	d.pressKeys("alt+2", "ctrl+b", "w")
	d.waitText("no pane to close here")
}
