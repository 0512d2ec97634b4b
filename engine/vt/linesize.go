package vt

import (
	"tandem/engine/styled"
	"tandem/engine/vt/grid"
)

// sizeFinals end DECDHL's two halves, DECSWL and DECDWL behind ESC #.
const sizeFinals = "5634" // by LineSize

// lineSizeOf gives the size that a final byte behind ESC # stands for.
func lineSizeOf(b byte) (size styled.LineSize, ok bool) {
	for i := range len(sizeFinals) {
		if sizeFinals[i] == b {
			return styled.LineSize(i), true
		}
	}
	return 0, false
}

// setLineSize does DECSWL, DECDWL and DECDHL. As on a VT420, there are no such
// lines while left and right margins are possible. What stands in the half
// that is out of sight stays, as in xterm. Such a line is one of its own: it
// neither goes on in the next nor is what one before it goes on in.
func (t *page) setLineSize(size styled.LineSize) {
	y := t.cur.y
	if t.mode.leftRight || t.scr.rows[y].size == size {
		return
	}
	t.unwrap(y - 1)
	t.unwrap(y)
	t.scr.rows[y].size = size
	t.touch(y)
	t.keepInSight()
}

// singleSize makes a row of the shown screen one of the ordinary size.
func (t *page) singleSize(y int) {
	if row := &t.scr.rows[y]; row.size != styled.SingleSize {
		row.size, row.version = styled.SingleSize, t.epoch
		t.keepInSight()
	}
}

// allSingleSize does so for all rows of both screens.
func (t *page) allSingleSize() {
	for _, s := range [...]*screen{t.main, t.other} {
		for y := 0; s != nil && y < len(s.rows); y++ {
			if row := &s.rows[y]; row.size != styled.SingleSize {
				row.size, row.version = styled.SingleSize, t.epoch
			}
		}
	}
	t.keepInSight()
}

// lastColumn is the last one in sight in a row of cols columns.
func (r *rowState) lastColumn(cols int) int {
	if r.size != styled.SingleSize {
		return (cols - 1) / 2
	}
	return cols - 1
}

// sticksOut says that a wide cluster at a place ends behind it. At the last column
// it cannot have been written there, and no wrap is pending behind it.
func (s *screen) sticksOut(x, y int) bool {
	return x+1 < len(s.grid.Row(y)) && s.grid.Cell(x+1, y).Glyph == grid.Tail
}

// keepInSight moves the cursor left when its row has become too narrow for it,
// and forgets a pending wrap where the row has become wider.
func (t *page) keepInSight() {
	if row := &t.scr.rows[t.cur.y]; row.size != styled.SingleSize {
		t.cur.x = min(t.cur.x, row.lastColumn(t.cols))
	}
	if t.cur.pending {
		t.cur.pending = t.cur.x == t.rightLimit()
	}
}
