package vt

import (
	"slices"

	"tandem/engine/screen/vt/charset"
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt/simple"
)

// printSimple prints a run of characters that cannot join their predecessors, and the ASCII between
// them, as far as they fit in the row. It returns the number of bytes printed; 0 leaves p to
// printRune.
func (t *writer) printSimple(p []byte) int {
	// These states need the checks of printRune.
	if t.page.cur.pending || t.page.mode.insert || t.page.cur.single != 0 || t.lastRune == zwj || simple.IsLeadingJamo(t.lastRune) {
		return 0
	}
	limit := t.page.rightLimit()
	room := limit - t.page.cur.x + 1
	t.store.cells = slices.Grow(t.store.cells[:0], room)
	ascii := t.page.cur.g[t.page.cur.gl] == charset.ASCII
	filled, used := simple.Fill(t.store.cells[:room], p, t.page.penID(), ascii)
	if used > 0 {
		t.putSimple(t.store.cells[:filled], limit)
	}
	return used
}

// putSimple writes cells that fit in the row at the cursor.
func (t *writer) putSimple(cells []grid.Cell, limit int) {
	t.makeRoom(len(cells), limit)
	t.store.scr.grid.Put(t.page.cur.x, t.page.cur.y, cells)
	t.store.noteWritten(t.page.cur.y, t.page.cur.x+len(cells))
	last := cells[len(cells)-1].Glyph
	wide := last == grid.Tail
	if wide {
		last = cells[len(cells)-2].Glyph
	}
	if len(cells) > 1 {
		t.noteWide(t.page.cur.x + len(cells))
	}
	t.advanceCursor(len(cells), limit)
	t.notePrinted(rune(last), last, wide)
}
