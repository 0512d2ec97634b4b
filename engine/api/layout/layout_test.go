package layout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/tests/seed"
)

// shape describes a layout: sessions by id, "|" for beside, "/" for below, "~" before the floating tab,
// "*" after the session with the keyboard.
func shape(l api.Layout) string {
	var tabs []string
	for i, t := range l.AllTabs() {
		root, _ := readNode(t.Nodes)
		text := draw(root)
		if t.Name != "" {
			text = t.Name + ":" + text
		}
		switch {
		case i == len(l.Tabs):
			text = "~" + text
		case i == l.Current:
			text += "*"
		}
		tabs = append(tabs, text)
	}
	return strings.Join(tabs, " ")
}

func draw(n *node) string {
	switch n.Axis {
	case "":
		return n.ID
	case api.AxisBeside:
		return "(" + draw(n.first) + "|" + draw(n.second) + ")"
	}
	return "(" + draw(n.first) + "/" + draw(n.second) + ")"
}

// nodesOf reads the text written by draw. Ids of sessions have one letter.
func nodesOf(text string) (nodes []api.LayoutNode) {
	at := 0
	var read func()
	read = func() {
		if text[at] != '(' {
			nodes = append(nodes, api.LayoutNode{ID: text[at : at+1]})
			at++
			return
		}
		at++
		split := len(nodes)
		nodes = append(nodes, api.LayoutNode{Axis: api.AxisBeside, Share: 5000})
		read()
		if text[at] == '/' {
			nodes[split].Axis = api.AxisBelow
		}
		at++
		read()
		at++
	}
	read()
	return nodes
}

func layoutOf(text string) (l api.Layout) {
	for _, word := range strings.Fields(text) {
		if float, ok := strings.CutPrefix(word, "~"); ok {
			l.Float = &api.LayoutTab{Nodes: nodesOf(float)}
			continue
		}
		if bare, ok := strings.CutSuffix(word, "*"); ok {
			word, l.Current = bare, len(l.Tabs)
		}
		l.Tabs = append(l.Tabs, api.LayoutTab{Nodes: nodesOf(word)})
	}
	return l
}

func arrange(nodes, at string, own api.Own) api.LayoutChange {
	return api.LayoutChange{Do: api.LayoutArrange, Nodes: nodesOf(nodes), At: at, Own: own}
}

func TestApplyChangesTheLayout(t *testing.T) {
	for _, c := range []struct {
		what, before string
		change       api.LayoutChange
		want         string
	}{
		{"split", "a* b", arrange("(b/n)", "b", ""), "a* (b/n)"},
		{"split before a pane", "(a|b)*", arrange("(n/b)", "b", ""), "(a|(n/b))*"},
		{"the first session", "", arrange("n", "", api.OwnEnd), "n*"},
		{"a new tab before the floating one", "a* ~f", arrange("n", "", api.OwnEnd), "a* n ~f"},
		{"a session at the place of one without a pane", "a*", arrange("n", "gone", ""), "a* n"},
		{"join another tab", "(a|b) c*", arrange("(b/c)", "b", ""), "(a|(b/c))*"},
		{"break out", "(a|b)* c", arrange("a", "", api.OwnAfter), "b* a c"},
		{"break out of the floating tab", "a* ~f", arrange("f", "", api.OwnAfter), "a* f"},
		{"to the end", "(a|b)* c", arrange("a", "", api.OwnEnd), "b* c a"},
		{"to the end, where it is alone", "a* b", arrange("a", "", api.OwnEnd), "a* b"},
		{"float", "(a|b)* c", arrange("a", "", api.OwnFloat), "b* c ~a"},
		{"float in place of another", "a* b ~f", arrange("b", "", api.OwnFloat), "a* f ~b"},
		{"in place of a pane", "(a|b)*", arrange("n", "a", ""), "(n|b)*"},
		{"another arrangement", "(a|(b/c))* d", arrange("(a/(b/c))", "", ""), "(a/(b/c))* d"},
		{"an arrangement with panes of other tabs", "(a|b) (c|d)* e", arrange("(c/(a/e))", "", ""), "((c/(a/e))|b) d*"},
		{"an arrangement where most of it is", "(a|z) (b|c)*", arrange("(a|(b|c))", "", ""), "z (a|(b|c))*"},
		{"an arrangement in its own tab", "(a|b) c*", arrange("(a/c)", "", api.OwnEnd), "b (a/c)*"},
		{"swap", "(a|b) c*", api.LayoutChange{Do: api.LayoutSwap, ID: "a", Other: "c"}, "(c|b) a*"},
		{"swap again", "(c|b) a*", api.LayoutChange{Do: api.LayoutSwap, ID: "a", Other: "c"}, "(c|b) a*"},
		{"rename", "a* b", api.LayoutChange{Do: api.LayoutRename, ID: "b", Name: "x"}, "a* x:b"},
		{"rename a session without a pane", "a* ~f", api.LayoutChange{Do: api.LayoutRename, ID: "b", Name: "x"}, "a* x:b ~f"},
		{"close", "(a|b) c*", api.LayoutChange{Do: api.LayoutClose, ID: "a"}, "b c*"},
		{"close the shown tab", "a b* c", api.LayoutChange{Do: api.LayoutClose, ID: "b"}, "a c*"},
		{"close the floating tab", "a* ~f", api.LayoutChange{Do: api.LayoutClose, ID: "f"}, "a*"},
		{"close all", "a*", api.LayoutChange{Do: api.LayoutClose, ID: "a"}, ""},
		{"focus", "a* (b|c)", api.LayoutChange{Do: api.LayoutFocus, ID: "c"}, "a (b|c)*"},
		{"focus nothing", "a* b", api.LayoutChange{Do: api.LayoutFocus, ID: "n"}, "a* b"},
	} {
		if err := c.change.Check(); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if got := shape(Apply(layoutOf(c.before), c.change)); got != c.want {
			t.Errorf("%s: %q became %q, want %q", c.what, c.before, got, c.want)
		}
	}
}

func TestResizeMovesTheBorderBetweenTwoSessions(t *testing.T) {
	l := layoutOf("((a|b)/(c|d))*")
	for _, c := range []struct {
		id, other string
		at, share int // of the node whose share changes
	}{{"a", "d", 0, 3000}, {"d", "a", 0, 7000}, {"a", "b", 1, 3000}, {"d", "c", 4, 7000}} {
		got := Apply(l, api.LayoutChange{Do: api.LayoutResize, ID: c.id, Other: c.other, Share: 3000})
		want := layoutOf("((a|b)/(c|d))*")
		want.Tabs[0].Nodes[c.at].Share = c.share
		if diff := cmp.Diff(want.Tabs[0].Nodes, got.Tabs[0].Nodes); diff != "" {
			t.Errorf("%s beside %s: %s", c.id, c.other, diff)
		}
	}
}

func TestFocusSelectsTabAndPane(t *testing.T) {
	l := Apply(layoutOf("(a|b) c* ~f"), api.LayoutChange{Do: api.LayoutFocus, ID: "b", Zoomed: true})
	if l.Current != 0 || l.Tabs[0].Nodes[l.Tabs[0].Focus].ID != "b" || !l.Zoomed || l.Floats {
		t.Errorf("%+v", l)
	}
	l = Apply(l, api.LayoutChange{Do: api.LayoutFocus, ID: "f"})
	if l.Current != 0 || !l.Floats || l.Zoomed || l.Tabs[0].Focus != 2 {
		t.Errorf("with the floating tab: %+v", l)
	}
	if l = Apply(l, api.LayoutChange{Do: api.LayoutClose, ID: "f"}); l.Floats {
		t.Error("a tab floats that is gone")
	}
}

func TestHiddenSessionIsListedAgainWithAPane(t *testing.T) {
	l := Apply(layoutOf("a b"), api.LayoutChange{Do: api.LayoutClose, ID: "a", Hide: true})
	if !slices.Equal(l.Closed, []string{"a"}) || shape(l) != "b*" {
		t.Errorf("%+v", l)
	}
	if l = Apply(l, arrange("a", "", api.OwnEnd)); len(l.Closed) != 0 {
		t.Errorf("%+v", l)
	}
}

// randomChange returns a change of sessions a to h.
func randomChange(r *rand.Rand) api.LayoutChange {
	ids := r.Perm(8)
	id := func(i int) string { return string(rune('a' + ids[i])) }
	c := api.LayoutChange{
		Do: []api.LayoutAction{api.LayoutArrange, api.LayoutArrange, api.LayoutArrange, api.LayoutResize, api.LayoutSwap, api.LayoutRename, api.LayoutClose, api.LayoutFocus}[r.IntN(8)],
		ID: id(0), Other: id(1), Share: 1 + r.IntN(api.LayoutShare-1), Zoomed: r.IntN(2) == 0, Hide: r.IntN(2) == 0, Name: []string{"", "x", "y"}[r.IntN(3)],
	}
	if c.Do == api.LayoutArrange {
		text := id(0)
		for i := 1; i <= r.IntN(4); i++ {
			text = fmt.Sprintf("(%s%c%s)", text, "|/"[r.IntN(2)], id(i))
		}
		c.Nodes, c.At, c.Own = nodesOf(text), []string{"", id(0), id(7)}[r.IntN(3)], []api.Own{"", "", api.OwnEnd, api.OwnAfter, api.OwnFloat}[r.IntN(5)]
	}
	return c
}

func TestRandomChangesKeepTheLayoutWholeAndCanBeRepeated(t *testing.T) {
	r := seed.Rand(t)
	l := api.Layout{}
	for i := range 5_000 {
		c := randomChange(r)
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		before := shape(l)
		l = Apply(l, c)
		if err := l.Check(); err != nil {
			t.Fatalf("step %d: %+v of %s: %v", i, c, before, err)
		}
		var all []string
		for _, tab := range l.AllTabs() {
			all = append(all, Sessions(tab.Nodes)...)
			if n := tab.Nodes[tab.Focus]; n.Axis != "" {
				t.Fatalf("step %d: %+v of %s focuses a split", i, c, before)
			}
		}
		slices.Sort(all)
		if n := len(all); len(slices.Compact(all)) != n {
			t.Fatalf("step %d: %+v of %s: a session has two panes: %s", i, c, before, shape(l))
		}
		if again := Apply(l, c); !cmp.Equal(again, l) {
			t.Fatalf("step %d: %+v of %s: %s, and repeated %s", i, c, before, shape(l), shape(again))
		}
	}
}

func BenchmarkApplyToATabForEachOfAThousandSessions(b *testing.B) {
	l := api.Layout{}
	for i := range 1000 {
		l.Tabs = append(l.Tabs, api.LayoutTab{Nodes: []api.LayoutNode{{ID: fmt.Sprint(i)}}})
	}
	for b.Loop() {
		Apply(l, api.LayoutChange{Do: api.LayoutFocus, ID: "500"})
	}
}
