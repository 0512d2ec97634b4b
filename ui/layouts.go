package ui

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/panes/widget"
	"tandem/ui/layout"
)

// layouts is what the dashboard keeps of its layout beside the tabs that it
// is made of.
type layouts struct {
	restored  bool       // the one that was kept has been brought back
	changed   bool       // the tabs may not be as they were kept
	kept      api.Layout // what the engine has
	revision  int64      // its number, or that of what it was made from
	keeping   bool       // it is being told
	behind    bool       // another dashboard's was kept first, and is to be followed
	asks      int        // how often it was asked which ones were saved, to be chosen from
	asked     int        // the one of them that is waited for; 0 for none
	snapshots int        // taken in

	pushed time.Time // when a key moved a border last, if no other key came since
}

// writeLayout writes the tabs down, and what was put away.
func (m *model) writeLayout() api.Layout {
	l := api.Layout{Closed: m.writeClosed()}
	l.Tabs, l.Current = m.tabs.Write(m.nameOf)
	return l
}

// nameOf is the name of a session.
func (m *model) nameOf(id string) string {
	p, _ := m.process(id)
	return p.Name
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
		m.tabs.Arrange(*l, m.news.Processes)
	}
}

// showLayout lays sessions out as l says and shows it.
func (m *model) showLayout(l api.Layout) (found int) {
	g, found := m.tabs.Arrange(l, m.news.Processes)
	if g == nil && m.tabs.Current == nil && len(m.tabs.All) > 0 {
		g = m.tabs.All[0]
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

// openingTab is what the dashboard begins with: what was shown last.
func (m *model) openingTab() *layout.Tab {
	l := m.layouts.kept
	if l.Current < len(l.Tabs) {
		for _, n := range l.Tabs[l.Current].Nodes {
			if g, _ := m.tabs.Find(n.ID); g != nil {
				return g
			}
		}
	}
	return m.tabs.All[0]
}
