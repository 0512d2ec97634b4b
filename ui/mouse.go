package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// mouse handles one mouse event: what was pressed keeps the mouse until the
// button is released.
func (m *model) mouse(e keys.Mouse) tea.Cmd {
	if m.overlayPress.has(e, m.overlay, time.Now()) {
		return nil
	}
	if e.Kind == keys.MouseUp && m.held != nil { // let go, whatever is shown by now
		held := m.held
		m.held = nil
		return m.mouseIn(held, e)
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
	if m.overlay != nil || m.areas.small && !m.tight() {
		return nil
	}
	if widget.LeftDown(e) { // of what was held the end has not been told
		m.held = nil
	}
	switch {
	case m.held != nil && !widget.IsWheel(e):
		return m.mouseIn(m.held, e)
	case m.areas.body.Contains(e.X, e.Y):
		if e.Kind == keys.MouseDown && !widget.IsWheel(e) {
			m.held = m.pane()
		}
		return m.mouseIn(m.pane(), e)
	case m.areas.tips.Contains(e.X, e.Y) && widget.LeftDown(e):
		return m.hideTips()
	case e.Y == 0 && !m.areas.tight:
		return m.clickTopBar(e)
	}
	return nil
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
