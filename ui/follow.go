package ui

import (
	"tandem/engine/api"
	"tandem/ui/layout"
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
	if l.Check() != nil || layout.SameTabs(l.Tabs, m.writeLayout().Tabs) {
		return
	}
	m.tabs.Follow(l, m.news.Processes)
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
		if g, leaf := m.tabs.Find(id); g != nil && !leaf.Pane.Scrolling() {
			m.closeLeaf(g, leaf)
		}
	}
	m.refreshList()
}
