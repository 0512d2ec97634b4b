package vt

import "tandem/engine/screen/vt/grid"

// A killed full-screen program leaves its modes on: the alternate screen, mouse reports, kitty's
// keyboard protocol. The shell would then read mouse and key reports as commands. So the modes are
// recorded when a shell reports the start of a command (OSC 133;C) and restored when it reports the
// end (133;D), before its line editor sets its own. The other marks come too late for that.

// commandModes are the modes in which a command started.
type commandModes struct {
	mode       modeSet
	kitty      kittyStack
	alt        bool
	origin     bool
	cols, rows int
	region     grid.Rect
}

// modesOf returns the modes of a page.
func modesOf(t *page) commandModes {
	return commandModes{t.mode, t.store.scr.kitty, t.store.scr == t.store.alt, t.cur.origin, t.store.cols, t.store.rows, t.region}
}

// plainModes returns the modes of a new terminal.
func plainModes(cols, rows int) commandModes {
	m := commandModes{cols: cols, rows: rows, region: grid.Rect{Right: cols - 1, Bottom: rows - 1}}
	m.mode.reset()
	return m
}

// applyTo restores the modes of t and reports whether they had changed.
func (to commandModes) applyTo(t *page) (changed bool) {
	leftAlt := modesOf(t).alt && !to.alt
	if leftAlt {
		t.setAlt(t.altBy, false)
		t.store.alt = nil // discards its keyboard flags
		t.store.pictures.ForgetAlt()
	}
	now := modesOf(t)
	if to = to.adaptedTo(now); to == now {
		return leftAlt
	}
	t.mode, t.store.scr.kitty, t.region = to.mode, to.kitty, to.region
	t.cur.origin, t.cur.pending = to.origin, t.cur.pending && t.mode.autowrap
	if t.mode.leftRight {
		t.setAllSingleSize()
	}
	return true
}

// adaptedTo returns the modes with everything from now that applyTo must not change.
func (to commandModes) adaptedTo(now commandModes) commandModes {
	// The cursor's shape is harmless, and the user may have chosen it with a command.
	to.mode.cursor = cursorModes{on: to.mode.cursor.on, blink: now.mode.cursor.blink, chosen: now.mode.cursor.chosen, shape: now.mode.cursor.shape}
	// After a resize, the margins recorded for the old size would be wrong.
	if to.cols != now.cols || to.rows != now.rows {
		to.cols, to.rows, to.region = now.cols, now.rows, plainModes(now.cols, now.rows).region
	}
	// The alternate screen is never entered again: its content is gone.
	to.alt = now.alt
	return to
}

// trackCommand records the modes when a command starts and restores them when it ends. A mark with
// inState set comes from a checkpoint, where the command's own modes are set already, so its start
// is not recorded.
func (t *host) trackCommand(kind byte, inState bool) {
	switch {
	case kind == 'C' && !inState:
		t.started = new(modesOf(t.page))
	case kind == 'D' && t.started != nil && t.started.applyTo(t.page):
		t.sendEvent(ResetEvent{})
	}
}

// ResetModes sets the modes of a new terminal, for a shell after a killed program. It keeps bracketed
// paste: the line editor may have enabled it, and without it a pasted line would run at once.
func (t *Terminal) ResetModes() {
	to := plainModes(t.store.cols, t.store.rows)
	to.mode.paste = t.page.mode.paste
	to.applyTo(&t.page)
	t.page.cur.g, t.page.cur.gl, t.page.cur.single = cursor{}.g, 0, 0
	t.page.cur.pen, t.page.penChanged = pen{}, true
	t.writer.joinOK = false
}
