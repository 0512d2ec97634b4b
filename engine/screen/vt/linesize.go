package vt

import (
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/grid"
)

// sizeFinals are the final bytes of ESC # for DECDHL's two halves, DECSWL and DECDWL.
const sizeFinals = "5634" // by LineSize

// parseLineSize returns the line size for a final byte of ESC #.
func parseLineSize(b byte) (size styled.LineSize, ok bool) {
	for i := range len(sizeFinals) {
		if sizeFinals[i] == b {
			return styled.LineSize(i), true
		}
	}
	return 0, false
}

// setLineSize implements DECSWL, DECDWL and DECDHL. As on a VT420, it does nothing while left and
// right margins are enabled. The hidden half of a double-width row keeps its cells, as in xterm.
// Such a row is a line of its own and is never joined to its neighbours.
func (t *page) setLineSize(size styled.LineSize) {
	y := t.cur.y
	if t.mode.leftRight || t.store.scr.rows[y].size == size {
		return
	}
	t.store.unwrapRow(y - 1)
	t.store.unwrapRow(y)
	t.store.scr.rows[y].size = size
	t.store.touchRow(y)
	t.clampCursor()
}

// setSingleSize makes row y of the current screen single size.
func (t *page) setSingleSize(y int) {
	if row := &t.store.scr.rows[y]; row.size != styled.SingleSize {
		row.size, row.version = styled.SingleSize, t.store.epoch
		t.clampCursor()
	}
}

// setAllSingleSize makes all rows of both screens single size.
func (t *page) setAllSingleSize() {
	for _, s := range [...]*screen{t.store.main, t.store.alt} {
		for y := 0; s != nil && y < len(s.rows); y++ {
			if row := &s.rows[y]; row.size != styled.SingleSize {
				row.size, row.version = styled.SingleSize, t.store.epoch
			}
		}
	}
	t.clampCursor()
}

// lastColumn returns the last visible column of a row with cols columns.
func (r *rowState) lastColumn(cols int) int {
	if r.size != styled.SingleSize {
		return (cols - 1) / 2
	}
	return cols - 1
}

// hasTailAfter reports whether a wide cluster starts at x. If x is the last visible column, the
// cluster was not written there, so no wrap is pending after it.
func (s *screen) hasTailAfter(x, y int) bool {
	return x+1 < len(s.grid.Row(y)) && s.grid.Cell(x+1, y).Glyph == grid.Tail
}

// clampCursor moves the cursor left if its row has become too narrow, and cancels a pending wrap if
// the row has become wider.
func (t *page) clampCursor() {
	if row := &t.store.scr.rows[t.cur.y]; row.size != styled.SingleSize {
		t.cur.x = min(t.cur.x, row.lastColumn(t.store.cols))
	}
	if t.cur.pending {
		t.cur.pending = t.cur.x == t.rightLimit()
	}
}
