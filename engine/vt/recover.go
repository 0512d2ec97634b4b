package vt

import "tandem/engine/vt/grid"

// A full-screen program that is killed leaves its modes on: the alternate screen, the mouse,
// kitty's keys. The shell then reads what the mouse and the keys send as commands. So the modes are
// recorded when a shell says that a command starts (OSC 133;C), and come back when it says that
// the command has finished (133;D), before its line editor sets its own. Nothing changes at the other
// marks, which come when the line editor has begun.

// commandModes are the modes in which a command started.
type commandModes struct {
	mode       modeSet
	kitty      kittyStack
	alt        bool
	origin     bool
	cols, rows int
	region     grid.Rect
}

// modesOf records the modes of a page.
func modesOf(t *page) commandModes {
	return commandModes{t.mode, t.scr.kitty, t.scr == t.other, t.cur.origin, t.cols, t.rows, t.region}
}

// plainModes are those of a new terminal.
func plainModes(cols, rows int) commandModes {
	m := commandModes{cols: cols, rows: rows, region: grid.Rect{Right: cols - 1, Bottom: rows - 1}}
	m.mode.reset()
	return m
}

// recover brings the modes back and reports whether they were others. The cursor keeps its shape,
// which does not disturb a shell, and which a user may have chosen by a command.
func (to commandModes) recover(t *page) (changed bool) {
	now := modesOf(t)
	to.mode.cursor = cursorModes{on: to.mode.cursor.on, blink: now.mode.cursor.blink, chosen: now.mode.cursor.chosen, shape: now.mode.cursor.shape}
	if to.cols != t.cols || to.rows != t.rows {
		to.cols, to.rows, to.region = t.cols, t.rows, plainModes(t.cols, t.rows).region
	}
	if now.alt && !to.alt {
		t.setAlt(t.altBy, false)
		t.other = nil // with its keyboard flags
		t.pictures.ForgetAlt()
	} else {
		to.alt = now.alt
	}
	if modesOf(t) == to {
		return now.alt != to.alt
	}
	t.mode, t.scr.kitty, t.region = to.mode, to.kitty, to.region
	t.cur.origin, t.cur.pending = to.origin, t.cur.pending && t.mode.autowrap
	if t.mode.leftRight {
		t.allSingleSize()
	}
	return true
}

// commandMark records or recovers the modes at a shell's mark.
func (t *host) commandMark(kind byte) {
	switch {
	case kind == 'C':
		now := modesOf(&t.page)
		t.started = &now
	case kind == 'D' && t.started != nil && t.started.recover(&t.page):
		t.event(ResetEvent{})
	}
}

// ResetModes brings the modes of a new terminal back, for a shell that a killed program has left
// in others. Bracketed paste stays as it is: a line editor may have asked for it, and without it
// a pasted line runs at once.
func (t *writer) ResetModes() {
	to := plainModes(t.cols, t.rows)
	to.mode.paste = t.mode.paste
	to.recover(&t.page)
	t.cur.g, t.cur.gl, t.cur.single = cursor{}.g, 0, 0
	t.cur.pen, t.penChanged = pen{}, true
	t.joinOK = false
}
