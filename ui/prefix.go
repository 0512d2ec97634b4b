package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// keysDelay is how long the prefix waits before the keys after it are listed. A user who
// knows the key types it sooner and never sees the list.
const keysDelay = 300 * time.Millisecond

// prefixKeys lists the keys that may follow the prefix once it has waited for keysDelay.
type prefixKeys struct {
	tips    *tips
	look    *look.Look
	frame   *frame
	waiting func() bool // the prefix was pressed, and no dialog covers the screen
	works   func(keymap.Action) bool

	serial int  // counts prefixes, to ignore timers of earlier ones
	long   bool // more than keysDelay has passed
}

// startWait starts to wait after a prefix.
func (p *prefixKeys) startWait() tea.Cmd {
	p.serial, p.long = p.serial+1, false
	serial := p.serial
	return panes.After(keysDelay, func() tea.Cmd { return p.endWait(serial) })
}

func (p *prefixKeys) endWait(serial int) tea.Cmd {
	p.long = p.long || serial == p.serial
	return nil
}

// rows draws the keys; nil if the prefix has not waited long enough or the rows do not
// fit.
func (p *prefixKeys) rows() []string {
	a := p.tips.areas
	if !p.long || a.mode == modeTooSmall || !p.waiting() {
		return nil
	}
	groups, w, h := p.groups()
	return dialog.DrawPrefixKeys(groups, w, h, p.look)
}

// groups returns the keys that may follow the prefix, in groups, and the cells available to show
// them.
func (p *prefixKeys) groups() (groups []keymap.Group, w, h int) {
	a := p.tips.areas
	return p.tips.o.Bindings.Following(p.works), a.w - 4, a.h - 3 - a.tips.H
}

// actionAt returns the action of the row at a position on the screen.
func (p *prefixKeys) actionAt(e keys.Mouse) (a keymap.Action, ok bool) {
	groups, w, h := p.groups()
	return dialog.PrefixKeyAt(groups, w, h, e.X-p.frame.box.X-2, e.Y-p.frame.box.Y-1)
}

// draw draws the list above the status bar.
func (p *prefixKeys) draw() {
	rows, a := p.rows(), p.tips.areas
	if len(rows) == 0 {
		return
	}
	rows, at := dialog.DrawBox(rows, text.Width(rows[0]), look.Rect{W: a.w, H: a.h}, p.look)
	at.Y = a.h - 1 - a.tips.H - at.H
	p.frame.drawBox(rows, at, a.w)
	if c := p.frame.view.Cursor; c != nil && at.Contains(c.X, c.Y) {
		p.frame.view.Cursor = nil
	}
}
