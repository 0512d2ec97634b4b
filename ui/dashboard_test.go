package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/tests/needs"
	"tandem/ui/screen"
)

func TestDashboardStartsAShellWhenThereIsNone(t *testing.T) {
	e := newFakeEngine()
	d := drive(t, e, 120, 36)
	d.hasStarted(1)
	d.shows("$ ")
	in := e.started[0]
	if in.CWD != "/home/ann" || in.Cols != d.tree().W || in.Rows != d.tree().H-1 {
		t.Errorf("started with %+v, the pane is %v", in, d.tree())
	}
}

func TestDashboardOpensOnTheSessionsThereAre(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "hello-42")
	e.add("second", "other")
	d := drive(t, e, 120, 36)
	d.shows("hello-42")
	d.shows("second")
	if n := len(e.started); n != 0 {
		t.Errorf("%d sessions were started", n)
	}
}

func TestKeysTypedBeforeTheNewSessionIsThereReachItInOrder(t *testing.T) {
	e := newFakeEngine()
	first := e.add("first", "$ ")
	d := drive(t, e, 120, 36)
	d.shows("$ ")
	d.press("'one", "ctrl+b", "c", "'two", "ctrl+b", "%", "'three", "enter")
	d.hasStarted(3)
	d.typedInto(first, "one")
	d.typedInto(d.nth(1), "two")
	d.typedInto(d.nth(2), "three\r")
}

func TestTenThousandKeysArriveInOrder(t *testing.T) {
	needs.FullRun(t)
	e := newFakeEngine()
	s := e.add("first", "$ ")
	d := drive(t, e, 120, 36)
	d.shows("$ ")
	text := strings.Repeat("0123456789", 1000)
	d.press("'" + text)
	d.typedInto(s, text)
}

func TestPasteArrivesWhole(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "$ ")
	d := drive(t, e, 120, 36)
	d.shows("$ ")
	text := strings.Repeat("line of a large paste\n", 50_000)
	d.press("'a")
	d.run(d.m.input.take([]screen.Event{{Kind: keys.EventPaste, Paste: text}}))
	d.press("'b")
	d.typedInto(s, "a"+text+"b")
}

func TestSplitsAreBesideAndBelowAndFocusMoves(t *testing.T) {
	e := newFakeEngine()
	first := e.add("first", "$ ")
	d := drive(t, e, 160, 40)
	d.shows("$ ")
	d.press("ctrl+b", "%")
	d.hasStarted(2)
	d.press("ctrl+b", `"`)
	d.hasStarted(3)
	d.press("'c", "ctrl+b", "up", "'b", "alt+left", "'a", "ctrl+b", "ctrl+b")
	d.typedInto(d.nth(2), "c")
	d.typedInto(d.nth(1), "b")
	d.typedInto(first, "a\x02")
	if got := len(d.m.sessions.tabs.Current.Root.Leaves(nil)); got != 3 {
		t.Errorf("%d panes", got)
	}
	d.press("alt+left")
	if d.m.sessions.focused() != nil {
		t.Error("left of the leftmost pane is not the list")
	}
}

func TestNextAndPreviousGoThroughAllSessions(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	e.add("second", "two$ ")
	e.add("third", "three$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("ctrl+b", "n")
	d.shows("two$ ")
	d.press("ctrl+b", "p", "ctrl+b", "p")
	d.shows("three$ ")
	d.press("ctrl+b", "n")
	d.shows("one$ ")
}

func TestSessionThatExitsWellLeavesTheScreen(t *testing.T) {
	e := newFakeEngine()
	first := e.add("first", "one$ ")
	e.add("second", "two$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	zero := 0
	first.end(api.StateExited, &zero)
	d.shows("two$ ")
	d.lacks("first")
}

func TestSessionThatFailedStaysUntilItIsPutAway(t *testing.T) {
	e := newFakeEngine()
	first := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	seven := 7
	first.end(api.StateExited, &seven)
	d.shows("exited with status 7")
	d.shows("exit 7")
	d.press("'z", "enter")
	d.hasStarted(2)
	d.shows("$ ")
	d.lacks("status 7")
	d.nth(1).end(api.StateExited, &seven)
	d.shows("exited with status 7")
	d.press("'x")
	d.shows("No session is running")
	d.press("enter")
	d.hasStarted(3)
}

func TestTerminalsThatHaveEndedTakeNobodysPlace(t *testing.T) {
	e := newFakeEngine()
	var names []string
	for i := range maxIdleTabs + 3 {
		names = append(names, fmt.Sprint("failed-", i))
		e.add(names[i], fmt.Sprint("text ", i))
	}
	e.add("lives", "the last one")
	d := drive(t, e, 120, 30)
	code := 1
	for i := range names {
		d.shows(fmt.Sprint("text ", i))
		d.nth(i).end(api.StateFailed, &code)
		d.until("the pane knows", func() bool { return d.m.sessions.focused().Ended() != nil })
		d.press("ctrl+b", "n")
	}
	d.shows("the last one")
	d.press("ctrl+b", "p")
	d.shows(fmt.Sprint("text ", len(names)-1))
}

func TestEndedSessionsThatWerePutAwayStaySoInTheNextDashboard(t *testing.T) {
	e := newFakeEngine()
	first, second := e.add("first", "one$ "), e.add("second", "two$ ")
	e.add("third", "three$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	seven := 7
	first.end(api.StateExited, &seven)
	d.shows("enter new shell")
	d.press("'x")
	d.shows("two$ ")
	second.end(api.StateExited, &seven)
	d.shows("enter new shell")
	d.press("'x")
	d.shows("three$ ")
	d.isKept()
	again := drive(t, e, 120, 36)
	again.shows("third")
	if screen := again.screen(); strings.Contains(screen, "first") || strings.Contains(screen, "second") || strings.Contains(screen, "failed") {
		t.Error(screen)
	}
	first.change(func(p *api.Process) { p.State, p.PID, p.ExitCode = api.StateRunning, 7, nil })
	again.shows("first")
	again.isKept()
	if closed := e.layouts.current.Closed; len(closed) != 1 || closed[0] != second.process.ID {
		t.Errorf("put away: %v", closed)
	}
}

func TestWhoEndedTheSessionThatIsShownIsTold(t *testing.T) {
	e := newFakeEngine()
	first, second, third := e.add("first", "one$ "), e.add("second", "two$ "), e.add("third", "three$ ")
	e.add("fourth", "four$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	third.end(api.StateStopped, nil) // nobody looks at it
	d.lacks("third")
	first.change(func(p *api.Process) { p.EndedBy = "agent:codex/1.0" })
	first.end(api.StateStopped, nil)
	d.shows("first was ended by codex")
	d.shows("two$ ")
	second.change(func(p *api.Process) { p.EndedBy = "person" })
	second.end(api.StateStopped, nil)
	d.shows("second was ended from elsewhere")
	d.shows("four$ ")
	d.m.notices.unsay()
	d.press("ctrl+b", "x", "'y")
	d.shows("No session is running")
	d.lacks("was ended")
}

func TestWhatASmallTerminalCannotShowSaysTheWayBack(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 20, 6)
	d.shows("one$ ")
	for i, key := range []string{"2", "3", "4"} {
		d.press("ctrl+b", key)
		d.shows("esc or alt+1: back")
		d.press([]string{"esc", "alt+1", "esc"}[i])
		d.shows("one$ ")
	}
	d.press("ctrl+b", "?")
	d.shows("Keys  1–2 of")
	d.shows("esc close")
	d.press("esc", "ctrl+b", ":")
	d.shows("Find any")
	d.press("esc", "ctrl+b", "2")
	d.update(tea.WindowSizeMsg{Width: 120, Height: 36})
	d.shows("cpu%")
	d.press("esc")
	if d.m.view != viewProcesses {
		t.Error("esc leaves a view that there is room for")
	}
}

func TestWhatWasSaidOfAViewDoesNotCoverTheKeysOfTheNext(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.m.notices.say("that is no name", true)
	d.shows("that is no name")
	d.press("alt+2")
	d.lacks("that is no name")
	d.m.notices.tell("web failed", true)
	d.press("alt+1")
	d.shows("web failed")
}

func TestEndingASessionAsksFirst(t *testing.T) {
	e := newFakeEngine()
	first := e.add("first", "one$ ")
	first.process.Terminal.Shell = true
	e.add("second", "two$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("ctrl+b", "x")
	d.shows("End session first?")
	d.shows("Daemons started from the shell keep running.")
	if c := d.m.View().Cursor; c != nil {
		t.Error("the program's cursor shows through the question")
	}
	d.press("'n")
	d.lacks("End session")
	d.press("ctrl+b", "x", "'y")
	d.shows("two$ ")
	if s := first.process.State; s != api.StateStopped {
		t.Errorf("the session is %s", s)
	}
	d.press("ctrl+b", "x")
	d.shows("Kills its program and everything it started.")
	d.press("'n")
	if got := first.input(); got != "" {
		t.Errorf("the answers reached the program: %q", got)
	}
}

func TestRenameTakesALine(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("ctrl+b", ",", "ctrl+u", "'web 漢x", "backspace")
	d.run(d.m.input.take([]screen.Event{{Kind: keys.EventPaste, Paste: " two\n"}}))
	d.press("enter")
	d.shows("web 漢 two")
}

func TestReconnectsByItselfAndKeepsWhatWasTyped(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("'before ")
	d.typedInto(s, "before ")
	next := d.loseEngine()
	d.press("'while ")
	d.reachEngine(next)
	d.press("'after")
	d.typedInto(s, "before while after")
}

// loseEngine has the engine die and not come back before next is reached.
func (d *driver) loseEngine() (next *fakeEngine) {
	d.t.Helper()
	d.mu.Lock()
	d.next = nil
	d.mu.Unlock()
	next = d.engine.die()
	d.shows("reconnecting")
	return next
}

func (d *driver) reachEngine(next *fakeEngine) {
	d.t.Helper()
	d.mu.Lock()
	d.next = next
	d.mu.Unlock()
	d.engine = next
	d.shows("reconnected")
}

func TestStartThatFailsSaysWhyAndLeavesNoPane(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	e.mu.Lock()
	e.refuse = errors.New("start session: no more PTYs\x1b[2J")
	e.mu.Unlock()
	d.press("ctrl+b", "%")
	d.shows("no more PTYs")
	if got := len(d.m.sessions.tabs.Current.Root.Leaves(nil)); got != 1 {
		t.Errorf("%d panes are left", got)
	}
}

func TestWhatIsTypedBeforeTheFirstSessionWaitsForIt(t *testing.T) {
	d := drive(t, newFakeEngine(), 80, 24)
	d.press("'/bin/", "'ls q", "enter")
	if d.m.dialog.open != nil || d.quit {
		t.Fatal("the list took it")
	}
	d.hasStarted(1)
	d.press("'x")
	d.typedInto(d.nth(0), "/bin/ls q\rx")
}

func TestThePrefixWorksBeforeTheFirstSession(t *testing.T) {
	d := drive(t, newFakeEngine(), 80, 24)
	d.press("'ls", "ctrl+b", "d")
	d.until("it is left", func() bool { return d.quit })
}

func TestTooSmallTerminalSaysSoAndRecovers(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 10, 3)
	d.until("news", func() bool { return d.m.sessions.opened })
	if got := d.screen(); !strings.Contains(strings.Join(strings.Fields(got), " "), "too small: needs 60×15") {
		t.Errorf("at 10×3:\n%s", got)
	}
	d.update(tea.WindowSizeMsg{Width: 59, Height: 15})
	d.press("ctrl+b", "2")
	d.shows("terminal too small: 59×15, needs 60×15")
	d.press("alt+1")
	d.update(tea.WindowSizeMsg{Width: 60, Height: 15})
	d.shows("one$ ")
}

func TestEveryRowIsAsWideAsTheScreen(t *testing.T) {
	needs.FullRun(t)
	e := newFakeEngine()
	e.add("first", "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字x", "b")
	e.add("second", "two$ ")
	d := drive(t, e, 120, 36)
	d.shows("漢字")
	d.press("ctrl+b", "%")
	d.hasStarted(3)
	d.press("ctrl+b", "-")
	d.hasStarted(4)
	for _, size := range [][2]int{{60, 15}, {61, 16}, {80, 24}, {90, 30}, {106, 30}, {120, 36}, {200, 60}, {300, 100}} {
		d.update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for range viewCount {
			d.checkSize(size[0], size[1])
			d.press("alt+2", "?")
			d.checkSize(size[0], size[1])
			d.press("esc", "alt+1", "ctrl+b", "x")
			d.checkSize(size[0], size[1])
			d.press("esc", "ctrl+b", "z")
			d.checkSize(size[0], size[1])
			d.press("ctrl+b", "z", "ctrl+b")
			d.checkSize(size[0], size[1])
			d.press("esc")
		}
	}
}

func (d *driver) checkSize(w, h int) {
	d.t.Helper()
	rows := strings.Split(d.m.View().Content, "\n")
	if len(rows) != h {
		d.t.Fatalf("%d rows at %d×%d:\n%s", len(rows), w, h, d.screen())
	}
	for _, r := range rows {
		if got := ansi.StringWidth(r); got != w {
			d.t.Fatalf("row of %d cells at %d×%d: %q", got, w, h, ansi.Strip(r))
		}
	}
}

func TestZoomedPaneFillsTheScreen(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("ctrl+b", "z")
	d.lacks("sessions ─")
	d.until("the session has the size", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return s.size == api.Size{Cols: 120, Rows: 36}
	})
	d.checkSize(120, 36)
	d.press("ctrl+b", "z")
	d.shows("sessions ─")
}

func TestMouseFocusesDragsAndReachesPrograms(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "one$ ")
	s.mouse = keys.MouseClick
	d := drive(t, e, 160, 40)
	d.shows("one$ ")
	d.press("ctrl+b", "%")
	d.hasStarted(2)
	tree := d.tree()
	d.click(tree.X+4, tree.Y+3)
	d.press("'a")
	d.typedInto(s, "a")
	e.mu.Lock()
	mice := s.mice
	e.mu.Unlock()
	if len(mice) != 2 || mice[0].X != 4 || mice[0].Y != 2 || mice[1].Kind != keys.MouseUp {
		t.Errorf("the program got %+v", mice)
	}
	before := d.m.sessions.tabs.Current.Root.Border()
	d.mouse(keys.Mouse{X: before, Y: 9, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	d.mouse(keys.Mouse{X: before - 10, Y: 9, Button: keys.ButtonLeft, Kind: keys.MouseMove})
	d.mouse(keys.Mouse{X: before - 10, Y: 9, Button: keys.ButtonLeft, Kind: keys.MouseUp})
	if got := d.m.sessions.tabs.Current.Root.Border(); got != before-10 {
		t.Errorf("the border is at %d, dragged from %d", got, before)
	}
	d.click(5, 1+2)
	if d.m.sessions.tabs.Current.Focus.Pane.ID != d.nth(1).process.ID {
		t.Error("a click on the list's second row does not focus its session")
	}
	d.click(25, 0)
	d.shows("command")
}

func TestFocusReportsFollowTheKeyboard(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.until("focus in", func() bool { d.press("alt+2", "alt+1"); return len(s.reports()) >= 2 })
	got := s.reports()
	if got[len(got)-2] || !got[len(got)-1] {
		t.Errorf("leaving and coming back reported %v", got)
	}
	d.run(d.m.input.take([]screen.Event{{Kind: keys.EventFocusOut}}))
	if got := s.reports(); got[len(got)-1] {
		t.Errorf("another window has the keyboard, reported %v", got)
	}
}

func (s *fakeSession) reports() []bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]bool(nil), s.focus...)
}

func TestWindowTitleNamesTheSession(t *testing.T) {
	e := newFakeEngine()
	e.add("first\x1b]0;x\x07", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	if got := d.m.View().WindowTitle; got != "tandem – first]0;x" {
		t.Errorf("the title is %q", got)
	}
}

func TestListFiltersAndForgets(t *testing.T) {
	e := newFakeEngine()
	e.add("alpha", "one$ ")
	e.add("beta", "two$ ")
	gone := e.add("gamma", "three$ ")
	seven := 7
	gone.process.State, gone.process.ExitCode = api.StateExited, &seven
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("ctrl+b", "s", "/", "'bet", "enter")
	d.lacks("gamma")
	d.press("esc")
	d.shows("gamma")
	d.press("G", "x")
	d.shows("Forget session gamma?")
	d.press("enter") // answers nothing that cannot be taken back
	d.press("y")
	d.lacks("gamma")
	d.press("q")
	d.until("the dashboard ends", func() bool { return d.quit })
}

func TestNothingIsDrawnAgainWhenNothingChanged(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.m.View()
	d.update(nil)
	if d.m.dirty || d.m.sessions.NeedsRedraw() {
		t.Error("a message that changes nothing makes the screen dirty")
	}
}

func TestWhatIsTypedAfterLeavingGoesNowhere(t *testing.T) {
	e := newFakeEngine()
	e.add("alpha", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	var batch []screen.Event
	for _, name := range []string{"a", "ctrl+b", "d", "r", "m"} {
		k, err := keys.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, screen.Event{Kind: keys.EventKey, Key: k})
	}
	d.run(d.m.input.take(batch))
	d.until("the dashboard ends", func() bool { return d.quit })
	d.typedInto(d.nth(0), "a")
}

func TestNextRunOfASessionIsShownWhereTheLastOneFailed(t *testing.T) {
	e := newFakeEngine()
	s := e.add("server", "first run")
	d := drive(t, e, 120, 36)
	d.shows("first run")
	status := 1
	s.end(api.StateFailed, &status)
	d.shows("exit")
	d.until("it has ended", func() bool { return d.m.sessions.tabs.Current.Focus.Pane.Ended() != nil })
	s.change(func(p *api.Process) {
		p.State, p.ExitCode = api.StateRunning, nil
		p.StartedAt = p.StartedAt.Add(time.Minute)
	})
	d.until("it runs again", func() bool { return d.m.sessions.tabs.Current.Focus.Pane.Ended() == nil })
	d.press("'typed")
	d.typedInto(s, "typed")
}

func TestPanesOutOfSightHaveNoSize(t *testing.T) {
	e := newFakeEngine()
	first, second := e.add("first", "one$ "), e.add("second", "two$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
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
		d.until(fmt.Sprintf("the sessions have sizes: %t, %t", one, two), func() bool {
			return (last(first) != api.Size{}) == one && (last(second) != api.Size{}) == two
		})
	}
	sizes(true, false)
	d.press("alt+2")
	sizes(false, false)
	d.press("alt+1")
	sizes(true, false)
	d.press("ctrl+b", "n")
	d.shows("two$ ")
	sizes(false, true)
	d.press("ctrl+b", "n")
	d.shows("one$ ")
	sizes(true, false)
}

func TestHelpInTheInboxShowsItsKeysAndReturns(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 36)
	d.hasStarted(1)
	d.nth(0).engine.asks(aRequest("r1", "make install"))
	d.shows("1 asking")
	d.press("ctrl+b", "u")
	d.shows("1 request")
	d.shows("? keys")
	d.press("?")
	d.shows("take what is done out of the inbox")
	d.press("esc")
	d.shows("1 request")
	d.press("esc")
	d.lacks("1 request")
}

func TestClosingAPaneFromTheListClosesTheSelectedSessions(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("ctrl+b", "%")
	d.hasStarted(2)
	d.until("two panes are shown", func() bool { return len(d.m.sessions.visible()) == 2 })
	d.press("ctrl+b", "s", "g", "ctrl+b", "w")
	d.until("each has a tab", func() bool { return len(d.m.sessions.visible()) == 1 && len(d.m.sessions.tabs.All) == 2 })
	if id := d.m.sessions.tabs.Current.Focus.Pane.ID; id == d.nth(0).process.ID {
		t.Error("the other pane was closed")
	}
	d.press("ctrl+b", "w")
	d.shows("the session's only pane")
	d.press("alt+2", "ctrl+b", "w")
	d.shows("no pane to close here")
}
