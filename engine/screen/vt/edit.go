package vt

import "tandem/engine/screen/vt/grid"

// splitWide blanks a wide cluster straddling the left edge of column x.
func (t *store) splitWide(x, y int) {
	// Most rows have no wide clusters, so the first test usually decides without reading cells.
	if x <= 0 || x >= int(t.scr.rows[y].wide) || x >= t.cols {
		return
	}
	g := t.scr.grid
	right := g.Cell(x, y)
	if right.Glyph != grid.Tail {
		return
	}
	left := g.Cell(x-1, y)
	t.pair = [2]grid.Cell{{Style: left.Style}, {Style: right.Style}}
	g.Put(x-1, y, t.pair[:])
	t.touchRow(y)
}

// splitColumns blanks the wide clusters cut by the sides of a rectangle.
func (t *store) splitColumns(r grid.Rect) {
	for y := r.Top; y <= r.Bottom; y++ {
		t.splitWide(r.Left, y)
		t.splitWide(r.Right+1, y)
	}
}

// eraseCells blanks n cells of a row.
func (t *page) eraseCells(x, y, n int, s grid.StyleID) {
	n = min(n, t.store.cols-x)
	if n <= 0 {
		return
	}
	row := &t.store.scr.rows[y]
	t.store.splitWide(x, y)
	t.store.splitWide(x+n, y)
	t.store.scr.grid.Erase(x, y, n, s)
	if t.store.scr.strips != nil {
		t.store.cutTextStrips(x, y, n)
	}
	row.version = t.store.epoch
	// Cells erased in a background colour are not blank in the default style.
	if s != 0 {
		row.used = max(row.used, int16(x+n))
	} else if x+n >= int(row.used) {
		row.used = min(row.used, int16(x))
	}
	if x+n == t.store.cols {
		row.wrapped = false
	}
	if n == t.store.cols {
		row.wide = 0
	}
}

// eraseRows blanks whole rows.
func (t *page) eraseRows(top, bottom int) {
	for y := top; y <= bottom; y++ {
		t.eraseCells(0, y, t.store.cols, t.blankID())
		t.setSingleSize(y)
		t.store.scr.rows[y].mark = 0
	}
	t.store.dropStrips(top, bottom)
}

// insertCells inserts n blanks at x. The cells up to column right move right, and the last ones are
// lost.
func (t *page) insertCells(x, y, right, n int) {
	n = min(n, right-x+1)
	t.store.splitWide(x, y)
	t.store.splitWide(right+1, y)
	t.store.splitWide(right+1-n, y)
	t.store.scr.grid.Insert(x, y, right, n, t.blankID())
	t.store.cutTextStrips(x, y, right+1-x)
	if row := &t.store.scr.rows[y]; int(row.wide) > x {
		row.wide = int16(t.store.cols)
	}
	t.noteShift(right, y)
}

// deleteCells removes n cells at x. Those up to column right move left.
func (t *page) deleteCells(x, y, right, n int) {
	n = min(n, right-x+1)
	t.store.splitWide(x, y)
	t.store.splitWide(x+n, y)
	t.store.splitWide(right+1, y)
	t.store.scr.grid.Delete(x, y, right, n, t.blankID())
	t.store.cutTextStrips(x, y, right+1-x)
	t.noteShift(right, y)
}

func (t *page) noteShift(right, y int) {
	t.store.noteWritten(y, t.store.cols)
	if right == t.store.cols-1 {
		t.store.scr.rows[y].wrapped = false
	}
}

// insertChars implements ICH.
func (t *page) insertChars(n int) {
	t.cur.pending = false
	if t.cur.x >= t.region.Left && t.cur.x <= t.region.Right {
		t.insertCells(t.cur.x, t.cur.y, t.region.Right, n)
	}
}

// deleteChars implements DCH.
func (t *page) deleteChars(n int) {
	t.cur.pending = false
	if t.cur.x >= t.region.Left && t.cur.x <= t.region.Right {
		t.deleteCells(t.cur.x, t.cur.y, t.region.Right, n)
	}
}

// insertLines implements IL.
func (t *page) insertLines(n int) {
	if t.inRegion() {
		r := t.region
		r.Top = t.cur.y
		t.scrollDown(r, n)
		t.moveTo(t.region.Left, t.cur.y)
	}
}

// deleteLines implements DL.
func (t *page) deleteLines(n int) {
	if t.inRegion() {
		r := t.region
		r.Top = t.cur.y
		t.scrollUp(r, n, false)
		t.moveTo(t.region.Left, t.cur.y)
	}
}

// shiftColumns implements DECIC (n > 0) and DECDC (n < 0) at column x.
func (t *page) shiftColumns(x, n int) {
	for y := t.region.Top; y <= t.region.Bottom; y++ {
		if n > 0 {
			t.insertCells(x, y, t.region.Right, n)
		} else {
			t.deleteCells(x, y, t.region.Right, -n)
		}
	}
}

// eraseLine implements EL and, if selective, DECSEL.
func (t *page) eraseLine(how int, selective bool) {
	t.cur.pending = t.cur.pending && how > 2
	x, y := t.cur.x, t.cur.y
	switch how {
	case 0:
		t.eraseSpan(x, y, t.store.cols-x, selective)
	case 1:
		t.eraseSpan(0, y, x+1, selective)
	case 2:
		t.eraseSpan(0, y, t.store.cols, selective)
	}
}

// eraseDisplay implements ED and, if selective, DECSED. Clearing the whole main screen moves its
// rows to the scrollback. Erased rows become single size; as in xterm, the cursor's row only if all
// rows are erased.
func (t *page) eraseDisplay(how int, selective bool) {
	y := t.cur.y
	switch how {
	case 0:
		if t.cur.x == 0 {
			// The erased row no longer continues the row above.
			t.store.unwrapRow(y - 1)
			t.store.scr.rows[y].mark = 0
		}
		if t.cur.x == 0 && y == 0 {
			t.setSingleSize(y)
		}
		t.eraseLine(0, selective)
		t.eraseLines(y+1, t.store.rows-1, selective)
	case 1:
		t.store.unwrapRow(-1)
		t.eraseLines(0, y-1, selective)
		t.eraseLine(1, selective)
		if t.cur.x == t.store.cols-1 && y == t.store.rows-1 {
			t.setSingleSize(y)
		}
	case 2:
		t.cur.pending = false
		if !selective && t.store.scr == t.store.main {
			t.keepScreen()
		}
		t.store.unwrapRow(-1)
		t.eraseLines(0, t.store.rows-1, selective)
		t.store.dropStrips(0, t.store.rows-1)
	case 3:
		if !selective {
			t.store.hist.Clear()
			clear(t.store.scrolledVersions)
			t.store.lostVersion = 0
		}
	}
}

func (t *page) eraseLines(top, bottom int, selective bool) {
	for y := top; y <= bottom; y++ {
		t.eraseSpan(0, y, t.store.cols, selective)
		t.setSingleSize(y)
		t.store.scr.rows[y].mark = 0
	}
}

// keepScreen scrolls the used rows into the scrollback, where a cleared screen stays readable.
func (t *page) keepScreen() {
	used := t.store.usedRows()
	if used == 0 {
		return
	}
	all := grid.Rect{Right: t.store.cols - 1, Bottom: t.store.rows - 1}
	t.scrollUp(all, used, true)
}

// usedRows counts the rows of the current screen up to the last non-blank one.
func (t *store) usedRows() int {
	n := t.rows
	for n > 0 && t.scr.strips.At(n-1) == nil && len(trimBlank(t.scr.grid.Row(n-1))) == 0 {
		n--
	}
	return n
}

// eraseSpan blanks n cells; if selective, only unprotected ones.
func (t *page) eraseSpan(x, y, n int, selective bool) {
	if !selective {
		t.eraseCells(x, y, n, t.blankID())
		return
	}
	for i := x; i < x+n; i++ {
		if t.store.isProtected(i, y) {
			continue
		}
		start := i
		for i < x+n && !t.store.isProtected(i, y) {
			i++
		}
		t.eraseCells(start, y, i-start, t.blankID())
	}
}

func (t *store) isProtected(x, y int) bool {
	return t.styles.pens[t.scr.grid.Cell(x, y).Style].Attrs&attrProtected != 0
}

// fillAlignment implements DECALN: it fills the screen with E and resets SGR.
func (t *page) fillAlignment() {
	t.cur.pen.applySGR(nil, 0)
	t.penChanged = true
	t.region = grid.Rect{Right: t.store.cols - 1, Bottom: t.store.rows - 1}
	t.cur.origin = false
	t.moveTo(0, 0)
	row := make([]byte, t.store.cols)
	for x := range row {
		row[x] = 'E'
	}
	for y := range t.store.rows {
		t.eraseCells(0, y, t.store.cols, 0)
		t.setSingleSize(y)
		t.store.scr.grid.PutASCII(0, y, row, 0)
		t.store.noteWritten(y, t.store.cols)
	}
}
