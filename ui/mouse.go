package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
)

// handleMouse routes one mouse event. The dialog or view in which a button was pressed
// receives all events until its release.
func (in *input) handleMouse(e keys.Mouse) tea.Cmd {
	if in.m.dialog.press.claimsEvent(e, in.m.dialog.open, time.Now()) {
		return nil
	}
	// The release belongs to the press, even if another view or a dialog is on top by now.
	if e.Kind == keys.MouseUp && in.mousePane != nil {
		held := in.mousePane
		in.mousePane = nil
		return in.sendMouse(held, e)
	}
	// A dialog that is not drawn yet cannot be the target of a click.
	if in.m.dialog.open != nil && in.m.dialog.open != in.m.dialog.seen {
		return nil
	}
	if in.m.dialog.open != nil {
		return in.sendToDialog(e)
	}
	if in.m.prefix.rows() != nil && in.m.frame.box.Contains(e.X, e.Y) {
		return in.clickPrefixKey(e)
	}
	if in.m.areas.small && !in.m.isTight() {
		return nil
	}
	// The release of an earlier press was lost.
	if e.IsLeftDown() {
		in.mousePane = nil
	}
	switch {
	case in.mousePane != nil && !e.IsWheel():
		return in.sendMouse(in.mousePane, e)
	case in.m.areas.body.Contains(e.X, e.Y):
		if e.Kind == keys.MouseDown && !e.IsWheel() {
			in.mousePane = in.m.views.pane()
		}
		return in.sendMouse(in.m.views.pane(), e)
	case in.m.areas.tips.Contains(e.X, e.Y) && e.IsLeftDown():
		return in.m.tips.hide()
	case e.Y == 0 && !in.m.areas.tight:
		return in.clickTopBar(e)
	}
	return nil
}

// sendToDialog gives the open dialog an event inside it. A click outside closes it.
func (in *input) sendToDialog(e keys.Mouse) tea.Cmd {
	d, box := &in.m.dialog, in.m.frame.box
	traits := d.open.Traits()
	switch {
	case traits.Mouse != nil && box.Contains(e.X, e.Y):
		in.m.frame.redraw()
		e.X, e.Y = e.X-box.X-2, e.Y-box.Y-1
		return traits.Mouse(in.m.env, e)
	case traits.Dismiss != nil && e.IsLeftDown():
		traits.Dismiss(in.m.env)
	}
	return nil
}

// An overlayPress records the last press of a button on an overlay. If the press closes
// the overlay, the release and the second press of a double click belong to it too:
// neither the view below nor the next overlay may receive them.
type overlayPress struct {
	on   dialog.Overlay
	at   time.Time
	x, y int
	down bool
}

// claimsEvent records presses on the open overlay, and reports whether e belongs to a
// press whose overlay is closed by now.
func (p *overlayPress) claimsEvent(e keys.Mouse, open dialog.Overlay, now time.Time) bool {
	press := e.Kind == keys.MouseDown && !e.IsWheel()
	switch {
	case press && p.on != nil && p.on != open && now.Sub(p.at) < list.DoubleClick && e.X == p.x && e.Y == p.y:
		p.down = true
		return true
	case press:
		*p = overlayPress{open, now, e.X, e.Y, open != nil}
	case p.down && e.Kind == keys.MouseUp:
		p.down = false
		return p.on != open
	}
	return p.down && p.on != open && !e.IsWheel()
}

// clickPrefixKey runs the action of the clicked row of the list of keys.
func (in *input) clickPrefixKey(e keys.Mouse) tea.Cmd {
	a, ok := in.m.prefix.actionAt(e)
	if !ok || !e.IsLeftDown() {
		return nil
	}
	in.resolver.Cancel()
	in.m.frame.redraw()
	return in.findAction(a)()
}

func (in *input) clickTopBar(e keys.Mouse) tea.Cmd {
	if !e.IsLeftDown() {
		return nil
	}
	view, inbox := in.m.top.findAt(e.X)
	switch {
	case view != "":
		return in.m.setView(view)
	case inbox:
		return in.m.sessions.List.Agents.ShowInbox()
	}
	return nil
}
