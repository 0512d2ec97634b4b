package tmux

import (
	"context"
	"errors"
	"slices"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/cells"
	"tandem/ui/cli/tmux/server"
)

// A tree is a tab of the dashboard as splits.
type tree struct {
	api.LayoutNode
	first, second *tree
}

// readTree reads the tree that a list of nodes begins with, and gives what follows it.
func readTree(nodes []api.LayoutNode) (*tree, []api.LayoutNode) {
	t := &tree{LayoutNode: nodes[0]}
	rest := nodes[1:]
	if t.Axis != "" {
		t.first, rest = readTree(rest)
		t.second, rest = readTree(rest)
	}
	return t, rest
}

func (t *tree) write(nodes []api.LayoutNode) []api.LayoutNode {
	nodes = append(nodes, t.LayoutNode)
	if t.Axis != "" {
		nodes = t.second.write(t.first.write(nodes))
	}
	return nodes
}

// replace puts a tree in the place of the first pane that is one of ids, and takes out the others;
// nil if nothing is left.
func (t *tree) replace(ids []string, with **tree) *tree {
	if t.Axis == "" {
		if !slices.Contains(ids, t.ID) {
			return t
		}
		put := *with
		*with = nil
		return put
	}
	t.first, t.second = t.first.replace(ids, with), t.second.replace(ids, with)
	switch {
	case t.first == nil:
		return t.second
	case t.second == nil:
		return t.first
	}
	return t
}

// treeOf returns a window's layout as splits of the dashboard.
func treeOf(c *call, w *server.Window, cell *cells.Cell) *tree {
	if cell.Kind == cells.Leaf {
		id := w.PaneByID(cell.Pane).Terminal
		return &tree{LayoutNode: api.LayoutNode{ID: id, Name: c.known()[id].Name}}
	}
	return groupOf(c, w, cell.Kind, cell.Children)
}

func groupOf(c *call, w *server.Window, axis cells.Kind, children []*cells.Cell) *tree {
	if len(children) == 1 {
		return treeOf(c, w, children[0])
	}
	size := func(cell *cells.Cell) int {
		begin, end := cell.Span(axis)
		return end - begin
	}
	total := len(children) - 1
	for _, child := range children {
		total += size(child)
	}
	return &tree{
		LayoutNode: api.LayoutNode{Axis: string(axis), Share: min(size(children[0])*api.LayoutShare/max(total, 1), api.LayoutShare)},
		first:      treeOf(c, w, children[0]), second: groupOf(c, w, axis, children[1:]),
	}
}

// arrange lays out in the dashboard what was changed.
func (c *call) arrange() error {
	if len(c.changed) == 0 && len(c.closed) == 0 {
		return nil
	}
	changed, closed, apart, swapped := c.changed, c.closed, c.apart, c.swapped
	c.changed, c.closed, c.apart, c.swapped = nil, nil, nil, nil
	return layOut(c, func(l *api.Layout) {
		for _, pair := range swapped {
			exchange(l, pair)
		}
		takeOut(l, closed)
		takeOut(l, apart)
		l.Closed = append(l.Closed, closed...)
		l.Closed = l.Closed[max(len(l.Closed)-api.MaxClosed, 0):]
		for _, w := range changed {
			if len(w.Panes) > 0 {
				at := putWindow(c, l, w)
				if c.shell != nil {
					l.Current = at
				}
			}
		}
	}, false)
}

// show has open dashboards show a window.
func (c *call) show(w *server.Window) error {
	return layOut(c, func(l *api.Layout) { l.Current = putWindow(c, l, w) }, true)
}

// layOut changes the layout that dashboards have, anew if another one was kept meanwhile. What may
// not lay out the person's dashboard does without.
func layOut(c *call, change func(*api.Layout), show bool) error {
	for range 20 {
		kept, err := ask(c, api.LayoutGet, api.Empty{})
		if err != nil {
			return ignoreForbidden(err)
		}
		var l api.Layout
		if kept.Current != nil {
			l = *kept.Current
		}
		change(&l)
		l.Current = max(min(l.Current, len(l.Tabs)-1), 0)
		_, err = ask(c, api.LayoutPut, api.LayoutPutInput{Layout: l, Revision: kept.Revision, Show: show})
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

// putWindow puts a window into the tab that has most of it, or one of its own, and returns which.
func putWindow(c *call, l *api.Layout, w *server.Window) int {
	var ids []string
	for _, p := range w.Panes {
		ids = append(ids, p.Terminal)
	}
	tab, most := -1, 0
	for i, t := range l.Tabs {
		n := 0
		for _, id := range ids {
			if leafAt(t, id) >= 0 {
				n++
			}
		}
		if n > most {
			tab, most = i, n
		}
	}
	own := treeOf(c, w, w.Layout)
	if tab < 0 {
		takeOut(l, ids)
		l.Tabs = append(l.Tabs, api.LayoutTab{Nodes: own.write(nil)})
	} else {
		changeTabs(l, func(i int, t api.LayoutTab) *api.LayoutTab {
			if i == tab {
				return without(t, ids, own)
			}
			return without(t, ids, nil)
		})
	}
	active := w.ActivePane().Terminal
	tab = slices.IndexFunc(l.Tabs, func(t api.LayoutTab) bool { return leafAt(t, active) >= 0 })
	l.Tabs[tab].Focus = leafAt(l.Tabs[tab], active)
	return tab
}

// leafAt returns where a tab has a session among its nodes; -1 if it has not.
func leafAt(t api.LayoutTab, id string) int {
	return slices.IndexFunc(t.Nodes, func(n api.LayoutNode) bool { return n.Axis == "" && n.ID == id })
}

// exchange puts each of two sessions where the other is.
func exchange(l *api.Layout, pair [2]string) {
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

// takeOut takes sessions out of all tabs and out of what floats.
func takeOut(l *api.Layout, ids []string) {
	changeTabs(l, func(_ int, t api.LayoutTab) *api.LayoutTab { return without(t, ids, nil) })
}

// changeTabs replaces each tab, -1 being what floats, by what change returns; nil takes it out.
func changeTabs(l *api.Layout, change func(i int, t api.LayoutTab) *api.LayoutTab) {
	var tabs []api.LayoutTab
	current := l.Current
	for i, t := range l.Tabs {
		switch changed := change(i, t); {
		case changed != nil:
			tabs = append(tabs, *changed)
		case i < l.Current:
			current--
		}
	}
	l.Tabs, l.Current = tabs, current
	if l.Float != nil {
		l.Float = change(-1, *l.Float)
		l.Floats = l.Floats && l.Float != nil
	}
}

// without returns a tab without some sessions, and with a tree in the place of the first of them
// unless that is nil. It returns nil if nothing is left.
func without(t api.LayoutTab, ids []string, with *tree) *api.LayoutTab {
	if !slices.ContainsFunc(ids, func(id string) bool { return leafAt(t, id) >= 0 }) {
		return &t
	}
	var focused string
	if t.Focus < len(t.Nodes) {
		focused = t.Nodes[t.Focus].ID
	}
	whole, _ := readTree(t.Nodes)
	left := whole.replace(ids, &with)
	if left == nil {
		return nil
	}
	t.Nodes = left.write(nil)
	t.Focus = max(leafAt(t, focused), 0)
	return &t
}
