package ui

import (
	"context"

	"tandem/engine/api"
	"tandem/panes/terminal"
)

// A group is a split tree that fills the sessions view while it is shown. Each
// session is in one group at most, so going from session to session never
// takes a layout apart.
type group struct {
	root  *node
	focus *node // the leaf that has the keyboard, or would
	shown uint64
}

func newGroup(p *terminal.Terminal) *group {
	leaf := leafOf(p)
	return &group{root: leaf, focus: leaf}
}

// leaf is the leaf with that session; nil if there is none.
func (g *group) leaf(id string) *node {
	for _, l := range g.root.leaves(nil) {
		if l.pane.ID == id {
			return l
		}
	}
	return nil
}

// find is the group and leaf of a session.
func (m *model) find(id string) (*group, *node) {
	if id == "" {
		return nil, nil
	}
	for _, g := range m.groups {
		if l := g.leaf(id); l != nil {
			return g, l
		}
	}
	return nil, nil
}

// groupOf is the group that a pane is in.
func (m *model) groupOf(p *terminal.Terminal) (*group, *node) {
	for _, g := range m.groups {
		for _, l := range g.root.leaves(nil) {
			if l.pane == p {
				return g, l
			}
		}
	}
	return nil, nil
}

// maxIdleGroups is how many groups that are not shown keep their attachments,
// so that going back to them is instant.
const maxIdleGroups = 3

// show makes g the group on the screen and leaf l, or the last one of it, the
// one with the keyboard.
func (m *model) show(g *group, l *node) {
	m.tellFocus(false)
	if l != nil {
		g.focus = l
	}
	if m.zoomed && g != m.current {
		m.zoomed = false
	}
	m.current = g
	m.shows++
	g.shown = m.shows
	m.listFocused = false
	m.relayout()
	m.releaseIdle()
	m.tellFocus(true)
}

// attach lets the link feed a pane, if it does not yet.
func (m *model) attach(p *terminal.Terminal) {
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
func (m *model) release(p *terminal.Terminal) {
	if cancel := m.attachments[p]; cancel != nil {
		cancel()
		delete(m.attachments, p)
	}
}

// releaseIdle ends the attachments of the groups that were not shown for
// longest.
func (m *model) releaseIdle() {
	for {
		var oldest *group
		idle := 0
		for _, g := range m.groups {
			if g == m.current || !m.isAttached(g) {
				continue
			}
			idle++
			if oldest == nil || g.shown < oldest.shown {
				oldest = g
			}
		}
		if idle <= maxIdleGroups {
			return
		}
		m.retire(oldest)
	}
}

func (m *model) isAttached(g *group) bool {
	for _, l := range g.root.leaves(nil) {
		if m.attachments[l.pane] != nil {
			return true
		}
	}
	return false
}

// retire replaces the panes of a group by ones without an attachment.
func (m *model) retire(g *group) {
	for _, l := range g.root.leaves(nil) {
		if m.attachments[l.pane] == nil || l.pane.Ended() != nil {
			continue
		}
		m.release(l.pane)
		l.pane = terminal.NewTerminal(l.pane.ID)
	}
}

// revive gives panes that show how an earlier run of a session ended the one that
// runs now.
func (m *model) revive(p api.Process) {
	for _, g := range m.groups {
		for _, l := range g.root.leaves(nil) {
			if ended := l.pane.Ended(); l.pane.ID == p.ID && ended != nil && !ended.StartedAt.Equal(p.StartedAt) {
				m.release(l.pane)
				l.pane = terminal.NewTerminal(p.ID)
				m.relayout()
			}
		}
	}
}

// closeLeaf takes a leaf out of its group, and the group away with its last
// one. What is shown next is a neighbour: in the group, else in the list.
func (m *model) closeLeaf(g *group, l *node) {
	m.release(l.pane)
	root, focus := l.remove()
	m.zoomed = m.zoomed && g != m.current
	if root != nil {
		g.root = root
		if g.focus == l {
			g.focus = focus
		}
		m.relayout()
		m.tellFocus(true)
		return
	}
	i := m.indexOf(g)
	m.groups = append(m.groups[:i:i], m.groups[i+1:]...)
	if g != m.current {
		m.relayout()
		return
	}
	m.current = nil
	if len(m.groups) == 0 {
		m.relayout()
		return
	}
	onList := m.listFocused
	m.show(m.groups[min(i, len(m.groups)-1)], nil)
	m.listFocused = onList
}

func (m *model) indexOf(g *group) int {
	for i := range m.groups {
		if m.groups[i] == g {
			return i
		}
	}
	return -1
}
