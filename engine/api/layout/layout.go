// Package layout applies changes to a layout. The engine applies them to the layout it stores. Each
// dashboard applies its own changes at once, and others when the engine announces them.
package layout

import (
	"slices"

	"tandem/engine/api"
)

// A node of a tab's tree is a split into two nodes, or the pane of a session.
type node struct {
	api.LayoutNode
	first, second *node // nil for a pane
}

// A tab has a name and a tree.
type tab struct {
	name  string
	root  *node
	focus string // the session with the keyboard
}

// A tree is a layout as trees.
type tree struct {
	tabs    []*tab // the floating one last
	float   *tab   // nil if there is none
	current *tab
	floats  bool
	zoomed  bool
	closed  []string
}

// Apply returns the layout after the changes. If the layout is invalid, it counts as empty. Valid
// changes lead to a valid layout, but may exceed its limits.
func Apply(l api.Layout, changes ...api.LayoutChange) api.Layout {
	if len(changes) == 0 {
		return l
	}
	t := read(l)
	for _, c := range changes {
		t.apply(c)
	}
	return t.write()
}

// Sessions returns the sessions of nodes.
func Sessions(nodes []api.LayoutNode) (ids []string) {
	for _, n := range nodes {
		if n.Axis == "" {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

func read(l api.Layout) *tree {
	t := &tree{}
	if l.Check() != nil {
		return t
	}
	t.floats, t.zoomed, t.closed = l.Floats, l.Zoomed, slices.Clone(l.Closed)
	for i, kept := range l.AllTabs() {
		root, _ := readNode(kept.Nodes)
		read := &tab{name: kept.Name, root: root}
		if kept.Focus >= 0 && kept.Focus < len(kept.Nodes) {
			read.focus = kept.Nodes[kept.Focus].ID
		}
		t.tabs = append(t.tabs, read)
		switch i {
		case len(l.Tabs):
			t.float = read
		case l.Current:
			t.current = read
		}
	}
	return t
}

// readNode reads the tree at the start of nodes. rest are the nodes after it.
func readNode(nodes []api.LayoutNode) (n *node, rest []api.LayoutNode) {
	n, rest = &node{LayoutNode: nodes[0]}, nodes[1:]
	if n.Axis != "" {
		n.first, rest = readNode(rest)
		n.second, rest = readNode(rest)
	}
	return n, rest
}

func (t *tree) write() (l api.Layout) {
	l.Closed, l.Floats, l.Zoomed = t.closed, t.floats && t.float != nil, t.zoomed
	for _, one := range t.tabs {
		written := api.LayoutTab{Name: one.name, Nodes: one.root.write(nil)}
		written.Focus = max(slices.IndexFunc(written.Nodes, func(n api.LayoutNode) bool { return n.Axis == "" && n.ID == one.focus }),
			slices.IndexFunc(written.Nodes, func(n api.LayoutNode) bool { return n.Axis == "" }))
		if one == t.float {
			l.Float = &written
			continue
		}
		if one == t.current {
			l.Current = len(l.Tabs)
		}
		l.Tabs = append(l.Tabs, written)
	}
	return l
}

func (n *node) write(nodes []api.LayoutNode) []api.LayoutNode {
	nodes = append(nodes, n.LayoutNode)
	if n.Axis != "" {
		nodes = n.second.write(n.first.write(nodes))
	}
	return nodes
}

func (t *tree) apply(c api.LayoutChange) {
	in, pane := t.find(c.ID)
	_, other := t.find(c.Other)
	switch c.Do {
	case api.LayoutArrange:
		t.arrange(c)
	case api.LayoutClose:
		t.remove([]string{c.ID}, nil)
		if c.Hide && !slices.Contains(t.closed, c.ID) {
			t.closed = append(t.closed, c.ID)
			t.closed = t.closed[max(len(t.closed)-api.MaxClosed, 0):]
		}
	case api.LayoutResize:
		if in != nil {
			in.root.resize(c)
		}
	case api.LayoutRename:
		if in == nil {
			in = &tab{root: &node{LayoutNode: api.LayoutNode{ID: c.ID}}}
			t.insert(len(t.tabs), in)
		}
		in.name = c.Name
	case api.LayoutSwap:
		// Swap only if the pane of c.ID comes first, so that the second of two equal calls does not
		// undo the first.
		if pane != nil && other != nil && t.isBefore(c.ID, c.Other) {
			pane.LayoutNode, other.LayoutNode = other.LayoutNode, pane.LayoutNode
		}
	case api.LayoutFocus:
		if in == nil {
			return
		}
		in.focus, t.zoomed, t.floats = c.ID, c.Zoomed, in == t.float
		if in != t.float {
			t.current = in
		}
	}
}

// find returns the tab and the pane of a session. Both are nil if it has no pane.
func (t *tree) find(id string) (*tab, *node) {
	for _, one := range t.tabs {
		if pane := one.root.find(id); pane != nil {
			return one, pane
		}
	}
	return nil, nil
}

func (n *node) find(id string) *node {
	if n.Axis == "" {
		if n.ID != id || id == "" {
			return nil
		}
		return n
	}
	if found := n.first.find(id); found != nil {
		return found
	}
	return n.second.find(id)
}

// isBefore reports whether the pane of session a comes before the pane of session b.
func (t *tree) isBefore(a, b string) bool {
	for _, one := range t.tabs {
		for _, id := range Sessions(one.root.write(nil)) {
			if id == a || id == b {
				return id == a
			}
		}
	}
	return false
}

// resize sets the share of the half with session c.ID, in the split between it and c.Other.
func (n *node) resize(c api.LayoutChange) {
	for n.Axis != "" {
		inFirst := n.first.find(c.ID) != nil
		switch {
		case inFirst && n.second.find(c.Other) != nil:
			n.Share = c.Share
			return
		case !inFirst && n.first.find(c.Other) != nil:
			n.Share = api.LayoutShare - c.Share
			return
		case inFirst:
			n = n.first
		default:
			n = n.second
		}
	}
}

// arrange moves sessions to one place, or to a tab of their own.
func (t *tree) arrange(c api.LayoutChange) {
	ids := Sessions(c.Nodes)
	t.closed = slices.DeleteFunc(t.closed, func(id string) bool { return slices.Contains(ids, id) })
	moved, _ := readNode(c.Nodes)
	if c.Own != "" {
		t.arrangeTab(c, ids, moved)
		return
	}
	in, _ := t.find(c.At)
	at := c.At
	if in == nil {
		in, at = t.placeOf(ids)
	}
	if in == nil {
		in = &tab{root: moved}
		t.insert(len(t.tabs), in)
	} else {
		in.root = in.root.replace(at, ids, moved)
	}
	t.remove(ids, in)
}

// placeOf returns the tab that has most of the sessions in ids, and the first of them there.
func (t *tree) placeOf(ids []string) (in *tab, at string) {
	most := 0
	for _, one := range t.tabs {
		there := Sessions(one.root.write(nil))
		known := slices.DeleteFunc(there, func(id string) bool { return !slices.Contains(ids, id) })
		if len(known) > most {
			in, at, most = one, known[0], len(known)
		}
	}
	return in, at
}

// arrangeTab moves sessions to a tab of their own. A tab with exactly these sessions keeps its
// place.
func (t *tree) arrangeTab(c api.LayoutChange, ids []string, moved *node) {
	from, _ := t.find(ids[0])
	float := c.Own == api.OwnFloat
	if from == nil || float != (from == t.float) || !sameSessions(Sessions(from.root.write(nil)), ids) {
		own := &tab{}
		at := len(t.tabs)
		if c.Own == api.OwnAfter && from != nil && from != t.float {
			at = slices.Index(t.tabs, from) + 1
		}
		t.insert(at, own)
		if float {
			t.float = own
			t.tabs = append(slices.DeleteFunc(t.tabs, func(one *tab) bool { return one == own }), own)
		}
		from = own
	}
	from.root = moved
	if c.Name != "" {
		from.name = c.Name
	}
	t.remove(ids, from)
}

func sameSessions(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(id string) bool { return !slices.Contains(b, id) })
}

// insert adds an ordinary tab at an index. The floating tab stays last.
func (t *tree) insert(at int, added *tab) {
	if t.float != nil {
		at = min(at, len(t.tabs)-1)
	}
	t.tabs = slices.Insert(t.tabs, at, added)
}

// replace puts the tree moved in place of session at, and removes the other sessions in ids.
func (n *node) replace(at string, ids []string, moved *node) *node {
	if n.Axis == "" {
		switch {
		case n.ID == at:
			return moved
		case slices.Contains(ids, n.ID):
			return nil
		}
		return n
	}
	n.first, n.second = n.first.replace(at, ids, moved), n.second.replace(at, ids, moved)
	switch {
	case n.first == nil:
		return n.second
	case n.second == nil:
		return n.first
	}
	return n
}

// remove removes the panes of sessions from all tabs except one, and tabs that become empty.
func (t *tree) remove(ids []string, except *tab) {
	at := slices.Index(t.tabs, t.current)
	t.tabs = slices.DeleteFunc(t.tabs, func(one *tab) bool {
		if one == except {
			return false
		}
		one.root = one.root.replace("", ids, nil)
		if one.root == nil && one == t.float {
			t.float = nil
		}
		return one.root == nil
	})
	// If the current tab is gone, the next one is shown.
	if !slices.Contains(t.tabs, t.current) && len(t.tabs) > 0 {
		t.current = t.tabs[max(min(at, len(t.tabs)-1), 0)]
	}
}
