package project

import (
	"context"
	"slices"

	"tandem/engine/api"
)

// showLayout adds the file's layout to dashboards, if this run started one of its sessions, and saves
// it under the project's name.
func (r *Run) showLayout(ctx context.Context) {
	if len(r.File.Layout) == 0 {
		return
	}
	panes, begun := map[string]api.LayoutNode{}, false
	for _, s := range r.Plan.steps {
		if s.process.ID == "" {
			continue
		}
		panes[s.entry.Name] = api.LayoutNode{ID: s.process.ID, Name: s.process.Name}
		begun = begun || s.entry.Start.TTY && s.action != actionKeep && s.action != actionDone
	}
	layout := apiLayout(r.File.Layout, panes)
	if !begun || len(layout.Tabs) == 0 {
		return
	}
	if err := r.saveLayout(ctx, layout); err != nil {
		r.errs = append(r.errs, err)
	}
}

// saveLayout saves a layout by name, adds its tabs, and shows them where the user gave the command.
func (r *Run) saveLayout(ctx context.Context, layout api.Layout) error {
	if err := api.LayoutPut.Run(ctx, r.Conn, api.LayoutPutInput{Name: r.File.Name, Layout: layout}); err != nil {
		return err
	}
	first := layout.Tabs[0]
	in := api.LayoutChangeInput{Show: first.Nodes[first.Focus].ID, ShowIn: r.Session}
	for _, t := range layout.Tabs {
		in.Changes = append(in.Changes, api.LayoutChange{Do: api.LayoutArrange, Nodes: t.Nodes, Own: api.OwnEnd})
	}
	in.Changes = append(in.Changes, api.LayoutChange{Do: api.LayoutFocus, ID: in.Show})
	return api.LayoutChanges.Run(ctx, r.Conn, in)
}

// apiLayout converts the tabs of a file, with panes as the leaves. Sessions that were not started
// are left out.
func apiLayout(tabs []Pane, panes map[string]api.LayoutNode) (l api.Layout) {
	for _, tab := range tabs {
		if nodes := appendNodes(nil, tab, panes); len(nodes) > 0 {
			t := api.LayoutTab{Nodes: nodes}
			t.Focus = slices.IndexFunc(nodes, func(n api.LayoutNode) bool { return n.Axis == "" })
			l.Tabs = append(l.Tabs, t)
		}
	}
	return l
}

// appendNodes appends a pane in prefix order. A split of more than two panes becomes nested splits
// of two.
func appendNodes(nodes []api.LayoutNode, p Pane, panes map[string]api.LayoutNode) []api.LayoutNode {
	if len(p.Panes) == 0 {
		if leaf, ok := panes[p.Session]; ok {
			return append(nodes, leaf)
		}
		return nodes
	}
	var parts [][]api.LayoutNode
	var sizes []int
	total := 0
	for i, child := range p.Panes {
		if part := appendNodes(nil, child, panes); len(part) > 0 {
			size := 1
			if p.Sizes != nil {
				size = p.Sizes[i]
			}
			parts, sizes = append(parts, part), append(sizes, size)
			total += size
		}
	}
	axis := api.AxisBelow
	if p.Beside {
		axis = api.AxisBeside
	}
	for i, part := range parts {
		if i < len(parts)-1 {
			// A share is relative to this pane and those after it.
			nodes = append(nodes, api.LayoutNode{Axis: axis, Share: api.LayoutShare * sizes[i] / total})
			total -= sizes[i]
		}
		nodes = append(nodes, part...)
	}
	return nodes
}
