package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/tests/seed"
)

func TestWrittenLayoutIsRestored(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		root, leaves := grow(t, look.Rect{X: 0, Y: 0, W: 200, H: 60})
		name := func(id string) (string, bool) { return id, true }
		for i, l := range leaves {
			l.ID = string(rune('a' + i))
		}
		focus := leaves[rapid.IntRange(0, len(leaves)-1).Draw(t, "focus")]
		written := &Tab{Root: root, Focus: focus}
		kept, _ := written.writeTab(name)
		if err := (api.Layout{Tabs: []api.LayoutTab{kept}}).Check(); err != nil {
			t.Fatal(err)
		}
		again, focused := readTab(kept, func(i int) string { return kept.Nodes[i].ID })
		if focused.ID != focus.ID {
			t.Fatalf("the focus went from %s to %s", focus.ID, focused.ID)
		}
		keptAgain, _ := (&Tab{Root: again, Focus: focused}).writeTab(name)
		if diff := cmp.Diff(kept, keptAgain); diff != "" {
			t.Fatal(diff)
		}
		again.SetRects(look.Rect{X: 0, Y: 0, W: 200, H: 60})
	})
}

func TestApplyingLayoutWithFloatShowsNoRemovedTab(t *testing.T) {
	tabs := new(Tabs)
	tabs.SetCurrent(tabs.AddTab("a"))
	tabs.Float = NewTab("b")
	tabs.SetCurrent(tabs.Float)
	_, found := tabs.ApplyLayout(api.Layout{
		Tabs:  []api.LayoutTab{{Nodes: []api.LayoutNode{{ID: "gone", Name: "gone"}}}},
		Float: &api.LayoutTab{Nodes: []api.LayoutNode{{Axis: api.AxisBeside, Share: 5000}, {ID: "a", Name: "a"}, {ID: "b", Name: "b"}}, Focus: 1},
	}, []api.Process{{ID: "a", Kind: api.KindSession, State: api.StateRunning}, {ID: "b", Kind: api.KindSession, State: api.StateRunning}})
	if found != 2 {
		t.Fatalf("found %d sessions", found)
	}
	if tabs.Current != nil && tabs.IndexOf(tabs.Current) < 0 && !tabs.IsFloating() {
		t.Error("the tab shown has lost its panes to the floating one")
	}
}
