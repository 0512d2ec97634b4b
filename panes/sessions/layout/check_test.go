package layout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/api"
	engine "tandem/engine/api/layout"
	"tandem/panes/kit/look"
	"tandem/tests/seed"
)

// drawSession draws the id of one of a few sessions.
func drawSession(t *rapid.T) string {
	return string(rune('a' + rapid.IntRange(0, 6).Draw(t, "session")))
}

// drawChange picks a random change of the layout that a dashboard showing tab could make.
func drawChange(t *rapid.T, tab *Tab) api.LayoutChange {
	id, at := drawSession(t), tab.Focus.ID
	c := api.LayoutChange{Do: api.LayoutArrange, ID: at, Other: id, At: at, Nodes: []api.LayoutNode{{ID: id}}}
	switch rapid.SampledFrom([]string{"split", "split", "close", "own", "swap", "place", "reshape", "resize"}).Draw(t, "change") {
	case "split":
		if id != at {
			c.Nodes = tab.Focus.SplitWith(rapid.SampledFrom([]Axis{Beside, Below}).Draw(t, "axis"), id)
		}
	case "close":
		c.Do = api.LayoutClose
	case "own":
		c.Own = rapid.SampledFrom([]api.Own{api.OwnEnd, api.OwnAfter, api.OwnFloat}).Draw(t, "own")
	case "swap":
		c.Do = api.LayoutSwap
	case "place":
		tab.Focus.PushBorder(Direction(rapid.IntRange(0, 3).Draw(t, "direction")), rapid.IntRange(1, 30).Draw(t, "by"))
		c.Nodes = tab.Root.Nodes()
	case "reshape":
		tab.Root.EqualizeShares()
		if a := rapid.SampledFrom(Arrangements()).Draw(t, "arrangement"); !tab.Root.IsLeaf() {
			c.Nodes = tab.Rearrange(a).Nodes()
		}
	case "resize":
		c.Do, c.Share = api.LayoutResize, rapid.IntRange(1, ShareUnit-1).Draw(t, "share")
	}
	return c
}

func TestTabsKeepInvariantsUnderAnyChange(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		tabs, gone := new(Tabs), map[string]bool{}
		l := engine.Apply(api.Layout{}, api.LayoutChange{Do: api.LayoutArrange, Nodes: []api.LayoutNode{{ID: "a"}}})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if every := tabs.EveryTab(); len(every) > 0 {
				tab := every[rapid.IntRange(0, len(every)-1).Draw(t, "tab")]
				leaves := tab.Root.Leaves(nil)
				leaf := leaves[rapid.IntRange(0, len(leaves)-1).Draw(t, "leaf")]
				switch rapid.SampledFrom([]string{"show", "focus", "exit", "change", "change", "change"}).Draw(t, "step") {
				case "show":
					tabs.Show(tab, leaf)
				case "focus":
					tabs.SetFocus(tab, leaf)
				case "exit":
					gone[leaf.ID] = true
				case "change":
					l = engine.Apply(l, drawChange(t, tab))
				}
			} else {
				l, gone = engine.Apply(l, api.LayoutChange{Do: api.LayoutArrange, Nodes: []api.LayoutNode{{ID: "a"}}}), map[string]bool{}
			}
			focused := tabs.CurrentID()
			tabs.Update(l, func(id string) bool { return !gone[id] })
			if tabs.Update(l, func(id string) bool { return !gone[id] }) {
				t.Fatal("the same layout changes something")
			}
			if tab, leaf := tabs.FindSession(focused); tab != nil && (tabs.Current != tab || tab.Focus != leaf) {
				t.Fatalf("the focus went from %s to %s", focused, tabs.CurrentID())
			}
			if tabs.Current == nil && len(tabs.All) > 0 {
				tabs.Show(tabs.All[0], tabs.All[0].Focus)
			}
			Check(tabs)
			var shown, want []string
			for _, leaf := range tabs.Leaves() {
				shown = append(shown, leaf.ID)
			}
			for _, tab := range l.AllTabs() {
				want = append(want, slices.DeleteFunc(engine.Sessions(tab.Nodes), func(id string) bool { return gone[id] })...)
			}
			if !slices.Equal(shown, want) {
				t.Fatalf("shown are %q of %q", shown, want)
			}
			for _, tab := range tabs.EveryTab() {
				tab.Root.SetRects(look.Rect{W: rapid.IntRange(0, 120).Draw(t, "w"), H: rapid.IntRange(0, 40).Draw(t, "h")})
			}
		}
	})
}
