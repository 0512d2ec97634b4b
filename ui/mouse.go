package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes/terminal"
	"tandem/panes/widget"
	"tandem/ui/layout"
	"tandem/ui/overlay"
)

// mouse handles one mouse event: what was pressed keeps the mouse until the
// button is released.
func (m *model) mouse(e keys.Mouse) tea.Cmd {
	if m.overlayPress.has(e, m.overlay, time.Now()) {
		return nil
	}
	if e.Kind == keys.MouseUp && m.holds() {
		return m.letGo(e)
	}
	if m.overlay != nil && m.overlay != m.overlaySeen { // nobody can have meant it
		return nil
	}
	if u, ok := m.overlay.(interface {
		Mouse(overlay.Host, keys.Mouse) tea.Cmd
	}); ok && m.overlayAt.Contains(e.X, e.Y) {
		m.dirty = true
		e.X, e.Y = e.X-m.overlayAt.X-2, e.Y-m.overlayAt.Y-1
		return u.Mouse(m, e)
	}
	if u, ok := m.overlay.(interface{ Dismiss(overlay.Host) }); ok && widget.LeftDown(e) { // a click beside it
		u.Dismiss(m)
		return nil
	}
	if m.overlay != nil || m.layout.tooSmall() && !m.tight() {
		return nil
	}
	if widget.LeftDown(e) {
		m.forgetDrag()
	}
	switch {
	case m.held != nil && !widget.IsWheel(e):
		return m.mouseIn(m.held, e)
	case m.dragged != nil:
		m.drag(e)
		return nil
	case m.pressed != nil && e.Kind != keys.MouseDown:
		return m.mouseTo(m.pressed, e)
	case m.tight() && m.listFocused:
		if widget.LeftDown(e) {
			return m.clickSession(m.list.At(e.Y))
		}
		return nil
	case m.tight():
		return m.mouseOnTree(e)
	case e.Y == 0:
		return m.clickTopBar(e)
	case m.layout.tips.Contains(e.X, e.Y):
		if widget.LeftDown(e) {
			return m.hideTips()
		}
		return nil
	case m.pane() != nil:
		if !m.layout.body.Contains(e.X, e.Y) {
			return nil
		}
		if e.Kind == keys.MouseDown && !widget.IsWheel(e) {
			m.held = m.pane()
		}
		return m.mouseIn(m.pane(), e)
	case m.view != viewSessions:
		return nil
	case m.layout.strip.Contains(e.X, e.Y), m.layout.list.Contains(e.X, e.Y):
		return m.mouseOnList(e)
	case m.tabs.Current == nil:
		return nil
	}
	return m.mouseOnTree(e)
}

// holds reports whether the mouse holds something of a view.
func (m *model) holds() bool { return m.dragged != nil || m.pressed != nil || m.held != nil }

// letGo has the mouse let go of what it holds, whatever is shown by now. A title
// row that was clicked and not moved gives its pane the focus, as every other does.
func (m *model) letGo(e keys.Mouse) tea.Cmd {
	held, p := m.dragged, m.pressed
	m.dragged, m.pressed = nil, nil
	if in := m.held; in != nil {
		m.held = nil
		return m.mouseIn(in, e)
	}
	if held != nil && !m.dragMoved && m.overlay == nil && m.tabs.Current != nil {
		if leaf := held.B.LeafAt(e.X, e.Y); leaf != nil && leaf.Root() == m.tabs.Current.Root {
			m.moveFocus(func() { m.tabs.Current.Focus, m.listFocused = leaf, false })
			m.refreshList()
		}
	}
	if p == nil {
		return nil
	}
	return m.mouseTo(p, e)
}

// forgetDrag ends a drag of which the end has not been told.
func (m *model) forgetDrag() {
	m.dragged, m.held = nil, nil
	for _, l := range m.visible() {
		l.Pane.LetGo()
		l.Pane.Unmark()
	}
}

// An overlayPress is the press of a button that an overlay took last. The rest of
// it, and of the double click that it may begin, is not for what the overlay
// covered, nor for the next one.
type overlayPress struct {
	on   overlay.Overlay
	at   time.Time
	x, y int
	down bool
}

// has reports whether an event belongs to the press although the overlay has
// gone, and notes presses on the overlay that is open.
func (p *overlayPress) has(e keys.Mouse, open overlay.Overlay, now time.Time) bool {
	press := e.Kind == keys.MouseDown && !widget.IsWheel(e)
	switch {
	case press && p.on != nil && p.on != open && now.Sub(p.at) < widget.DoubleClick && e.X == p.x && e.Y == p.y:
		p.down = true
		return true
	case press:
		*p = overlayPress{open, now, e.X, e.Y, open != nil}
	case p.down && e.Kind == keys.MouseUp:
		p.down = false
		return p.on != open
	}
	return p.down && p.on != open && !widget.IsWheel(e)
}

func (m *model) clickTopBar(e keys.Mouse) tea.Cmd {
	if !widget.LeftDown(e) {
		return nil
	}
	x, _ := m.topBarParts()
	for v := viewKind(0); v < viewCount; v++ {
		x += widget.Width(v.label())
		if e.X < x {
			return m.setView(v)
		}
	}
	return nil
}

func (m *model) mouseOnList(e keys.Mouse) tea.Cmd {
	switch {
	case e.Button == keys.WheelUp:
		m.list.Move(-1)
	case e.Button == keys.WheelDown:
		m.list.Move(1)
	case widget.LeftDown(e) && m.layout.list.W > 0:
		return m.clickSession(m.list.At(e.Y - m.layout.list.Y))
	case widget.LeftDown(e):
		return m.clickSession(m.list.StripAt(e.X, m.layout.strip.W, &m.look))
	default:
		return nil
	}
	m.dirty = true
	return nil
}

// clickSession opens a session; a click beside the rows focuses the list.
func (m *model) clickSession(id string) tea.Cmd {
	if id == "" {
		if !m.listFocused {
			return m.focusList()
		}
		return nil
	}
	return m.openSession(id)
}

func (m *model) mouseOnTree(e keys.Mouse) tea.Cmd {
	leaf := m.tabs.Current.Focus
	if !m.alone() {
		if border := m.tabs.Current.Root.BorderAt(e.X, e.Y); border != nil && widget.LeftDown(e) {
			m.dragged, m.dragMoved = border, false
			return nil
		}
		leaf = m.tabs.Current.Root.LeafAt(e.X, e.Y)
	}
	if leaf == nil {
		return nil
	}
	if e.Kind == keys.MouseDown && !widget.IsWheel(e) {
		if leaf.Pane != m.focused() {
			m.moveFocus(func() { m.tabs.Current.Focus, m.listFocused = leaf, false })
			m.refreshList()
		}
		m.pressed = leaf.Pane
	}
	return m.mouseTo(leaf.Pane, e)
}

// mouseTo passes an event on to a pane, in its own cells.
func (m *model) mouseTo(p *terminal.Pane, e keys.Mouse) tea.Cmd {
	for _, l := range m.visible() {
		if l.Pane != p {
			continue
		}
		r := m.area(l)
		if e.Kind == keys.MouseDown && !r.Contains(e.X, e.Y) {
			return nil
		}
		e.X, e.Y = e.X-r.X, e.Y-r.Y
		return p.Mouse(e)
	}
	if p.Selecting() && e.Kind == keys.MouseUp { // out of sight by now
		return p.Mouse(e)
	}
	return nil
}

// drag moves the border that the mouse holds.
func (m *model) drag(e keys.Mouse) {
	held, at := m.dragged, e.X
	if held.Axis == layout.Below {
		at = e.Y
	}
	m.dragMoved = m.dragMoved || at != held.Border()
	held.MoveBorder(at)
	m.relayout()
}
