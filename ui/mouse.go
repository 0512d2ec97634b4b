package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
)

// A pointer gives mouse events to what is under them. The dialog or view in which a button was
// pressed receives all events until the button is released.
type pointer struct {
	keyboard *keyboard // runs the action of the clicked part of the screen
	areas    *areas
	top      *topBar
	fits     func() bool // the view fits the screen
	pane     panes.Pane  // the view in which a button was pressed; it receives the release
}

// handle routes one event.
func (p *pointer) handle(e keys.Mouse) tea.Cmd {
	d, a, view := p.keyboard.dialog, p.areas, p.keyboard.views.pane()
	if d.press.claimsEvent(e, d.open, time.Now()) {
		return nil
	}
	// The release belongs to the press, even if another view or a dialog is on top by now.
	if e.Kind == keys.MouseUp && p.pane != nil {
		held := p.pane
		p.pane = nil
		return p.send(held, e)
	}
	if d.open != nil {
		return d.handleMouse(e)
	}
	if prefix := &p.keyboard.prefix; prefix.rows() != nil && prefix.frame.box.Contains(e.X, e.Y) {
		return p.clickPrefixKey(e)
	}
	if !p.fits() {
		return nil
	}
	// The release of an earlier press was lost.
	if e.IsLeftDown() {
		p.pane = nil
	}
	switch {
	case p.pane != nil && !e.IsWheel():
		return p.send(p.pane, e)
	case a.body.Contains(e.X, e.Y):
		if e.Kind == keys.MouseDown && !e.IsWheel() {
			p.pane = view
		}
		return p.send(view, e)
	case !e.IsLeftDown():
	case a.tips.Contains(e.X, e.Y):
		return p.keyboard.findAction(keymap.TipsHide)()
	case e.Y == 0 && !a.showsOnePane():
		if action := p.top.actionAt(e.X); action != "" {
			return p.keyboard.findAction(action)()
		}
	}
	return nil
}

// send passes an event to a view, in the view's cells.
func (p *pointer) send(to panes.Pane, e keys.Mouse) tea.Cmd {
	p.keyboard.frame.redrawFor(to)
	e.X, e.Y = e.X-p.areas.body.X, e.Y-p.areas.body.Y
	return to.Mouse(e)
}

// clickPrefixKey runs the action of the clicked row of the list of keys.
func (p *pointer) clickPrefixKey(e keys.Mouse) tea.Cmd {
	a, ok := p.keyboard.prefix.actionAt(e)
	if !ok || !e.IsLeftDown() {
		return nil
	}
	return p.keyboard.pick(a)
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
