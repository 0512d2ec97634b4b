package ui

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/widget"
	"tandem/tests/needs"
	"tandem/ui/layout"
	"tandem/ui/overlay"
)

// fakeLayouts are what the fake engine keeps; its mutex guards them.
type fakeLayouts struct {
	current  *api.Layout
	revision int64
	saved    map[string]api.Layout
	puts     int
}

func (e *fakeEngine) getLayouts(context.Context, api.Empty) (out api.LayoutGetOutput, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(e.layouts.saved)) {
		out.Saved = append(out.Saved, api.SavedLayout{Name: name, Layout: e.layouts.saved[name]})
	}
	return out, nil
}

func (e *fakeEngine) putLayout(_ context.Context, in api.LayoutPutInput) (out api.LayoutPutOutput, err error) {
	if err := in.Layout.Check(); err != nil {
		return out, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.layouts
	l.puts++
	switch {
	case in.Name != "":
		l.saved[in.Name] = in.Layout
	case in.Revision != 0 && in.Revision != l.revision:
		return out, api.Errorf(api.CodeConflict, "another one was kept")
	default:
		l.current = &in.Layout
		l.revision++
		e.tell(api.Event{Type: api.EventKept, Layout: l.current, Revision: l.revision})
	}
	return api.LayoutPutOutput{Revision: l.revision}, nil
}

func (e *fakeEngine) removeLayout(_ context.Context, in api.LayoutRemoveInput) (api.Empty, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, kept := e.layouts.saved[in.Name]; !kept {
		return api.Empty{}, api.Errorf(api.CodeNotFound, "remove layout %q: there is none", in.Name)
	}
	delete(e.layouts.saved, in.Name)
	return api.Empty{}, nil
}

// shape writes the tabs down: sessions by name, "|" beside, "/" below.
func (d *driver) shape() string {
	var tabs []string
	for _, g := range d.m.sessions.tabs.All {
		tabs = append(tabs, d.treeShape(g.Root))
	}
	return strings.Join(tabs, " ")
}

func (d *driver) treeShape(n *layout.Node) string {
	if n.Pane != nil {
		p, _ := d.m.news.Process(n.Pane.ID)
		return p.Name
	}
	sign := "|"
	if n.Axis == layout.Below {
		sign = "/"
	}
	return "(" + d.treeShape(n.A) + sign + d.treeShape(n.B) + ")"
}

func (d *driver) hasShape(want string) {
	d.t.Helper()
	d.until("the layout is "+want, func() bool { return d.shape() == want })
}

// isKept waits until the engine has the layout that is shown.
func (d *driver) isKept() {
	d.t.Helper()
	d.until("the layout is kept", func() bool {
		d.engine.mu.Lock()
		defer d.engine.mu.Unlock()
		return d.engine.layouts.current != nil && cmp.Equal(*d.engine.layouts.current, d.m.sessions.keeper.writeLayout())
	})
}

// threePanes is a dashboard on sessions a, b and c, with b split off beside a
// and c below b.
func threePanes(t *testing.T) *driver {
	e := newFakeEngine()
	for _, name := range []string{"a", "b", "c"} {
		e.add(name, name+"-screen")
	}
	e.layouts.current = &api.Layout{Tabs: []api.LayoutTab{{Focus: 4, Nodes: []api.LayoutNode{
		{Axis: api.AxisBeside, Share: 3000}, {Name: "a"}, {Axis: api.AxisBelow, Share: 5000}, {Name: "b"}, {Name: "c"}}}}}
	d := drive(t, e, 160, 40)
	d.shows("c-screen")
	d.hasShape("(a|(b/c))")
	return d
}

func TestTheLayoutComesBackInTheNextDashboard(t *testing.T) {
	d := threePanes(t)
	if name := d.m.sessions.tabs.Current.Focus.Pane.ID; name != d.nth(2).process.ID {
		t.Errorf("the focus is on %s", name)
	}
	if share := d.m.sessions.tabs.Current.Root.Share; share != 3000 {
		t.Errorf("the left half has %d", share)
	}
	d.press("ctrl+b", "K", "ctrl+b", "}", "ctrl+b", "!")
	d.hasShape("(b/a) c")
	d.isKept()
	want := d.m.sessions.keeper.writeLayout()
	again := drive(t, d.engine, 160, 40)
	again.hasShape("(b/a) c")
	again.shows("c-screen")
	if diff := cmp.Diff(want, again.m.sessions.keeper.writeLayout()); diff != "" {
		t.Error(diff)
	}
}

func TestNextDashboardOpensWithTheFocusedPane(t *testing.T) {
	d := threePanes(t)
	d.isKept()
	d.press("alt+left")
	d.nth(1).typedBy("agent:helper/2.1") // news between the move and the end
	d.until("the news is there", func() bool { return d.m.news.Processes[1].Terminal.Typist != "" })
	d.m.keepLast()
	d.isKept()
	again := drive(t, d.engine, 160, 40)
	again.shows("a-screen")
	if name := again.m.sessions.tabs.Current.Focus.Pane.ID; name != d.nth(0).process.ID {
		t.Errorf("the focus is on %s, want a", name)
	}
}

// A lateEngine answers to a start when it is told to.
type lateEngine struct {
	*fakeEngine
	asked  chan struct{} // of 1
	answer chan struct{}
	op     string // that it answers late
}

func (e *lateEngine) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	if name == e.op {
		ring(e.asked)
		select {
		case <-e.answer:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return e.fakeEngine.Do(ctx, name, effect, in, out)
}

func TestSessionsThatWereAskedForWhenThePersonLeavesAreInTheLayout(t *testing.T) {
	d := threePanes(t)
	d.isKept()
	late := lately(d)
	d.press("ctrl+b", "%", "ctrl+b", "\"", "ctrl+b", "d")
	go func() {
		<-late.asked
		close(late.answer)
	}()
	d.m.sessions.starts.finishStarts(t.Context(), d.m.link.Start)
	d.hasShape("(a|(b/(c|(bash-4/bash-5))))")
	d.m.keepLast()
	d.isKept()
	again := drive(t, d.engine, 160, 40)
	again.hasShape("(a|(b/(c|(bash-4/bash-5))))")
}

// A slowEngine takes a second to keep a layout.
type slowEngine struct{ *fakeEngine }

func (e *slowEngine) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	if name == api.LayoutPut.Name {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return e.fakeEngine.Do(ctx, name, effect, in, out)
}

func TestLeavingWaitsUntilTheLayoutIsKept(t *testing.T) {
	d := threePanes(t)
	d.isKept()
	d.m.link.Set(&slowEngine{d.engine})
	d.m.sessions.keeper.kept = api.Layout{}
	puts := d.engine.layouts.puts
	synctest.Test(t, func(*testing.T) { d.m.keepLast() })
	if d.engine.layouts.puts != puts+1 {
		t.Error("the dashboard was left before its layout was kept")
	}
}

func TestLeavingDoesNotWaitForAStartThatIsNotAnswered(t *testing.T) {
	d := threePanes(t)
	d.m.link.Set(&lateEngine{fakeEngine: d.engine, asked: make(chan struct{}, 1), op: api.SessionStart.Name})
	d.press("ctrl+b", "%", "ctrl+b", "d")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.m.sessions.starts.finishStarts(ctx, d.m.link.Start)
	if d.m.keepLast(); len(d.m.sessions.keeper.writeLayout().Tabs[0].Nodes) != 5 {
		t.Error("the layout has a pane without a session")
	}
}

func TestOpeningADashboardChangesNoLayoutThatIsKept(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "=")
	d.isKept()
	puts := d.engine.layouts.puts
	again := drive(t, d.engine, 160, 40)
	again.hasShape("(a|(b/c))")
	again.shows("c-screen")
	if d.engine.layouts.puts != puts {
		t.Errorf("the layout was kept %d times more", d.engine.layouts.puts-puts)
	}
}

func TestHalvesOfSessionsThatAreGoneGoToTheOthers(t *testing.T) {
	e := newFakeEngine()
	e.add("a", "a-screen")
	e.add("new", "new-screen")
	pane := func(name string) api.LayoutNode { return api.LayoutNode{ID: name, Name: name} }
	e.layouts.current = &api.Layout{Current: 7, Tabs: []api.LayoutTab{
		{Nodes: []api.LayoutNode{pane("gone")}},
		{Nodes: []api.LayoutNode{{Axis: api.AxisBeside, Share: 100}, pane("gone"), {Axis: api.AxisBelow}, pane("a"), pane("a")}, Focus: 99},
	}}
	d := drive(t, e, 120, 36)
	d.hasShape("a new")
	d.shows("a-screen")
}

func TestPanesAreSwappedEqualisedAndMoved(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "{")
	d.hasShape("(a|(c/b))")
	d.press("ctrl+b", "=")
	if s := d.m.sessions.tabs.Current.Root.Share; s != layout.ShareUnit/2 {
		t.Errorf("the left half has %d", s)
	}
	d.press("ctrl+b", "!")
	d.hasShape("(a|b) c")
	d.press("ctrl+b", "m", "enter")
	d.hasShape("(a|(b|c))")
	d.press("ctrl+b", "=")
	if s := d.m.sessions.tabs.Current.Root.Share; s != layout.ShareUnit/3 {
		t.Errorf("one of three panes in a row has %d", s)
	}
	d.press("ctrl+b", "m")
	d.shows("no other tab")
}

func TestLayoutsAreSavedShownAndRemovedByName(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "S", "'work", "enter")
	d.shows("the layout is saved as work")
	d.press("ctrl+b", "!", "ctrl+b", "S", "'apart", "enter")
	d.shows("saved as apart")
	d.hasShape("(a|b) c")
	d.press("ctrl+b", "space")
	d.shows("Show the layout")
	d.press("'work", "enter")
	d.hasShape("(a|(b/c))")
	d.press("ctrl+b", "space")
	d.shows("enter show it   ↑ ↓ choose   delete remove it   esc close")
	d.press("'main left")
	d.lacks("delete remove it")
	d.shows("this one large, the others below each other")
	d.press("delete", "ctrl+u", "delete", "esc")
	d.until("one layout is left", func() bool {
		d.engine.mu.Lock()
		defer d.engine.mu.Unlock()
		return len(d.engine.layouts.saved) == 1
	})
}

func TestALayoutIsChosenWithTheMouse(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "S", "'one", "enter")
	d.shows("saved as one")
	d.press("ctrl+b", "!", "ctrl+b", "S", "'two", "enter")
	d.shows("saved as two")
	d.press("ctrl+b", "space")
	d.shows("Show the layout")
	inside := d.m.dialog.at
	wheel := keys.Mouse{X: inside.X + 5, Y: inside.Y + 4, Button: keys.WheelDown, Kind: keys.MouseDown}
	d.mouse(wheel)
	if c, _ := d.m.dialog.open.(*overlay.Picker).List.Selected(); c.Text != "two" {
		t.Errorf("the wheel went to %s", c.Text)
	}
	d.nth(0).mouse = keys.MouseClick
	d.click(inside.X+5, inside.Y+3)
	d.hasShape("(a|(b/c))")
	d.click(inside.X+5, inside.Y+3) // a double click's second press is for nobody
	d.press("ctrl+b", "space")
	d.shows("Show the layout")
	d.click(0, inside.Y)
	if d.m.dialog.open != nil {
		t.Error("a click beside it did not close it")
	}
	if got := d.nth(0).mice; len(got) > 0 {
		t.Errorf("the program below got %v", got)
	}
}

func TestAPaneIsMovedWithTheMouse(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "!")
	d.hasShape("(a|b) c")
	d.press("ctrl+b", "m")
	d.shows("Move the pane beside")
	d.click(d.m.dialog.at.X+5, d.m.dialog.at.Y+3)
	d.hasShape("(a|(b|c))")
}

func TestAPaneAloneHasNoLayoutToChoose(t *testing.T) {
	e := newFakeEngine()
	e.add("a", "a-screen")
	d := drive(t, e, 160, 40)
	d.shows("a-screen")
	d.press("ctrl+b", "space")
	d.shows("no layout is saved yet; ctrl+b S saves this one")
}

func TestPanesAreArrangedInUsualWays(t *testing.T) {
	d := threePanes(t)
	for _, c := range []struct{ name, want string }{
		{"columns", "(a|(b|c))"}, {"rows", "(a/(b/c))"}, {"main left", "(c|(a/b))"}, {"main above", "(c/(a|b))"}, {"tiles", "((c|a)/b)"},
	} {
		d.press("ctrl+b", "space")
		d.shows("Show the layout")
		d.press("'"+c.name, "enter")
		d.hasShape(c.want)
		if p := d.m.sessions.focused(); p.ID != d.nth(2).process.ID {
			t.Errorf("%s: the focus went to %s", c.name, p.ID)
		}
		for _, l := range d.m.sessions.tabs.Current.Root.Leaves(nil) {
			if g, at := d.m.sessions.tabs.Of(l.Pane); g != d.m.sessions.tabs.Current || at != l || l.Root() != d.m.sessions.tabs.Current.Root {
				t.Errorf("%s: the tree is not whole", c.name)
			}
		}
	}
	d.isKept()
}

func TestABorderIsMovedOnByItsKeyAlone(t *testing.T) {
	d := threePanes(t)
	share := func() int { return d.m.sessions.tabs.Current.Root.A.Rect.W }
	before := share()
	goOn := func(since time.Duration) { d.m.sessions.moves.pushed = time.Now().Add(-since) }
	d.press("ctrl+b", "L")
	goOn(-time.Hour)
	d.press("L")
	goOn(-time.Hour)
	d.press("ctrl+right", "x", "L")
	if got := share(); got != before+12 {
		t.Errorf("three keys moved the border by %d columns", got-before)
	}
	d.press("ctrl+b", "L")
	goOn(time.Minute)
	d.press("L")
	d.typedInto(d.nth(2), "xLL")
}

func TestBordersThatMeetAreJoined(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "space")
	d.shows("Show the layout")
	d.press("'rows", "enter")
	d.hasShape("(a/(b/c))")
	d.press("ctrl+b", "k", "ctrl+b", "k", "ctrl+b", "%")
	d.hasStarted(4)
	d.hasShape("((a|bash-4)/(b/c))")
	below := d.m.sessions.tabs.Current.Root.B
	wall := d.m.sessions.tabs.Current.Root.A.Border()
	at := func(x, y int) string { return string([]rune(strings.Split(d.screen(), "\n")[y])[x]) }
	if got := at(wall, d.leafAt(below).Y); got != "┴" {
		t.Errorf("the border ends in %s", got)
	}
	d.press("ctrl+b", "j", "ctrl+b", "%")
	d.hasStarted(5)
	d.hasShape("((a|bash-4)/((b|bash-5)/c))")
	if got := at(wall, d.leafAt(below).Y); got != "┼" {
		t.Errorf("two borders meet in %s", got)
	}
}

func TestTheNextPaneIsNeverTheList(t *testing.T) {
	d := threePanes(t)
	all := d.m.sessions.tabs.Current.Root.Leaves(nil)
	d.m.sessions.focusLeaf(all[0])
	for _, step := range []struct {
		key  string
		want int
	}{{"o", 1}, {"o", 2}, {"o", 0}, {"O", 2}, {"O", 1}} {
		d.press("ctrl+b", step.key)
		if d.m.sessions.listFocused || d.m.sessions.tabs.Current.Focus != all[step.want] {
			t.Errorf("%s goes elsewhere than to pane %d", step.key, step.want)
		}
	}
	d.press("ctrl+b", "s", "tab")
	if d.m.sessions.focused() == nil {
		t.Error("tab does not lead out of the list")
	}
}

func TestASmallTerminalShowsTheFocusedPaneAlone(t *testing.T) {
	d := threePanes(t)
	before := d.m.sessions.tabs.Current.Root.B.Rect
	d.update(tea.WindowSizeMsg{Width: 20, Height: 6})
	d.shows("c-screen")
	rows := strings.Split(d.screen(), "\n")
	if len(rows) != 6 {
		t.Errorf("%d rows are drawn", len(rows))
	}
	for _, row := range rows {
		if w := widget.Width(row); w != 20 {
			t.Errorf("a row has %d cells: %q", w, row)
		}
	}
	d.press("'x", "ctrl+b", "s")
	d.shows("sessions")
	d.press("ctrl+b", "o")
	d.shows("a-screen")
	d.typedInto(d.nth(2), "x")
	d.until("the pane has all the room", func() bool {
		d.engine.mu.Lock()
		defer d.engine.mu.Unlock()
		return d.engine.sessions[0].size == api.Size{Cols: 20, Rows: 5}
	})
	d.click(3, 0)
	d.update(tea.WindowSizeMsg{Width: 20, Height: 4})
	d.press("ctrl+b", "x")
	d.shows("too small")
	d.press("esc")
	d.update(tea.WindowSizeMsg{Width: 45, Height: 14})
	d.press("ctrl+b", "x")
	d.shows("End session a?")
	d.press("n", "ctrl+b", "2")
	d.shows("too small")
	d.press("alt+1")
	d.shows("a-screen")
	d.update(tea.WindowSizeMsg{Width: 160, Height: 40})
	d.hasShape("(a|(b/c))")
	if after := d.m.sessions.tabs.Current.Root.B.Rect; after != before {
		t.Errorf("the right half went from %v to %v", before, after)
	}
}

func TestOverlaysAreDrawnOnSmallTerminalsWhereTheyFit(t *testing.T) {
	needs.FullRun(t)
	d := threePanes(t)
	d.press("ctrl+b", "S", "'one", "enter")
	d.shows("saved as one")
	sizes := []tea.WindowSizeMsg{{Width: 20, Height: 4}, {Width: 20, Height: 6}, {Width: 30, Height: 9}, {Width: 45, Height: 14}, {Width: 59, Height: 40}, {Width: 200, Height: 5}}
	for _, key := range []string{"?", ":", "T", ",", "S", "space", "m", "r", "x", "P"} {
		d.press("ctrl+b", key)
		if key == "space" {
			d.shows("Show the layout")
		}
		for _, size := range sizes {
			d.update(size)
			rows := strings.Split(d.screen(), "\n")
			for _, row := range rows {
				if len(rows) != size.Height || widget.Width(row) > size.Width {
					t.Fatalf("%s at %d×%d:\n%s", key, size.Width, size.Height, d.screen())
				}
			}
		}
		d.update(tea.WindowSizeMsg{Width: 160, Height: 40})
		d.press("esc")
		if d.m.dialog.open != nil {
			t.Fatalf("%s is still open", key)
		}
	}
	d.press("ctrl+b", "[", "/")
	for _, size := range sizes {
		d.update(size)
		d.screen()
	}
}

func TestADashboardThatOnlyLooksOnKeepsTheLayoutOfAnother(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "=")
	d.isKept()
	other := drive(t, d.engine, 160, 40)
	other.hasShape("(a|(b/c))")
	d.press("ctrl+b", "%")
	d.hasShape("(a|(b/(c|bash-4)))")
	d.isKept()
	want := d.m.sessions.keeper.writeLayout()
	other.hasShape("(a|(b/(c|bash-4)))")
	other.update(tea.WindowSizeMsg{Width: 120, Height: 36})
	code := 0
	d.nth(1).end(api.StateExited, &code)
	other.hasShape("(a|(c|bash-4))")
	d.hasShape("(a|(c|bash-4))")
	if other.m.sessions.keeper.keeping || !cmp.Equal(*d.engine.layouts.current, want) {
		t.Error("it has its own layout kept")
	}
	again := drive(t, d.engine, 160, 40)
	again.hasShape("(a|(c|bash-4))")
}

func TestAClickOnATitleRowThatIsABorderFocusesItsPane(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "h")
	below := d.m.sessions.tabs.Current.Root.B.B
	d.click(d.leafAt(below).X+3, d.leafAt(below).Y)
	if d.m.sessions.focused() != below.Pane {
		t.Error("the pane below has no focus")
	}
	d.press("ctrl+b", "h")
	d.mouse(keys.Mouse{X: below.Rect.X + 3, Y: d.leafAt(below).Y, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	d.mouse(keys.Mouse{X: below.Rect.X + 3, Y: 9, Button: keys.ButtonLeft, Kind: keys.MouseMove})
	d.mouse(keys.Mouse{X: below.Rect.X + 3, Y: 9, Button: keys.ButtonLeft, Kind: keys.MouseUp})
	if d.m.sessions.focused() == below.Pane || d.leafAt(below).Y != 9 {
		t.Errorf("after a drag to 9 the border is at %d", d.leafAt(below).Y)
	}
}

func TestALayoutThatShallBeShownIsShownInOpenDashboards(t *testing.T) {
	e := newFakeEngine()
	e.add("a", "a-screen")
	e.add("b", "b-screen")
	d := drive(t, e, 160, 40)
	d.hasShape("a b")
	e.mu.Lock()
	e.tell(api.Event{Type: api.EventLayout, Layout: &api.Layout{Tabs: []api.LayoutTab{{Nodes: []api.LayoutNode{
		{Axis: api.AxisBelow, Share: 5000}, {Name: "b"}, {Name: "a"}}}}}})
	e.mu.Unlock()
	d.hasShape("(b/a)")
	d.shows("a-screen")
	d.shows("b-screen")
}

func TestWhatIsTypedForTheChoiceOfALayoutIsForNothingElse(t *testing.T) {
	d := threePanes(t)
	d.pressAtOnce("ctrl+b", "space", "'rows", "enter")
	d.hasShape("(a/(b/c))")
	if got := d.nth(2).input(); got != "" {
		t.Errorf("%q went to the program", got)
	}
}

func TestALayoutIsReplacedOnlyWhenThatIsWanted(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "S", "'work", "enter")
	d.shows("saved as work")
	old := len(d.saved("work").Tabs)
	d.press("ctrl+b", "!", "ctrl+b", "S", "'work", "enter")
	d.shows("Replace the layout work?")
	d.press("n")
	d.lacks("Replace")
	if got := len(d.saved("work").Tabs); got != old {
		t.Errorf("it has %d tabs", got)
	}
	d.press("ctrl+b", "S", "'work", "enter")
	d.shows("Replace the layout work?")
	d.press("y")
	d.until("it is replaced", func() bool { return len(d.saved("work").Tabs) == old+1 })
}

// saved is the layout that was saved under a name.
func (d *driver) saved(name string) api.Layout {
	d.engine.mu.Lock()
	defer d.engine.mu.Unlock()
	return d.engine.layouts.saved[name]
}

func TestEscTakesBackTheQuestionForLayouts(t *testing.T) {
	d := threePanes(t)
	late := lately(d)
	late.op = api.LayoutGet.Name
	d.press("ctrl+b", "space", "'rows")
	<-late.asked
	d.press("esc", "'after")
	d.typedInto(d.nth(2), "after")
	d.hasShape("(a|(b/c))")
	d.m.link.Set(d.engine)
	d.press("ctrl+b", "space", "'rows", "enter")
	d.hasShape("(a/(b/c))")
}

func TestLayoutsAskedForWhileTheEngineIsAwayAreChosenFromWhenItIsBack(t *testing.T) {
	d := threePanes(t)
	next := d.loseEngine()
	d.press("ctrl+b", "space")
	d.shows("; esc cancels")
	d.press("'rows", "enter")
	d.reachEngine(next)
	d.hasShape("(a/(b/c))")
}

func TestAClickThatIsBeforeTheChoiceIsDrawnIsNotForIt(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "T")
	d.click(1, 1)
	if d.m.dialog.open == nil {
		t.Fatal("it is gone")
	}
	d.shows("keep it")
	d.click(1, 1)
	if d.m.dialog.open != nil {
		t.Error("it is still there")
	}
}

func TestBackAndForthBetweenTheTwoPanesUsedLast(t *testing.T) {
	d := threePanes(t)
	all := d.m.sessions.tabs.Current.Root.Leaves(nil)
	d.m.sessions.focusLeaf(all[2])
	d.m.sessions.focusLeaf(all[0])
	for _, want := range []int{2, 0, 2} {
		d.press("ctrl+b", ";")
		if d.m.sessions.tabs.Current.Focus != all[want] {
			t.Fatalf("; does not go to pane %d", want)
		}
	}
	d.press("ctrl+b", "s", "ctrl+b", ";")
	if d.m.sessions.focused() != all[2].Pane {
		t.Error("; does not lead out of the list to the pane used last")
	}
	d.press("ctrl+b", "{", "ctrl+b", ";")
	if d.m.sessions.focused() != all[0].Pane {
		t.Error("a pane that was moved is not the one to go back to")
	}
}

func TestBackAndForthBetweenTheTwoTabsShownLast(t *testing.T) {
	e := newFakeEngine()
	for _, name := range []string{"a", "b", "c"} {
		e.add(name, name+"$ ")
	}
	d := drive(t, e, 120, 36)
	d.shows("a$ ")
	d.press("ctrl+b", "n", "ctrl+b", "n", "ctrl+b", "b")
	d.shows("b$ ")
	d.press("ctrl+b", "b")
	d.shows("c$ ")
	d.press("alt+2", "ctrl+b", "b")
	d.shows("b$ ")
	if d.m.sessions.focused() == nil {
		t.Error("the session has not the keyboard")
	}
}

func TestADigitGoesToTheNumberedPaneAndAnythingElseEndsTheNumbers(t *testing.T) {
	d := threePanes(t)
	all := d.m.sessions.tabs.Current.Root.Leaves(nil)
	d.m.sessions.focusLeaf(all[0])
	block := d.m.theme.look.Glyphs.Block
	numbers := func() {
		t.Helper()
		d.press("ctrl+b", "q")
		if got := strings.Count(d.screen(), block+block+block+block+block+block); got < 3 {
			t.Fatalf("%d rows of numbers are shown", got)
		}
	}
	numbers()
	d.shows("1–3 go to the pane")
	d.press("'3")
	if d.m.sessions.focused() != all[2].Pane || strings.Contains(d.screen(), block) {
		t.Error("3 does not go to the third pane, or the numbers stay")
	}
	numbers()
	d.press("'x")
	if d.m.sessions.focused() != all[2].Pane || strings.Contains(d.screen(), block) || d.nth(2).input() != "" {
		t.Error("another key does more than end the numbers")
	}
	numbers()
	d.press("ctrl+b", "o")
	if d.m.sessions.focused() != all[0].Pane || strings.Contains(d.screen(), block) {
		t.Error("the prefix does not end them and wait for its key")
	}
	numbers()
	at := d.area(all[1])
	d.click(at.X+1, at.Y+1)
	if d.m.sessions.focused() != all[1].Pane || strings.Contains(d.screen(), block) {
		t.Error("a click does not end them and go to the pane")
	}
	d.press("ctrl+b", "z", "ctrl+b", "q")
	d.shows("no other pane on the screen")
}
