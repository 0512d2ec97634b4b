// A window of the server is a tab of the dashboard, and both can be changed: commands arrange panes,
// and the user moves sessions between tabs, adds others or closes some. The dashboard's layout is
// therefore never generated from the server's state. It is read, changed for the windows touched by
// this call, and stored. A window goes into the tab already showing most of its panes, at the
// position of the first; everything else in the tab stays as the user left it.
//
// Layouts carry a revision. If someone stored another one in between, the change is applied to that
// one again, so neither side's work is lost.

package tmux

import (
	"context"
	"errors"
	"slices"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/cells"
	"tandem/ui/cli/tmux/server"
)

// A tree is a tab of the dashboard as a binary tree of splits. The API transfers it as a list of
// nodes in preorder.
type tree struct {
	api.LayoutNode
	first, second *tree
}

// readTree reads the tree at the start of nodes and returns the remaining nodes.
func readTree(nodes []api.LayoutNode) (*tree, []api.LayoutNode) {
	t := &tree{LayoutNode: nodes[0]}
	rest := nodes[1:]
	if t.Axis != "" {
		t.first, rest = readTree(rest)
		t.second, rest = readTree(rest)
	}
	return t, rest
}

func (t *tree) appendNodes(nodes []api.LayoutNode) []api.LayoutNode {
	nodes = append(nodes, t.LayoutNode)
	if t.Axis != "" {
		nodes = t.second.appendNodes(t.first.appendNodes(nodes))
	}
	return nodes
}

// replaceLeaves replaces the first leaf in ids by replacement, removes the others in ids, and returns
// the new tree; nil if nothing is left.
func (t *tree) replaceLeaves(ids []string, replacement **tree) *tree {
	if t.Axis == "" {
		if !slices.Contains(ids, t.ID) {
			return t
		}
		node := *replacement
		*replacement = nil // only the first leaf is replaced
		return node
	}
	t.first, t.second = t.first.replaceLeaves(ids, replacement), t.second.replaceLeaves(ids, replacement)
	switch {
	case t.first == nil:
		return t.second
	case t.second == nil:
		return t.first
	}
	return t
}

// A dashboard collects what a call changes about the dashboard.
type dashboard struct {
	engine   *engine
	changed  []*server.Window // windows to update
	removed  []string         // ids of the engine's sessions to close
	movedOut []string         // ids of those to take out of their tab
	swapped  [][2]string      // ids of those to swap
	command  []string         // command line to run as the dashboard at the end; nil if none
}

// markChanged schedules w for an update.
func (d *dashboard) markChanged(w *server.Window) {
	if !slices.Contains(d.changed, w) {
		d.changed = append(d.changed, w)
	}
}

// windowTree converts a cell of w's layout to splits of the dashboard.
func (d *dashboard) windowTree(w *server.Window, cell *cells.Cell) *tree {
	if cell.Kind == cells.Leaf {
		id := w.PaneByID(cell.Pane).Terminal
		return &tree{LayoutNode: api.LayoutNode{ID: id, Name: d.engine.knownProcesses()[id].Name}}
	}
	return d.groupTree(w, cell.Kind, cell.Children)
}

func (d *dashboard) groupTree(w *server.Window, axis cells.Kind, children []*cells.Cell) *tree {
	if len(children) == 1 {
		return d.windowTree(w, children[0])
	}
	size := func(cell *cells.Cell) int {
		begin, end := cell.Span(axis)
		return end - begin
	}
	// Splits are binary: divide the first child from the group of all others.
	total := len(children) - 1
	for _, child := range children {
		total += size(child)
	}
	return &tree{
		LayoutNode: api.LayoutNode{Axis: string(axis), Share: min(size(children[0])*api.LayoutShare/max(total, 1), api.LayoutShare)},
		first:      d.windowTree(w, children[0]), second: d.groupTree(w, axis, children[1:]),
	}
}

// update applies the changes of this call to the layout of the dashboard.
func (d *dashboard) update() error {
	if len(d.changed) == 0 && len(d.removed) == 0 {
		return nil
	}
	changed, closed, apart, swapped := d.changed, d.removed, d.movedOut, d.swapped
	d.changed, d.removed, d.movedOut, d.swapped = nil, nil, nil, nil
	return d.changeLayout(func(l *api.Layout) {
		// Swap first, while both sessions are still in their tabs.
		for _, pair := range swapped {
			swapSessions(l, pair)
		}
		removeFromTabs(l, closed)
		removeFromTabs(l, apart)
		l.Closed = append(l.Closed, closed...)
		l.Closed = l.Closed[max(len(l.Closed)-api.MaxClosed, 0):]
		for _, w := range changed {
			if len(w.Panes) > 0 {
				at := d.putWindow(l, w)
				if d.command != nil {
					l.Current = at
				}
			}
		}
	}, "")
}

// show switches the dashboards with the keyboard in a session to w.
func (d *dashboard) show(w *server.Window, session string) error {
	return d.changeLayout(func(l *api.Layout) { l.Current = d.putWindow(l, w) }, session)
}

// changeLayout applies change to the stored layout of the dashboard. It retries if someone else
// stored one in between, so change may run several times. Callers forbidden to change the user's
// layout skip it without an error. showIn is that of [api.LayoutPutInput].
func (d *dashboard) changeLayout(change func(*api.Layout), showIn string) error {
	for range 20 {
		stored, err := callEngine(d.engine, api.LayoutGet, api.Empty{})
		if err != nil {
			return ignoreForbidden(err)
		}
		var l api.Layout
		if stored.Current != nil {
			l = *stored.Current
		}
		change(&l)
		l.Current = max(min(l.Current, len(l.Tabs)-1), 0)
		_, err = callEngine(d.engine, api.LayoutPut, api.LayoutPutInput{Layout: l, Revision: stored.Revision, ShowIn: showIn})
		if !errors.Is(err, api.CodeConflict) {
			return ignoreForbidden(err)
		}
	}
	return context.DeadlineExceeded
}

func ignoreForbidden(err error) error {
	if errors.Is(err, api.CodeForbidden) {
		return nil
	}
	return err
}

// putWindow places w in the tab containing most of its panes, or in a new one, and returns the index
// of the tab.
func (d *dashboard) putWindow(l *api.Layout, w *server.Window) int {
	var ids []string
	for _, p := range w.Panes {
		ids = append(ids, p.Terminal)
	}
	tab, maxShared := -1, 0
	for i, t := range l.Tabs {
		n := 0
		for _, id := range ids {
			if leafIndex(t, id) >= 0 {
				n++
			}
		}
		if n > maxShared {
			tab, maxShared = i, n
		}
	}
	root := d.windowTree(w, w.Layout)
	if tab < 0 {
		removeFromTabs(l, ids)
		l.Tabs = append(l.Tabs, api.LayoutTab{Nodes: root.appendNodes(nil)})
	} else {
		changeTabs(l, func(i int, t api.LayoutTab) *api.LayoutTab {
			if i == tab {
				return replaceInTab(t, ids, root)
			}
			return replaceInTab(t, ids, nil)
		})
	}
	// Emptied tabs are gone and have shifted the index, so search again.
	active := w.ActivePane().Terminal
	tab = slices.IndexFunc(l.Tabs, func(t api.LayoutTab) bool { return leafIndex(t, active) >= 0 })
	l.Tabs[tab].Focus = leafIndex(l.Tabs[tab], active)
	return tab
}

// leafIndex returns the index of a session among the nodes of t, or -1.
func leafIndex(t api.LayoutTab, id string) int {
	return slices.IndexFunc(t.Nodes, func(n api.LayoutNode) bool { return n.Axis == "" && n.ID == id })
}

// swapSessions swaps the positions of two sessions; it does nothing unless both are in a tab.
func swapSessions(l *api.Layout, pair [2]string) {
	var found []*api.LayoutNode
	for _, t := range l.Tabs {
		for i := range t.Nodes {
			if n := &t.Nodes[i]; n.Axis == "" && slices.Contains(pair[:], n.ID) {
				found = append(found, n)
			}
		}
	}
	if len(found) == 2 {
		a, b := found[0], found[1]
		a.ID, a.Name, b.ID, b.Name = b.ID, b.Name, a.ID, a.Name
	}
}

// removeFromTabs removes sessions from all tabs and from the floating one.
func removeFromTabs(l *api.Layout, ids []string) {
	changeTabs(l, func(_ int, t api.LayoutTab) *api.LayoutTab { return replaceInTab(t, ids, nil) })
}

// changeTabs replaces each tab by the result of change; nil removes the tab. The floating tab has
// index -1.
func changeTabs(l *api.Layout, change func(i int, t api.LayoutTab) *api.LayoutTab) {
	var tabs []api.LayoutTab
	current := l.Current
	for i, t := range l.Tabs {
		switch changed := change(i, t); {
		case changed != nil:
			tabs = append(tabs, *changed)
		case i < l.Current: // one tab less before the current one
			current--
		}
	}
	l.Tabs, l.Current = tabs, current
	if l.Float != nil {
		l.Float = change(-1, *l.Float)
		l.Floats = l.Floats && l.Float != nil
	}
}

// replaceInTab returns t without the sessions in ids. A non-nil replacement takes the position of the
// first of them. It returns nil if nothing is left.
func replaceInTab(t api.LayoutTab, ids []string, replacement *tree) *api.LayoutTab {
	if !slices.ContainsFunc(ids, func(id string) bool { return leafIndex(t, id) >= 0 }) {
		return &t
	}
	// The indexes of nodes change, so the focus is kept by session.
	var focused string
	if t.Focus < len(t.Nodes) {
		focused = t.Nodes[t.Focus].ID
	}
	whole, _ := readTree(t.Nodes)
	left := whole.replaceLeaves(ids, &replacement)
	if left == nil {
		return nil
	}
	t.Nodes = left.appendNodes(nil)
	t.Focus = max(leafIndex(t, focused), 0)
	return &t
}
