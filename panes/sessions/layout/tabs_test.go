package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	engine "tandem/engine/api/layout"
	"tandem/panes/kit/look"
)

// layoutOf returns a layout with a tab for each word of text, in the notation of nodesOf. A word
// with "~" before it is the floating tab.
func layoutOf(text string) (l api.Layout) {
	for _, word := range strings.Fields(text) {
		if float, ok := strings.CutPrefix(word, "~"); ok {
			l.Float = &api.LayoutTab{Nodes: nodesOf(float)}
			continue
		}
		l.Tabs = append(l.Tabs, api.LayoutTab{Nodes: nodesOf(word)})
	}
	return l
}

// shown returns tabs that show a layout.
func shown(l api.Layout) *Tabs {
	tabs := new(Tabs)
	tabs.Update(l, hasAll)
	for _, tab := range tabs.EveryTab() {
		tab.Root.SetRects(look.Rect{W: 81, H: 20})
	}
	return tabs
}

func hasAll(string) bool { return true }

func without(ids string) func(string) bool {
	return func(id string) bool { return !strings.Contains(ids, id) }
}

// shape describes tabs as layoutOf reads them, with a "*" after the session with the keyboard.
func shape(t *Tabs) string {
	var draw func(n *Node, focus *Node) string
	draw = func(n, focus *Node) string {
		switch {
		case n == focus:
			return n.ID + "*"
		case n.IsLeaf():
			return n.ID
		}
		return "(" + draw(n.A, focus) + map[Axis]string{Beside: "|", Below: "/"}[n.Axis] + draw(n.B, focus) + ")"
	}
	var words []string
	for _, tab := range t.EveryTab() {
		var focus *Node
		if tab == t.Current {
			focus = tab.Focus
		}
		word := draw(tab.Root, focus)
		if tab == t.Float {
			word = "~" + word
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestUpdateKeepsShownTabAndFocus(t *testing.T) {
	for _, c := range []struct {
		what, before, focus string
		after, gone, want   string
	}{
		{"a split elsewhere", "(a|b) c", "a", "(a|b) (c/d)", "", "(a*|b) (c/d)"},
		{"a pane that moves to another tab", "(a|b) c", "b", "a (c/b)", "", "a (c/b*)"},
		{"a neighbour that leaves", "(a|b) c", "b", "b a c", "", "b* a c"},
		{"an exit beside it", "((a/c)|(b/d))", "b", "((a/c)|(b/d))", "d", "((a/c)|b*)"},
		{"the exit of the focused pane", "((a/c)|(b/d))", "a", "((a/c)|(b/d))", "a", "(c*|(b/d))"},
		{"the focused pane is closed", "((a/c)|(b/d))", "d", "((a/c)|b)", "", "((a/c)|b*)"},
		{"the tab is gone", "a b c", "b", "a b c", "b", "a c"},
		{"the floating tab is gone", "a b ~f", "f", "a b ~f", "f", "a* b"},
		{"only the floating tab is left", "a ~f", "f", "a ~f", "a", "f*"},
		{"the floating pane becomes a tab", "a ~f", "f", "a f", "", "a f*"},
		{"a shown tab floats", "a b", "b", "a ~b", "", "a ~b*"},
	} {
		tabs := shown(layoutOf(c.before))
		tabs.Show(tabs.All[0], tabs.All[0].Focus)
		tabs.Show(tabs.FindSession(c.focus))
		if !tabs.Update(layoutOf(c.after), without(c.gone)) {
			t.Errorf("%s: nothing has changed", c.what)
		}
		if got := shape(tabs); got != c.want {
			t.Errorf("%s: %q with %s focused became %q, want %q", c.what, c.before, c.focus, got, c.want)
		}
	}
}

func TestUpdateReplacesOnlyTabsWithOtherPanes(t *testing.T) {
	tabs := shown(layoutOf("(a|b) c"))
	split, other := tabs.All[0].Root, tabs.All[1]
	l := engine.Apply(layoutOf("(a|b) c"), api.LayoutChange{Do: api.LayoutResize, ID: "a", Other: "b", Share: 2500},
		api.LayoutChange{Do: api.LayoutRename, ID: "a", Name: "x"}, api.LayoutChange{Do: api.LayoutArrange, Nodes: nodesOf("(c|d)"), At: "c"})
	if !tabs.Update(l, hasAll) || tabs.All[0].Root != split || split.Share != 2500 || tabs.All[0].Name != "x" || tabs.All[1] == other {
		t.Errorf("%q, split %+v", shape(tabs), split)
	}
	if tabs.Update(l, hasAll) {
		t.Error("the same layout changes something")
	}
}

func TestTabOpensWithTheFocusOfTheLayout(t *testing.T) {
	l := layoutOf("(a|b)")
	l.Tabs[0].Focus = 2
	if tabs := shown(l); tabs.All[0].Focus.ID != "b" {
		t.Errorf("the focus is on %s", tabs.All[0].Focus.ID)
	}
}

func TestResolveFindsSessionsByIDThenByName(t *testing.T) {
	node := func(id, name string) api.LayoutNode { return api.LayoutNode{ID: id, Name: name} }
	split := api.LayoutNode{Axis: api.AxisBeside, Share: 5000}
	session := func(id, name string) api.Process {
		return api.Process{ID: id, Name: name, Kind: api.KindSession, State: api.StateRunning}
	}
	saved := api.Layout{Current: 2, Zoomed: true, Tabs: []api.LayoutTab{
		{Nodes: []api.LayoutNode{node("old", "gone")}},
		{Nodes: []api.LayoutNode{split, node("old", "web"), node("w", "web")}, Focus: 2, Name: "x"},
		{Nodes: []api.LayoutNode{split, node("box/old", "db"), node("far/1", "y")}, Focus: 1},
	}}
	got := Resolve(saved, []api.Process{session("w", "web"), session("new", "web"), session("other", "db"), session("box/d", "db")},
		func(id string) bool { return id == "far/1" })
	want := api.Layout{Current: 1, Zoomed: true, Tabs: []api.LayoutTab{
		{Nodes: []api.LayoutNode{split, node("new", "web"), node("w", "web")}, Focus: 2, Name: "x"},
		{Nodes: []api.LayoutNode{split, node("box/d", "db"), node("far/1", "y")}, Focus: 1},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if saved.Tabs[1].Nodes[1].ID != "old" {
		t.Error("it changed its argument")
	}
}
