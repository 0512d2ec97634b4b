package project

import (
	"context"
	"errors"
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

// saveLayout saves a layout by name, shows it where the user gave the command, and adds it to the
// layout for the next dashboard.
func (r *Run) saveLayout(ctx context.Context, layout api.Layout) error {
	if _, err := api.LayoutPut.Call(ctx, r.Conn, api.LayoutPutInput{Name: r.File.Name, Layout: layout, ShowIn: r.Session}); err != nil {
		return err
	}
	for try := 1; ; try++ {
		now, err := api.LayoutGet.Call(ctx, r.Conn, api.Empty{})
		if err != nil {
			return err
		}
		// A dashboard may save its layout in between; the revision detects that.
		_, err = api.LayoutPut.Call(ctx, r.Conn, api.LayoutPutInput{Layout: prependTabs(now.Current, layout), Revision: now.Revision})
		if try == maxPuts || !errors.Is(err, api.CodeConflict) {
			return err
		}
	}
}

// maxPuts is how many times saveLayout tries to save a layout while a dashboard keeps changing it.
const maxPuts = 10

// prependTabs returns layout followed by the tabs of old. A tab of old is dropped if one of its
// sessions is in layout.
func prependTabs(old *api.Layout, layout api.Layout) api.Layout {
	out := api.Layout{Tabs: slices.Clone(layout.Tabs)}
	if old == nil {
		return out
	}
	taken := map[string]bool{}
	for _, t := range layout.Tabs {
		for _, n := range t.Nodes {
			taken[n.ID] = true
		}
	}
	for _, t := range old.Tabs {
		if !slices.ContainsFunc(t.Nodes, func(n api.LayoutNode) bool { return n.ID != "" && taken[n.ID] }) && len(out.Tabs) < api.MaxTabs {
			out.Tabs = append(out.Tabs, t)
		}
	}
	return out
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
