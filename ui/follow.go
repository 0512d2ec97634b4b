package ui

import (
	"slices"

	"tandem/engine/api"
	"tandem/panes/terminal"
)

// pumpFollow takes over the layout that another dashboard has had kept since this
// one's was. Not while the mouse moves a border, and not before it is known what
// became of this one's own.
func (m *model) pumpFollow() {
	l := &m.layouts
	if m.news.Snapshots != l.snapshots { // of another engine, maybe, that knows of less
		l.snapshots, l.behind = m.news.Snapshots, false
		l.revision = min(l.revision, m.news.Revision)
	}
	if !m.opened || l.keeping || m.dragged != nil || m.news.Layout == nil || m.news.Revision <= l.revision {
		return
	}
	l.revision, l.behind = m.news.Revision, false
	changed := l.changed
	m.follow(*m.news.Layout)
	if l.changed = changed; !changed {
		l.kept, _ = m.layoutToKeep()
	}
}

// follow lays the sessions out as another dashboard has them, and puts away what
// was put away there. Which tab is shown here, and which pane has the keyboard,
// stays; so does what the other one does not know of, beside what it is beside.
func (m *model) follow(l api.Layout) {
	m.followClosed(l.Closed)
	if l.Check() != nil || sameTabs(l.Tabs, m.writeLayout().Tabs) {
		return
	}
	focused := m.currentPane()
	before := slices.Clone(m.groups)
	shown := map[*terminal.Terminal]uint64{}
	for _, g := range before {
		for _, leaf := range g.root.leaves(nil) {
			shown[leaf.pane] = g.shown
		}
	}
	ids := m.newSeeker().byID(l)
	strays := m.strays(ids)
	m.lay(l, ids)
	for _, s := range strays {
		m.putBeside(s)
	}
	m.keepPlaces(before)
	for _, g := range m.groups {
		for _, leaf := range g.root.leaves(nil) {
			g.shown = max(g.shown, shown[leaf.pane])
		}
	}
	if g, leaf := m.groupOf(focused); g != nil {
		m.current, g.focus = g, leaf
	}
	m.showSomething()
	m.relayout()
	m.refreshList()
}

// followClosed takes ended sessions off the screen that were put away in another
// dashboard, but for the one that is being read.
func (m *model) followClosed(ids []string) {
	for _, id := range ids {
		if p, ok := m.process(id); !ok || !p.State.Ended() || m.closed[id] {
			continue
		}
		m.closed[id] = true
		if g, leaf := m.find(id); g != nil && !leaf.pane.Scrolling() {
			m.closeLeaf(g, leaf)
		}
	}
	m.refreshList()
}

// sameTabs reports whether sessions lie in the same way, whatever has the
// keyboard.
func sameTabs(a, b []api.LayoutTab) bool {
	return slices.EqualFunc(a, b, func(a, b api.LayoutTab) bool {
		return slices.EqualFunc(a.Nodes, b.Nodes, func(a, b api.LayoutNode) bool {
			return a.Axis == b.Axis && a.Share == b.Share && a.ID == b.ID
		})
	})
}

// byID gives the sessions of a layout's panes that are there, by tab and node.
func (s *seeker) byID(l api.Layout) map[[2]int]string {
	found := map[[2]int]string{}
	for i, t := range l.Tabs {
		for j, n := range t.Nodes {
			if n.Axis == "" {
				found[[2]int{i, j}] = s.find(n, true)
			}
		}
	}
	return found
}

// A stray is a pane that a layout does not name, and where it was.
type stray struct {
	pane   *terminal.Terminal
	beside *terminal.Terminal // that it had half of a split with
	axis   axis
	share  int
	first  bool
}

// strays are the panes of groups whose session is not among ids, but for those
// that have their tab to themselves.
func (m *model) strays(ids map[[2]int]string) (out []stray) {
	named := map[string]bool{}
	for _, id := range ids {
		named[id] = id != ""
	}
	for _, g := range m.groups {
		for _, leaf := range g.root.leaves(nil) {
			if !named[leaf.pane.ID] {
				if s, ok := leaf.strayFrom(func(n *node) bool { return named[n.pane.ID] }); ok {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// strayFrom says where leaf n is beside the closest leaf that stays.
func (n *node) strayFrom(stays func(*node) bool) (s stray, ok bool) {
	for c := n; c.parent != nil; c = c.parent {
		split := c.parent
		sibling := split.a
		if sibling == c {
			sibling = split.b
		}
		for _, leaf := range sibling.leaves(nil) {
			if stays(leaf) {
				return stray{n.pane, leaf.pane, split.axis, split.share, split.a == c}, true
			}
		}
	}
	return s, false
}

// putBeside gives a pane its half of a split again.
func (m *model) putBeside(s stray) {
	from, leaf := m.groupOf(s.pane)
	to, beside := m.groupOf(s.beside)
	if from == nil || to == nil || from == to {
		return
	}
	m.detach(from, leaf)
	root, created := beside.split(s.axis, s.pane)
	to.root = root
	split := created.parent
	split.share = s.share
	if s.first {
		split.a, split.b = split.b, split.a
	}
}

// keepPlaces puts the tabs that were there before, and are still, where they were.
func (m *model) keepPlaces(before []*group) {
	for i, g := range before {
		if at := m.indexOf(g); at >= 0 {
			m.groups = slices.Delete(m.groups, at, at+1)
			m.groups = slices.Insert(m.groups, min(i, len(m.groups)), g)
		}
	}
}
