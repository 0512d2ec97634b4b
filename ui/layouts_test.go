package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/sessions/layout"
	"tandem/tests/needs"
)

// layoutShape describes the tabs: sessions by name, "|" for beside, "/" for below.
func (d *driver) layoutShape() string {
	var tabs []string
	for _, g := range d.m.sessions.Tabs.All {
		tabs = append(tabs, d.treeShape(g.Root))
	}
	return strings.Join(tabs, " ")
}

func (d *driver) treeShape(n *layout.Node) string {
	if n.IsLeaf() {
		p, _ := d.m.news.Process(n.ID)
		return p.Name
	}
	sign := "|"
	if n.Axis == layout.Below {
		sign = "/"
	}
	return "(" + d.treeShape(n.A) + sign + d.treeShape(n.B) + ")"
}

func (d *driver) waitShape(want string) {
	d.t.Helper()
	d.waitUntil("the layout is "+want, func() bool { return d.layoutShape() == want })
}

// arrangement describes the tabs of a layout, and which session has the focus. Sessions for which
// has returns false are left out.
func arrangement(l api.Layout, has func(id string) bool) (tabs, focus string) {
	var words []string
	for i, t := range l.AllTabs() {
		nodes := t.Nodes
		var draw func() string
		draw = func() string {
			n := nodes[0]
			nodes = nodes[1:]
			if n.Axis == "" {
				if !has(n.ID) {
					return ""
				}
				return n.ID
			}
			first, second := draw(), draw()
			if first == "" || second == "" {
				return first + second
			}
			return fmt.Sprintf("(%s %s %d %s)", first, n.Axis, n.Share, second)
		}
		word := draw()
		if word == "" {
			continue
		}
		words = append(words, t.Name+":"+word)
		if shown := i == l.Current && !l.Floats || l.Floats && i == len(l.Tabs); shown {
			focus = fmt.Sprint(t.Nodes[t.Focus].ID, l.Zoomed)
		}
	}
	return strings.Join(words, " "), focus
}

// sameArrangement reports whether two layouts arrange all their sessions in the same way.
func sameArrangement(a, b api.Layout) bool {
	all := func(string) bool { return true }
	one, _ := arrangement(a, all)
	other, _ := arrangement(b, all)
	return one == other
}

// isShown reports whether a session has a pane.
func (d *driver) isShown(id string) bool {
	t, _ := d.m.sessions.Tabs.FindSession(id)
	return t != nil
}

// waitSaved waits until the engine has the current layout, and the focus if no other dashboard is open.
func (d *driver) waitSaved() {
	d.t.Helper()
	d.waitUntil("the layout is kept", func() bool {
		kept, _ := d.engine.layouts.Current()
		if kept == nil {
			kept = &api.Layout{}
		}
		now := d.currentLayout()
		for _, t := range kept.AllTabs() {
			if slices.ContainsFunc(t.Nodes, func(n api.LayoutNode) bool { return d.m.sessions.Tabs.IsClosed(n.ID) }) {
				return false // closed here, but not there yet
			}
		}
		tabs, focus := arrangement(*kept, d.isShown)
		wantTabs, wantFocus := arrangement(now, d.isShown)
		for _, t := range now.Tabs { // those without a place there are shown after the others
			if id := t.Nodes[0].ID; id != "" && !strings.Contains(tabs, id) {
				tabs = strings.TrimSpace(tabs + " :" + id)
			}
		}
		return tabs == wantTabs && (focus == wantFocus || focus == "" || d.engine.countWatchers() > 1)
	})
}

// threePanes opens a dashboard on sessions a, b and c. b is split off beside a, and c
// below b.
func threePanes(t *testing.T) *driver {
	e := newFakeEngine()
	pane := func(name string) api.LayoutNode {
		return api.LayoutNode{ID: e.addSession(name, name+"-screen").process.ID, Name: name}
	}
	e.layouts.Set(api.Layout{Tabs: []api.LayoutTab{{Focus: 4, Nodes: []api.LayoutNode{
		{Axis: api.AxisBeside, Share: 3000}, pane("a"), {Axis: api.AxisBelow, Share: 5000}, pane("b"), pane("c")}}}})
	d := drive(t, e, 160, 40)
	d.waitText("c-screen")
	d.waitShape("(a|(b/c))")
	return d
}

func TestNextDashboardRestoresLayout(t *testing.T) {
	d := threePanes(t)
	if name := d.m.sessions.Tabs.Current.Focus.ID; name != d.nthSession(2).process.ID {
		t.Errorf("the focus is on %s", name)
	}
	if share := d.m.sessions.Tabs.Current.Root.Share; share != 3000 {
		t.Errorf("the left half has %d", share)
	}
	d.pressKeys("ctrl+b", "K", "ctrl+b", "}", "ctrl+b", "!")
	d.waitShape("(b/a) c")
	d.waitSaved()
	want := d.currentLayout()
	again := drive(t, d.engine, 160, 40)
	again.waitShape("(b/a) c")
	again.waitText("c-screen")
	if got := again.currentLayout(); !sameArrangement(got, want) || got.Current != want.Current {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestNextDashboardOpensWithTheFocusedPane(t *testing.T) {
	d := threePanes(t)
	d.waitSaved()
	d.pressKeys("alt+left")
	d.nthSession(1).announceTyping("agent:helper/2.1") // news between the move and the exit
	d.waitUntil("the news is there", func() bool { return d.m.news.Processes[1].Terminal.Typist != "" })
	d.m.saveOnExit()
	d.waitSaved()
	again := drive(t, d.engine, 160, 40)
	again.waitText("a-screen")
	if name := again.m.sessions.Tabs.Current.Focus.ID; name != d.nthSession(0).process.ID {
		t.Errorf("the focus is on %s, want a", name)
	}
}

// A lateEngine holds its answers to a start until the test releases them.
type lateEngine struct {
	*fakeEngine
	asked  chan struct{} // capacity 1
	answer chan struct{}
	op     string // operation to hold
}

// delayStarts makes the engine hold the answers to further starts.
func delayStarts(d *driver) *lateEngine {
	e := &lateEngine{fakeEngine: d.engine, asked: make(chan struct{}, 1), answer: make(chan struct{}), op: api.SessionStart.Name}
	d.m.link.SetEngine(e)
	return e
}

func (e *lateEngine) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	if name == e.op {
		notifyChan(e.asked)
		select {
		case <-e.answer:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return e.fakeEngine.Do(ctx, name, effect, in, out)
}

func TestDetachSavesLayoutWithStartingSessions(t *testing.T) { onFakeTime(t, detachWhileStarting) }

func detachWhileStarting(t *testing.T) {
	d := threePanes(t)
	d.waitSaved()
	late := delayStarts(d)
	d.pressKeys("ctrl+b", "%", "ctrl+b", "\"", "ctrl+b", "d")
	go func() {
		<-late.asked
		close(late.answer)
	}()
	d.m.saveOnExit()
	d.waitShape("(a|(b/(c|(bash-4/bash-5))))")
	d.waitSaved()
	again := drive(t, d.engine, 160, 40)
	again.waitShape("(a|(b/(c|(bash-4/bash-5))))")
}

// A slowEngine takes a second to save a layout.
type slowEngine struct{ *fakeEngine }

func (e *slowEngine) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	if name == api.LayoutChanges.Name {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return e.fakeEngine.Do(ctx, name, effect, in, out)
}

func TestDetachWaitsUntilLayoutIsSaved(t *testing.T) {
	d := threePanes(t)
	d.waitSaved()
	d.m.link.SetEngine(&slowEngine{d.engine})
	d.pressKeys("alt+left")
	puts := d.engine.layouts.Calls()
	synctest.Test(t, func(*testing.T) { d.m.saveOnExit() })
	if d.engine.layouts.Calls() != puts+1 {
		t.Error("the dashboard was left before its layout was kept")
	}
}

func TestDetachDoesNotWaitForHungStart(t *testing.T) {
	d := threePanes(t)
	d.m.link.SetEngine(&lateEngine{fakeEngine: d.engine, asked: make(chan struct{}, 1), op: api.SessionStart.Name})
	d.pressKeys("ctrl+b", "%", "ctrl+b", "d")
	d.m.saveOnExit()
	again := drive(t, d.engine, 160, 40)
	again.waitShape("(a|(b/c))")
}

func TestOpeningDashboardKeepsSavedLayout(t *testing.T) {
	d := threePanes(t)
	d.pressKeys("ctrl+b", "=")
	d.waitSaved()
	puts := d.engine.layouts.Calls()
	again := drive(t, d.engine, 160, 40)
	again.waitShape("(a|(b/c))")
	again.waitText("c-screen")
	if d.engine.layouts.Calls() != puts {
		t.Errorf("the layout was kept %d times more", d.engine.layouts.Calls()-puts)
	}
}

func TestRestoredLayoutGivesSpaceOfMissingSessionsToOthers(t *testing.T) {
	e := newFakeEngine()
	e.addSession("a", "a-screen")
	e.addSession("new", "new-screen")
	pane := func(id string) api.LayoutNode { return api.LayoutNode{ID: id} }
	a := pane(e.sessions[0].process.ID)
	e.layouts.Set(api.Layout{Current: 7, Tabs: []api.LayoutTab{
		{Nodes: []api.LayoutNode{pane("gone")}},
		{Nodes: []api.LayoutNode{{Axis: api.AxisBeside, Share: 100}, pane("gone"), {Axis: api.AxisBelow}, a, a}, Focus: 99},
	}})
	d := drive(t, e, 120, 36)
	d.waitShape("a new")
	d.waitText("a-screen")
}

func TestMouseChoosesLayout(t *testing.T) {
	d := threePanes(t)
	d.pressKeys("ctrl+b", "S", "'one", "enter")
	d.waitText("saved layout one")
	d.pressKeys("ctrl+b", "!", "ctrl+b", "S", "'two", "enter")
	d.waitText("saved layout two")
	d.pressKeys("ctrl+b", "space")
	d.waitText("Show the layout")
	inside := d.m.frame.box
	wheel := keys.Mouse{X: inside.X + 5, Y: inside.Y + 4, Button: keys.WheelDown, Kind: keys.MouseDown}
	d.sendMouse(wheel)
	if c, _ := d.m.dialog.open.(*dialog.Picker).List.Selected(); c.Text != "two" {
		t.Errorf("the wheel went to %s", c.Text)
	}
	d.nthSession(0).mouse = keys.MouseClick
	d.click(inside.X+5, inside.Y+3)
	d.waitShape("(a|(b/c))")
	d.click(inside.X+5, inside.Y+3) // the second press of a double click has no target
	d.pressKeys("ctrl+b", "space")
	d.waitText("Show the layout")
	d.click(0, inside.Y)
	if d.m.dialog.open != nil {
		t.Error("a click beside it did not close it")
	}
	if got := d.nthSession(0).mice; len(got) > 0 {
		t.Errorf("the program below got %v", got)
	}
}

func TestMouseChoosesTabToMovePaneTo(t *testing.T) {
	d := threePanes(t)
	d.pressKeys("ctrl+b", "!")
	d.waitShape("(a|b) c")
	d.pressKeys("ctrl+b", "m")
	d.waitText("Move the pane beside")
	d.click(d.m.frame.box.X+5, d.m.frame.box.Y+3)
	d.waitShape("(a|(b|c))")
}

func TestResizeKeyRepeatsWithoutPrefix(t *testing.T) { onFakeTime(t, repeatResizeKey) }

func repeatResizeKey(t *testing.T) {
	d := threePanes(t)
	share := func() int { return d.m.sessions.Tabs.Current.Root.A.Rect.W }
	before := share()
	d.pressKeys("ctrl+b", "L")
	d.pressKeys("L")
	d.pressKeys("ctrl+right", "x", "L")
	if got := share(); got != before+12 {
		t.Errorf("three keys moved the border by %d columns", got-before)
	}
	d.pressKeys("ctrl+b", "L")
	time.Sleep(time.Minute)
	d.pressKeys("L")
	d.waitTyped(d.nthSession(2), "xLL")
}

func TestSmallTerminalShowsOnlyFocusedPane(t *testing.T) {
	d := threePanes(t)
	before := d.m.sessions.Tabs.Current.Root.B.Rect
	d.update(tea.WindowSizeMsg{Width: 20, Height: 6})
	d.waitText("c-screen")
	rows := strings.Split(d.screenText(), "\n")
	if len(rows) != 6 {
		t.Errorf("%d rows are drawn", len(rows))
	}
	for _, row := range rows {
		if w := text.Width(row); w != 20 {
			t.Errorf("a row has %d cells: %q", w, row)
		}
	}
	d.pressKeys("'x", "ctrl+b", "s")
	d.waitText("sessions")
	d.pressKeys("ctrl+b", "o")
	d.waitText("a-screen")
	d.waitTyped(d.nthSession(2), "x")
	d.waitUntil("the pane has all the room", func() bool {
		d.engine.mu.Lock()
		defer d.engine.mu.Unlock()
		return d.engine.sessions[0].size == api.Size{Cols: 20, Rows: 5}
	})
	d.click(3, 0)
	d.update(tea.WindowSizeMsg{Width: 20, Height: 4})
	d.pressKeys("ctrl+b", "x")
	d.waitText("too small")
	d.pressKeys("esc")
	d.update(tea.WindowSizeMsg{Width: 45, Height: 14})
	d.pressKeys("ctrl+b", "x")
	d.waitText("Kill session a?")
	d.pressKeys("n", "ctrl+b", "alt+2")
	d.waitText("too small")
	d.pressKeys("alt+1")
	d.waitText("a-screen")
	d.update(tea.WindowSizeMsg{Width: 160, Height: 40})
	d.waitShape("(a|(b/c))")
	if after := d.m.sessions.Tabs.Current.Root.B.Rect; after != before {
		t.Errorf("the right half went from %v to %v", before, after)
	}
}

func TestSmallTerminalShowsOverlaysThatFit(t *testing.T) {
	needs.FullRun(t)
	d := threePanes(t)
	d.pressKeys("ctrl+b", "S", "'one", "enter")
	d.waitText("saved layout one")
	sizes := []tea.WindowSizeMsg{{Width: 20, Height: 4}, {Width: 20, Height: 6}, {Width: 30, Height: 9}, {Width: 45, Height: 14}, {Width: 59, Height: 40}, {Width: 200, Height: 5}}
	for _, key := range []string{"?", ":", "T", ",", "S", "space", "m", "r", "x", "P"} {
		d.pressKeys("ctrl+b", key)
		if key == "space" {
			d.waitText("Show the layout")
		}
		for _, size := range sizes {
			d.update(size)
			rows := strings.Split(d.screenText(), "\n")
			for _, row := range rows {
				if len(rows) != size.Height || text.Width(row) > size.Width {
					t.Fatalf("%s at %d×%d:\n%s", key, size.Width, size.Height, d.screenText())
				}
			}
		}
		d.update(tea.WindowSizeMsg{Width: 160, Height: 40})
		d.pressKeys("esc")
		if d.m.dialog.open != nil {
			t.Fatalf("%s is still open", key)
		}
	}
	d.pressKeys("ctrl+b", "[", "/")
	for _, size := range sizes {
		d.update(size)
		d.screenText()
	}
}

func TestIdleDashboardKeepsLayoutOfAnother(t *testing.T) { onFakeTime(t, keepLayoutOfAnother) }

func keepLayoutOfAnother(t *testing.T) {
	d := threePanes(t)
	d.pressKeys("ctrl+b", "=")
	d.waitSaved()
	other := drive(t, d.engine, 160, 40)
	other.waitShape("(a|(b/c))")
	d.pressKeys("ctrl+b", "%")
	d.waitShape("(a|(b/(c|bash-4)))")
	d.waitSaved()
	want, _ := d.engine.savedLayout()
	other.waitShape("(a|(b/(c|bash-4)))")
	other.update(tea.WindowSizeMsg{Width: 120, Height: 36})
	code := 0
	d.nthSession(1).exitWith(api.StateExited, &code)
	other.waitShape("(a|(c|bash-4))")
	d.waitShape("(a|(c|bash-4))")
	synctest.Wait()
	if now, _ := d.engine.savedLayout(); !cmp.Equal(now, want) {
		t.Error("it has its own layout kept")
	}
	again := drive(t, d.engine, 160, 40)
	again.waitShape("(a|(c|bash-4))")
}

func TestSessionIsShownOnRequest(t *testing.T) {
	e := newFakeEngine()
	for _, name := range []string{"a", "b", "c"} {
		e.addSession(name, name+"-screen")
	}
	d := drive(t, e, 160, 40)
	d.waitShape("a b c")
	d.engine.announce(showIn(d.nthSession(0), d.nthSession(1)))
	d.waitText("b-screen")
	d.waitSaved()
	d = drive(t, e, 160, 40)
	d.waitText("b-screen")
}

// showIn returns the event of a command in session s that asks to show another session.
func showIn(s, shown *fakeSession) api.Event {
	return api.Event{Type: api.EventShow, ID: s.process.ID, Show: shown.process.ID}
}

func TestSessionIsNotShownOnRequestElsewhere(t *testing.T) {
	for name, elsewhere := range map[string]func(d *driver) (session int){
		"another pane":   func(d *driver) int { return 1 },
		"the list":       func(d *driver) int { d.pressKeys("ctrl+b", "s"); return 0 },
		"another view":   func(d *driver) int { d.pressKeys("alt+2"); return 0 },
		"an open dialog": func(d *driver) int { d.pressKeys("ctrl+b", "x"); return 0 },
		"a coding agent": func(d *driver) int {
			d.nthSession(0).update(func(p *api.Process) { p.Agent = &api.CodingAgent{Name: "claude", State: api.AgentWorking} })
			return 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newFakeEngine()
			for _, name := range []string{"a", "b", "c"} {
				e.addSession(name, name+"-screen")
			}
			d := drive(t, e, 160, 40)
			d.waitShape("a b c")
			e.announce(showIn(d.nthSession(elsewhere(d)), d.nthSession(2)))
			e.announce(api.Event{Type: api.EventNotice, Notice: "the next event"})
			d.waitText("the next event")
			if id := d.m.sessions.Tabs.CurrentID(); id != d.nthSession(0).process.ID {
				t.Errorf("session %s is shown", id)
			}
		})
	}
}

func TestKeysTypedWhileLayoutsLoadReachOnlyTheirDialog(t *testing.T) {
	d := threePanes(t)
	d.pressAtOnce("ctrl+b", "space", "'rows", "enter")
	d.waitShape("(a/(b/c))")
	if got := d.nthSession(2).typedText(); got != "" {
		t.Errorf("%q went to the program", got)
	}
}

func TestEscCancelsRequestForLayouts(t *testing.T) {
	d := threePanes(t)
	late := delayStarts(d)
	late.op = api.LayoutGet.Name
	d.pressKeys("ctrl+b", "space", "'rows")
	<-late.asked
	d.pressKeys("esc", "'after")
	d.waitTyped(d.nthSession(2), "after")
	d.waitShape("(a|(b/c))")
	d.m.link.SetEngine(d.engine)
	d.pressKeys("ctrl+b", "space", "'rows", "enter")
	d.waitShape("(a/(b/c))")
}

func TestLayoutDialogOpensAfterReconnect(t *testing.T) {
	d := threePanes(t)
	next := d.loseEngine()
	d.pressKeys("ctrl+b", "space")
	d.waitText("; esc cancels")
	d.pressKeys("'rows", "enter")
	d.restoreEngine(next)
	d.waitShape("(a/(b/c))")
}

func TestClickBeforeDialogIsDrawnIsIgnored(t *testing.T) {
	d := threePanes(t)
	d.pressKeys("ctrl+b", "T")
	d.click(1, 1)
	if d.m.dialog.open == nil {
		t.Fatal("it is gone")
	}
	d.waitText("keep it")
	d.click(1, 1)
	if d.m.dialog.open != nil {
		t.Error("it is still there")
	}
}

func TestLastSessionKeyTogglesBetweenTwoTabs(t *testing.T) {
	e := newFakeEngine()
	for _, name := range []string{"a", "b", "c"} {
		e.addSession(name, name+"$ ")
	}
	d := drive(t, e, 120, 36)
	d.waitText("a$ ")
	d.pressKeys("ctrl+b", "n", "ctrl+b", "n", "ctrl+b", "b")
	d.waitText("b$ ")
	d.pressKeys("ctrl+b", "b")
	d.waitText("c$ ")
	d.pressKeys("alt+2", "ctrl+b", "b")
	d.waitText("b$ ")
	if d.m.sessions.FocusedPane() == nil {
		t.Error("the session has not the keyboard")
	}
}

func TestDigitFocusesNumberedPaneAndOtherKeysHideNumbers(t *testing.T) {
	d := threePanes(t)
	all := d.m.sessions.Tabs.Current.Root.Leaves(nil)
	d.focusLeaf(all[0])
	block := d.m.theme.look.Glyphs.Block
	numbers := func() {
		t.Helper()
		d.pressKeys("ctrl+b", "q")
		if got := strings.Count(d.screenText(), block+block+block+block+block+block); got < 3 {
			t.Fatalf("%d rows of numbers are shown", got)
		}
	}
	numbers()
	d.waitText("1–3 go to the pane")
	d.pressKeys("'3")
	if d.m.sessions.FocusedPane() != d.m.sessions.Panes.Pane(all[2].ID) || strings.Contains(d.screenText(), block) {
		t.Error("3 does not go to the third pane, or the numbers stay")
	}
	numbers()
	d.pressKeys("'x")
	if d.m.sessions.FocusedPane() != d.m.sessions.Panes.Pane(all[2].ID) || strings.Contains(d.screenText(), block) || d.nthSession(2).typedText() != "" {
		t.Error("another key does more than end the numbers")
	}
	numbers()
	d.pressKeys("ctrl+b", "o")
	if d.m.sessions.FocusedPane() != d.m.sessions.Panes.Pane(all[0].ID) || strings.Contains(d.screenText(), block) {
		t.Error("the prefix does not end them and wait for its key")
	}
	numbers()
	at := d.paneArea(all[1])
	d.click(at.X+1, at.Y+1)
	if d.m.sessions.FocusedPane() != d.m.sessions.Panes.Pane(all[1].ID) || strings.Contains(d.screenText(), block) {
		t.Error("a click does not end them and go to the pane")
	}
	d.pressKeys("ctrl+b", "z", "ctrl+b", "q")
	d.waitText("no other pane on the screen")
}

func TestCancellingAfterStartFinishedEndsSession(t *testing.T) {
	d := threePanes(t)
	late := delayStarts(d)
	d.pressKeys("ctrl+b", "%")
	<-late.asked
	d.pressKeys("ctrl+b", "x")
	close(late.answer)
	d.waitStarted(4)
	d.pressKeys("y")
	d.waitShape("(a|(b/c))")
}

// countWatchers returns how many dashboards are open.
func (e *fakeEngine) countWatchers() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.watchers)
}
