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
func (in *input) mouse(e keys.Mouse) tea.Cmd {
	if in.m.dialog.press.has(e, in.m.dialog.open, time.Now()) {
		return nil
	}
	if e.Kind == keys.MouseUp && in.held != nil { // let go, whatever is shown by now
		held := in.held
		in.held = nil
		return in.mouseIn(held, e)
	}
	if in.m.dialog.open != nil && in.m.dialog.open != in.m.dialog.seen { // nobody can have meant it
		return nil
	}
	if u, ok := in.m.dialog.open.(interface {
		Mouse(overlay.Host, keys.Mouse) tea.Cmd
	}); ok && in.m.dialog.at.Contains(e.X, e.Y) {
		in.m.dirty = true
		e.X, e.Y = e.X-in.m.dialog.at.X-2, e.Y-in.m.dialog.at.Y-1
		return u.Mouse(env{in.m}, e)
	}
	if u, ok := in.m.dialog.open.(interface{ Dismiss(overlay.Host) }); ok && widget.LeftDown(e) { // a click beside it
		u.Dismiss(env{in.m})
		return nil
	}
	if in.m.dialog.following() != nil && in.m.dialog.at.Contains(e.X, e.Y) {
		return in.m.dialog.clickFollowing(e)
	}
	if in.m.dialog.open != nil || in.m.areas.small && !in.m.tight() {
		return nil
	}
	if widget.LeftDown(e) { // of what was held the end has not been told
		in.held = nil
	}
	switch {
	case in.held != nil && !widget.IsWheel(e):
		return in.mouseIn(in.held, e)
	case in.m.areas.body.Contains(e.X, e.Y):
		if e.Kind == keys.MouseDown && !widget.IsWheel(e) {
			in.held = in.m.pane()
		}
		return in.mouseIn(in.m.pane(), e)
	case in.m.areas.tips.Contains(e.X, e.Y) && widget.LeftDown(e):
		return in.m.hideTips()
	case e.Y == 0 && !in.m.areas.tight:
		return in.clickTopBar(e)
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

func (in *input) clickTopBar(e keys.Mouse) tea.Cmd {
	if !widget.LeftDown(e) {
		return nil
	}
	x, _ := in.m.topBarParts()
	for v := viewKind(0); v < viewCount; v++ {
		x += widget.Width(v.label())
		if e.X < x {
			return in.m.setView(v)
		}
	}
	return in.clickCount(e.X)
}

// clickCount opens the inbox by a click on one of the counts that it is of.
func (in *input) clickCount(at int) tea.Cmd {
	_, counts := in.m.topBarParts()
	x := in.m.areas.w
	for i := len(counts) - 1; i >= 0; i-- {
		if x -= counts[i].cells(); at >= x && counts[i].inbox {
			return in.m.sessions.list.Agents.ShowInbox()
		} else if at >= x {
			return nil
		}
	}
	return nil
}
