package ui

import (
	"context"

	"tandem/engine/api"
	"tandem/panes/terminal"
	"tandem/ui/layout"
)

// maxIdleTabs is how many tabs that are not shown keep their attachments,
// so that going back to them is instant.
const maxIdleTabs = 3

// show makes g the tab on the screen and leaf l, or the last one of it, the
// one with the keyboard.
func (m *model) show(g *layout.Tab, l *layout.Node) {
	m.tellFocus(false)
	if l != nil {
		g.Focus = l
	}
	if m.zoomed && g != m.tabs.Current {
		m.zoomed = false
	}
	m.tabs.Current = g
	m.shows++
	g.Shown = m.shows
	m.listFocused = false
	m.relayout()
	m.releaseIdle()
	m.tellFocus(true)
}

// attach lets the link feed a pane, if it does not yet.
func (m *model) attach(p *terminal.Pane) {
	if p.ID == "" || m.attachments[p] != nil {
		return
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.attachments[p] = cancel
	id, feed := p.ID, p.Feed
	m.link.Start(func() { m.link.Attach(ctx, id, feed) })
}

// release ends a pane's attachment. A pane that is shown again later gets a
// new one and keeps nothing of the old.
func (m *model) release(p *terminal.Pane) {
	if cancel := m.attachments[p]; cancel != nil {
		cancel()
		delete(m.attachments, p)
	}
}

// releaseIdle ends the attachments of the tabs that were not shown for
// longest.
func (m *model) releaseIdle() {
	for {
		var oldest *layout.Tab
		idle := 0
		for _, g := range m.tabs.All {
			if g == m.tabs.Current || !m.isAttached(g) {
				continue
			}
			idle++
			if oldest == nil || g.Shown < oldest.Shown {
				oldest = g
			}
		}
		if idle <= maxIdleTabs {
			return
		}
		m.retire(oldest)
	}
}

func (m *model) isAttached(g *layout.Tab) bool {
	for _, l := range g.Root.Leaves(nil) {
		if m.attachments[l.Pane] != nil {
			return true
		}
	}
	return false
}

// retire replaces the panes of a tab by ones without an attachment.
func (m *model) retire(g *layout.Tab) {
	for _, l := range g.Root.Leaves(nil) {
		if m.attachments[l.Pane] == nil || l.Pane.Ended() != nil {
			continue
		}
		m.release(l.Pane)
		l.Pane = m.tabs.New(l.Pane.ID)
	}
}

// revive gives panes that show how an earlier run of a session ended the one that
// runs now.
func (m *model) revive(p api.Process) {
	for _, g := range m.tabs.All {
		for _, l := range g.Root.Leaves(nil) {
			if ended := l.Pane.Ended(); l.Pane.ID == p.ID && ended != nil && !ended.StartedAt.Equal(p.StartedAt) {
				m.release(l.Pane)
				l.Pane = m.tabs.New(p.ID)
				m.relayout()
			}
		}
	}
}

// closeLeaf takes a leaf out of its tab, and the tab away with its last
// one. What is shown next is a neighbour: in the tab, else in the list.
func (m *model) closeLeaf(g *layout.Tab, l *layout.Node) {
	m.release(l.Pane)
	root, focus := l.Remove()
	m.zoomed = m.zoomed && g != m.tabs.Current
	if root != nil {
		g.Root = root
		if g.Focus == l {
			g.Focus = focus
		}
		m.relayout()
		m.tellFocus(true)
		return
	}
	i := m.tabs.Index(g)
	m.tabs.All = append(m.tabs.All[:i:i], m.tabs.All[i+1:]...)
	if g != m.tabs.Current {
		m.relayout()
		return
	}
	m.tabs.Current = nil
	if len(m.tabs.All) == 0 {
		m.relayout()
		return
	}
	onList := m.listFocused
	m.show(m.tabs.All[min(i, len(m.tabs.All)-1)], nil)
	m.listFocused = onList
}
