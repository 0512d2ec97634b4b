package vt

import (
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/charset"
	"tandem/engine/screen/vt/graphics"
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt/history"
)

// A screen is the main or the alternate screen: its cells, the state of each row, and the saved
// cursor and kitty keyboard flags, separate for each screen.
type screen struct {
	grid   grid.Grid
	rows   []rowState // a window of slab
	slab   []rowState
	strips graphics.Rows // of pictures
	saved  cursor
	kitty  kittyStack
}

type rowState struct {
	version uint64 // epoch of the last change
	wide    int16  // no wide cluster ends after this column
	used    int16  // all cells from this column on are blank in the default style
	wrapped bool   // continues in the next row
	padded  bool   // wrapped early, because a wide cluster did not fit in its last cell
	size    styled.LineSize
	mark    RowMark
}

// A cursor is the state saved by DECSC.
type cursor struct {
	x, y    int
	pending bool // the next character wraps first
	origin  bool // DECOM
	pen     pen
	g       [4]charset.Set
	gl      uint8 // index into g of the set in use
	single  uint8 // index into g for the next character (SS2, SS3); 0 for gl
}

// textCells returns the cells of a row's text: all of a wrapped row, except a padding cell,
// otherwise those up to the last non-blank one.
func (s *screen) textCells(y int) []grid.Cell {
	cells, r := s.grid.Row(y), &s.rows[y]
	switch {
	case !r.wrapped:
		return trimBlank(cells[:r.used])
	case r.padded && cells[len(cells)-1].Blank():
		return cells[:len(cells)-1]
	}
	return cells
}

func (t *store) newScreen() *screen {
	s := &screen{grid: t.newGrid(t.cols, t.rows)}
	s.resetRows(t.rows, t.epoch)
	return s
}

// rowAttrs returns the attributes a row keeps in the scrollback.
func (s *screen) rowAttrs(y int) history.Attrs {
	r := &s.rows[y]
	return history.Attrs{Wrapped: r.wrapped, Size: r.size, Mark: r.mark, Strips: s.strips.At(y)}
}

// resetRows replaces the row states with n new ones, changed in epoch.
func (s *screen) resetRows(n int, epoch uint64) {
	s.slab = make([]rowState, grid.SlabSize*n)
	s.rows = s.slab[:n]
	s.strips = nil
	for y := range s.rows {
		s.rows[y].version = epoch
	}
}

// noteWritten marks row y of the current screen as changed, and used up to column end.
func (t *store) noteWritten(y, end int) {
	row := &t.scr.rows[y]
	row.version = t.epoch
	row.used = max(row.used, int16(end))
}

// touchRow marks row y of the current screen as changed.
func (t *store) touchRow(y int) { t.scr.rows[y].version = t.epoch }

func (t *store) touchRows(top, bottom int) {
	rows, epoch := t.scr.rows[top:bottom+1], t.epoch // read once, not for each row
	for y := range rows {
		rows[y].version = epoch
	}
}

// showScreen switches to s.
func (t *page) showScreen(s *screen) {
	if t.store.scr != s {
		t.store.scr = s
		t.store.touchRows(0, t.store.rows-1)
		t.clampCursor()
	}
}

func (t *page) altScreen() *screen {
	if t.store.alt == nil {
		t.store.alt = t.store.newScreen()
	}
	return t.store.alt
}

// setAlt implements modes 47, 1047 and 1049 (xterm ctlseqs, DECSET).
func (t *page) setAlt(mode int, on bool) {
	// The saved cursor belongs to the screen being left, so this comes before the switch.
	if mode == 1049 && on {
		t.saveCursor()
	}
	if on {
		t.altBy = mode
		t.showScreen(t.altScreen())
		if mode == 1049 {
			t.eraseRows(0, t.store.rows-1)
			t.store.pictures.ForgetAlt()
		}
	} else {
		if mode == 1047 && t.store.scr == t.store.alt {
			t.eraseRows(0, t.store.rows-1)
		}
		t.showScreen(t.store.main)
		if mode == 1049 {
			t.restoreCursor()
		}
	}
}

func (t *page) saveCursor() { t.store.scr.saved = t.cur }

// restoreCursor implements DECRC. If nothing was saved, the cursor goes home with the defaults.
func (t *page) restoreCursor() {
	t.cur = t.store.scr.saved
	t.cur.x, t.cur.y = min(t.cur.x, t.store.cols-1), min(t.cur.y, t.store.rows-1)
	if r := &t.region; t.cur.origin {
		t.cur.x = min(max(t.cur.x, r.Left), r.Right)
		t.cur.y = min(max(t.cur.y, r.Top), r.Bottom)
	}
	t.clampCursor()
	t.cur.pending = t.cur.pending && t.mode.autowrap
	t.penChanged = true
}

// inRegion reports whether the cursor is inside the margins.
func (t *page) inRegion() bool {
	r := &t.region
	return t.cur.y >= r.Top && t.cur.y <= r.Bottom && t.cur.x >= r.Left && t.cur.x <= r.Right
}

// lineFeed moves down, scrolling at the bottom margin.
func (t *page) lineFeed() {
	switch {
	case t.cur.y == t.region.Bottom:
		if t.cur.x >= t.region.Left && t.cur.x <= t.region.Right {
			t.scrollUp(t.region, 1, true)
		}
	case t.cur.y < t.store.rows-1:
		t.cur.y++
		t.clampCursor()
	}
}

// reverseLineFeed moves up, scrolling at the top margin.
func (t *page) reverseLineFeed() {
	switch {
	case t.cur.y == t.region.Top:
		if t.cur.x >= t.region.Left && t.cur.x <= t.region.Right {
			t.scrollDown(t.region, 1)
		}
	case t.cur.y > 0:
		t.cur.y--
		t.clampCursor()
	}
}

// scrollUp moves a rectangle up by n rows. With keep, rows leaving the top of the main screen go to
// the scrollback.
func (t *page) scrollUp(r grid.Rect, n int, keep bool) {
	n = min(n, r.Bottom-r.Top+1)
	if n <= 0 {
		return
	}
	whole := r.Left == 0 && r.Right == t.store.cols-1
	if keep && whole && r.Top == 0 && t.store.scr == t.store.main {
		t.store.pushRows(n)
		t.store.scr.grid.Scroll(r, n, t.blankID())
		t.moveRows(r.Top, r.Bottom, n)
		// Rows moved up keep their absolute numbers, so they count as unchanged. Rows below the
		// margin get new numbers.
		t.store.touchRows(r.Bottom-n+1, t.store.rows-1)
		t.clampCursor()
		return
	}
	t.scrollRect(r, n, whole)
}

func (t *page) scrollDown(r grid.Rect, n int) {
	n = min(n, r.Bottom-r.Top+1)
	if n > 0 {
		t.scrollRect(r, -n, r.Left == 0 && r.Right == t.store.cols-1)
	}
}

// scrollRect moves rows in place. Their numbers stay, so all of them are marked as changed.
func (t *page) scrollRect(r grid.Rect, n int, whole bool) {
	if !whole {
		t.store.splitColumns(r)
		t.store.pictures.Changes.TextMoves++
	}
	t.store.scr.grid.Scroll(r, n, t.blankID())
	if whole {
		t.moveRows(r.Top, r.Bottom, n)
	} else {
		wide := t.store.maxWide(r.Top, r.Bottom)
		for y := r.Top; y <= r.Bottom; y++ {
			t.store.scr.rows[y].wide, t.store.scr.rows[y].used = wide, int16(t.store.cols)
			t.store.scr.rows[y].wrapped = false
			t.store.cutTextStrips(r.Left, y, r.Right+1-r.Left)
		}
	}
	if r.Top > 0 || n < 0 {
		// The row above no longer continues in its new neighbour.
		t.store.unwrapRow(r.Top - 1)
	}
	t.store.touchRows(r.Top, r.Bottom)
	t.clampCursor()
}

func (t *store) maxWide(top, bottom int) int16 {
	var wide int16
	for y := top; y <= bottom; y++ {
		wide = max(wide, t.scr.rows[y].wide)
	}
	return wide
}

// moveRows moves row states along with their cells, and resets the vacated ones.
func (t *page) moveRows(top, bottom, n int) {
	t.store.scr.strips.Move(top, bottom, n)
	// Scrolling the whole screen by one row is most of the work of a busy terminal: it slides a
	// window instead of copying.
	if n == 1 && top == 0 && bottom == t.store.rows-1 {
		t.store.scr.rows = grid.Slide(t.store.scr.slab, t.store.scr.rows)
		t.resetRow(bottom)
		return
	}
	rows := t.store.scr.rows[top : bottom+1]
	fresh := top
	if n > 0 {
		copy(rows, rows[n:])
		fresh = bottom + 1 - n
	} else {
		n = -n
		copy(rows[n:], rows)
		// The row it continued in has not moved along.
		rows[len(rows)-1].wrapped = false
	}
	for y := fresh; y < fresh+n; y++ {
		t.resetRow(y)
	}
}

// resetRow resets the state of a vacated row.
func (t *page) resetRow(y int) {
	row := &t.store.scr.rows[y]
	*row = rowState{}
	row.version = t.store.epoch
	// Vacated cells have the background colour, so they are not blank.
	if t.cur.pen.BG != 0 {
		row.used = int16(t.store.cols)
	}
}

// unwrapRow ends the continuation of row y in the next one. Row -1 is the last line of the
// scrollback.
func (t *store) unwrapRow(y int) {
	if y < 0 {
		if t.scr == t.main && t.hist.UnwrapLast() {
			t.scrolledVersions[(t.hist.End()-1)%int64(len(t.scrolledVersions))] = t.epoch
		}
		return
	}
	if t.scr.rows[y].wrapped {
		t.scr.rows[y].wrapped = false
		t.touchRow(y)
	}
}

// pushRows copies the first n rows of the screen to the scrollback.
func (t *store) pushRows(n int) {
	for y := range n {
		row := &t.scr.rows[y]
		t.recordVersion(row.version)
		t.hist.Push(t.scr.textCells(y), t.scr.rowAttrs(y), t.clusters.text)
	}
}

// recordVersion saves the version of the line about to be numbered hist.End.
func (t *store) recordVersion(version uint64) {
	at := &t.scrolledVersions[t.hist.End()%int64(len(t.scrolledVersions))]
	t.lostVersion = max(t.lostVersion, *at)
	*at = version
}
