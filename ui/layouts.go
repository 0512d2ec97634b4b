package ui

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/panes/terminal"
	"tandem/panes/widget"
)

// layouts is what the dashboard keeps of its layout beside the groups that it
// is made of.
type layouts struct {
	restored  bool       // the one that was kept has been brought back
	changed   bool       // the groups may not be as they were kept
	kept      api.Layout // what the engine has
	revision  int64      // its number, or that of what it was made from
	keeping   bool       // it is being told
	behind    bool       // another dashboard's was kept first, and is to be followed
	asks      int        // how often it was asked which ones were saved, to be chosen from
	asked     int        // the one of them that is waited for; 0 for none
	snapshots int        // taken in

	pushed time.Time // when a key moved a border last, if no other key came since
}

// writeLayout writes the groups down, and what was put away. Panes whose session
// is not there yet, and those of sessions that have ended, have no place in it.
func (m *model) writeLayout() api.Layout {
	l := api.Layout{Closed: m.writeClosed()}
	for _, g := range m.groups {
		nodes, focus := m.writeNode(nil, g.root, g.focus)
		if len(nodes) == 0 {
			continue
		}
		if g == m.current {
			l.Current = len(l.Tabs)
		}
		l.Tabs = append(l.Tabs, api.LayoutTab{Nodes: nodes, Focus: max(focus, 0)})
	}
	return l
}

// writeClosed are the newest of the ended sessions that were put away and would
// be listed else, by id.
func (m *model) writeClosed() (ids []string) {
	for i := len(m.news.Processes) - 1; i >= 0 && len(ids) < api.MostClosed; i-- {
		if p := &m.news.Processes[i]; m.closed[p.ID] && p.Kind == api.KindSession && widget.Failed(p) {
			ids = append(ids, p.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// layoutToKeep is the layout as the next dashboard begins with it; ok is false if
// there is nothing to keep. When all sessions have ended it is how they lay last.
func (m *model) layoutToKeep() (l api.Layout, ok bool) {
	l = m.writeLayout()
	if len(l.Tabs) == 0 {
		l.Tabs, l.Current = m.layouts.kept.Tabs, m.layouts.kept.Current
	}
	return l, len(l.Tabs) > 0 || len(l.Closed) > 0
}

// writeNode appends a subtree in reading order, and tells where the leaf to
// focus is; -1 if it is not among them.
func (m *model) writeNode(nodes []api.LayoutNode, n, focus *node) ([]api.LayoutNode, int) {
	if n.pane != nil {
		if n.pane.ID == "" || n.pane.Ended() != nil || n.pane.Err() != nil {
			return nodes, -1
		}
		p, _ := m.process(n.pane.ID)
		if n == focus {
			return append(nodes, api.LayoutNode{ID: n.pane.ID, Name: p.Name}), len(nodes)
		}
		return append(nodes, api.LayoutNode{ID: n.pane.ID, Name: p.Name}), -1
	}
	split := api.LayoutNode{Axis: api.AxisBeside, Share: n.share}
	if n.axis == below {
		split.Axis = api.AxisBelow
	}
	first, at := m.writeNode(nil, n.a, focus)
	second, then := m.writeNode(nil, n.b, focus)
	start := len(nodes)
	switch {
	case len(first) == 0 && len(second) == 0:
		return nodes, -1
	case len(first) == 0:
		return append(nodes, second...), shifted(then, start)
	case len(second) == 0:
		return append(nodes, first...), shifted(at, start)
	}
	nodes = append(append(append(nodes, split), first...), second...)
	if at >= 0 {
		return nodes, at + start + 1
	}
	return nodes, shifted(then, start+1+len(first))
}

func shifted(at, by int) int {
	if at < 0 {
		return at
	}
	return at + by
}

// readTab makes the tree of a tab. take gives the pane of node i, or nil if its
// session is not there: then its half goes to the other one.
func readTab(t api.LayoutTab, take func(i int) *terminal.Terminal) (root, focus *node) {
	at := 0
	var read func() *node
	read = func() *node {
		if at >= len(t.Nodes) {
			return nil
		}
		here := at
		n := t.Nodes[at]
		at++
		if n.Axis == "" {
			p := take(here)
			if p == nil {
				return nil
			}
			leaf := leafOf(p)
			if here == t.Focus {
				focus = leaf
			}
			return leaf
		}
		a, b := read(), read()
		if a == nil || b == nil {
			if a == nil {
				return b
			}
			return a
		}
		split := &node{axis: beside, share: min(max(n.Share, 1), shareUnit-1), a: a, b: b}
		if n.Axis == api.AxisBelow {
			split.axis = below
		}
		a.parent, b.parent = split, split
		return split
	}
	root = read()
	if root != nil && focus == nil {
		focus = root.leaves(nil)[0]
	}
	return root, focus
}

// A seeker finds the sessions that a layout names: by id, or else by a name
// that no other pane of it goes by. None is found twice.
type seeker struct {
	live map[string]string // ids with names
	used map[string]bool
}

func (m *model) newSeeker() *seeker {
	s := &seeker{live: map[string]string{}, used: map[string]bool{}}
	for _, p := range m.news.Processes {
		if p.Kind == api.KindSession && !p.State.Ended() {
			s.live[p.ID] = p.Name
		}
	}
	return s
}

// find is the id of the session of a pane, "" if it is not there.
func (s *seeker) find(n api.LayoutNode, byID bool) string {
	if byID {
		if _, ok := s.live[n.ID]; ok && !s.used[n.ID] {
			s.used[n.ID] = true
			return n.ID
		}
		return ""
	}
	for id, name := range s.live {
		if name == n.Name && n.Name != "" && !s.used[id] {
			s.used[id] = true
			return id
		}
	}
	return ""
}

// resolve gives the session of every pane of a layout, by tab and node.
func (s *seeker) resolve(l api.Layout) map[[2]int]string {
	found := map[[2]int]string{}
	for _, byID := range []bool{true, false} {
		for i, t := range l.Tabs {
			for j, n := range t.Nodes {
				at := [2]int{i, j}
				if n.Axis == "" && found[at] == "" {
					found[at] = s.find(n, byID)
				}
			}
		}
	}
	return found
}

// restoreLayout brings back the layout that was kept, once the first sessions
// are known.
func (m *model) restoreLayout() {
	if m.layouts.restored || !m.news.Connected {
		return
	}
	m.layouts.restored = true
	m.layouts.revision, m.layouts.snapshots = m.news.Revision, m.news.Snapshots
	if l := m.news.Layout; l != nil {
		m.layouts.kept = *l
		for _, id := range l.Closed {
			m.closed[id] = true
		}
		m.arrange(*l)
	}
}

// arrange lays sessions out as l says; those that it does not name stay as they
// are. It returns the group to show and how many sessions it has found.
func (m *model) arrange(l api.Layout) (show *group, found int) {
	if l.Check() != nil {
		return nil, 0
	}
	return m.lay(l, m.newSeeker().resolve(l))
}

// lay is arrange with the sessions of the panes, by tab and node.
func (m *model) lay(l api.Layout, ids map[[2]int]string) (show *group, found int) {
	for i, t := range l.Tabs {
		root, focus := readTab(t, func(j int) *terminal.Terminal {
			id := ids[[2]int{i, j}]
			if id == "" {
				return nil
			}
			found++
			return m.takeOut(id)
		})
		if root == nil {
			continue
		}
		g := &group{root: root, focus: focus}
		m.groups = append(m.groups, g)
		if show == nil || i == l.Current {
			show = g
		}
	}
	return show, found
}

// takeOut is the pane of a session, taken out of the group it is in.
func (m *model) takeOut(id string) *terminal.Terminal {
	g, l := m.find(id)
	if g == nil {
		return terminal.NewTerminal(id)
	}
	p := l.pane
	m.detach(g, l)
	return p
}

// detach takes a leaf out of its group, and the group away with its last one.
// The pane keeps its attachment.
func (m *model) detach(g *group, l *node) {
	root, focus := l.remove()
	if root != nil {
		g.root = root
		if g.focus == l {
			g.focus = focus
		}
		return
	}
	m.groups = slices.DeleteFunc(m.groups, func(other *group) bool { return other == g })
	if m.current == g {
		m.current = nil
	}
}

// showLayout lays sessions out as l says and shows it.
func (m *model) showLayout(l api.Layout) (found int) {
	g, found := m.arrange(l)
	if g == nil && m.current == nil && len(m.groups) > 0 {
		g = m.groups[0]
	}
	m.zoomed = false
	if g != nil {
		m.show(g, nil)
	} else {
		m.relayout()
	}
	m.refreshList()
	return found
}

// openingGroup is what the dashboard begins with: what was shown last.
func (m *model) openingGroup() *group {
	l := m.layouts.kept
	if l.Current < len(l.Tabs) {
		for _, n := range l.Tabs[l.Current].Nodes {
			if g, _ := m.find(n.ID); g != nil {
				return g
			}
		}
	}
	return m.groups[0]
}
