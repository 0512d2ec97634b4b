package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
)

func TestRefocusKeepsMissingPanesAndTabs(t *testing.T) {
	pane := func(id string) api.LayoutNode { return api.LayoutNode{ID: id, Name: id} }
	split := api.LayoutNode{Axis: api.AxisBeside, Share: 5000}
	tab := func(focus int, nodes ...api.LayoutNode) api.LayoutTab {
		return api.LayoutTab{Nodes: nodes, Focus: focus}
	}
	wanted := api.Layout{Tabs: []api.LayoutTab{tab(0, pane("gone")), tab(1, split, pane("a"), split, pane("gone too"), pane("b"))}}
	renamed := api.LayoutNode{ID: "b", Name: "new name"}
	now := api.Layout{Tabs: []api.LayoutTab{tab(2, split, pane("a"), renamed), tab(0, pane("started"))}, Current: 1, Zoomed: true}
	want := api.Layout{Tabs: []api.LayoutTab{tab(0, pane("gone")), tab(4, split, pane("a"), split, pane("gone too"), renamed), tab(0, pane("started"))}, Current: 2, Zoomed: true}
	if got := Refocus(wanted, now); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if wanted.Tabs[1].Focus != 1 || wanted.Tabs[1].Nodes[4].Name != "b" {
		t.Errorf("it changed its argument to %+v", wanted)
	}
}
