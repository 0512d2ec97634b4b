package vt

import (
	"tandem/engine/styled"
	"tandem/engine/vt/charset"
	"tandem/engine/vt/graphics"
	"tandem/engine/vt/grid"
	"tandem/engine/vt/history"
)

// A screen is one of the two: cells, what the front end knows of each row, and
// what DECSC and the kitty keyboard protocol keep for each screen.
type screen struct {
	grid   grid.Grid
	rows   []rowState // a part of slab
	slab   []rowState
	strips graphics.Rows // of pictures
	saved  cursor
	kitty  kittyStack
}

type rowState struct {
	version uint64 // epoch of the last change
	wide    int16  // wide clusters stand before this column only
	used    int16  // from this column on all cells are blank in the default style
	wrapped bool   // goes on in the next row
	padded  bool   // wrapped, and its last cell is free for want of two
	size    styled.LineSize
	mark    RowMark
}

// A cursor is what DECSC saves.
type cursor struct {
	x, y    int
	pending bool // the next character wraps first
	origin  bool // DECOM
	pen     pen
	g       [4]charset.Set
	gl      uint8 // which of g is in use
	single  uint8 // which of g the next character uses (SS2, SS3); 0 for gl
}

// text gives the cells of a row that belong to its line: all of a row that
// goes on but the one left free, else those up to the last that is not blank.
func (s *screen) text(y int) []grid.Cell {
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
	s.newRows(t.rows, t.epoch)
	return s
}

// attrs is what stays known of a row when it leaves the screen.
func (s *screen) attrs(y int) history.Attrs {
	r := &s.rows[y]
	return history.Attrs{Wrapped: r.wrapped, Size: r.size, Mark: r.mark, Strips: s.strips.At(y)}
}

// newRows makes all that is known of rows new, changed in an epoch.
func (s *screen) newRows(n int, epoch uint64) {
	s.slab = make([]rowState, grid.SlabSize*n)
	s.rows = s.slab[:n]
	s.strips = nil
	for y := range s.rows {
		s.rows[y].version = epoch
	}
}

// wrote marks a row of the shown screen as changed before column end.
func (t *store) wrote(y, end int) {
	row := &t.scr.rows[y]
	row.version = t.epoch
	row.used = max(row.used, int16(end))
}

// touch marks a row of the shown screen as changed.
func (t *store) touch(y int) { t.scr.rows[y].version = t.epoch }

func (t *store) touchRows(top, bottom int) {
	for y := top; y <= bottom; y++ {
		t.scr.rows[y].version = t.epoch
	}
}

// showScreen makes s the screen that is shown.
func (t *page) showScreen(s *screen) {
	if t.scr != s {
		t.scr = s
		t.touchRows(0, t.rows-1)
		t.keepInSight()
	}
}

func (t *page) altScreen() *screen {
	if t.other == nil {
		t.other = t.newScreen()
	}
	return t.other
}

// setAlt does modes 47, 1047 and 1049 (xterm ctlseqs, DECSET).
func (t *page) setAlt(mode int, on bool) {
	if mode == 1049 && on {
		t.saveCursor()
	}
	if on {
		t.altBy = mode
		t.showScreen(t.altScreen())
		if mode == 1049 {
			t.eraseRows(0, t.rows-1)
			t.pictures.ForgetAlt()
		}
	} else {
		if mode == 1047 && t.scr == t.other {
			t.eraseRows(0, t.rows-1)
		}
		t.showScreen(t.main)
		if mode == 1049 {
			t.restoreCursor()
		}
	}
}

func (t *page) saveCursor() { t.scr.saved = t.cur }

// restoreCursor does DECRC; with nothing saved it is home and the defaults.
func (t *page) restoreCursor() {
	t.cur = t.scr.saved
	t.cur.x, t.cur.y = min(t.cur.x, t.cols-1), min(t.cur.y, t.rows-1)
	if r := &t.region; t.cur.origin {
		t.cur.x = min(max(t.cur.x, r.Left), r.Right)
		t.cur.y = min(max(t.cur.y, r.Top), r.Bottom)
	}
	t.keepInSight()
	t.cur.pending = t.cur.pending && t.mode.autowrap
	t.penChanged = true
}

// inRegion says whether the cursor is inside the margins.
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
	case t.cur.y < t.rows-1:
		t.cur.y++
		t.keepInSight()
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
		t.keepInSight()
	}
}

// scrollUp moves a rectangle up by n rows. With keep, what leaves the top of
// the main screen goes to the scrollback.
func (t *page) scrollUp(r grid.Rect, n int, keep bool) {
	n = min(n, r.Bottom-r.Top+1)
	if n <= 0 {
		return
	}
	whole := r.Left == 0 && r.Right == t.cols-1
	if keep && whole && r.Top == 0 && t.scr == t.main {
		t.keepRows(n)
		t.scr.grid.Scroll(r, n, t.blankID())
		t.moveRows(r.Top, r.Bottom, n)
		t.touchRows(r.Bottom-n+1, t.rows-1)
		t.keepInSight()
		return
	}
	t.scroll(r, n, whole)
}

func (t *page) scrollDown(r grid.Rect, n int) {
	n = min(n, r.Bottom-r.Top+1)
	if n > 0 {
		t.scroll(r, -n, r.Left == 0 && r.Right == t.cols-1)
	}
}

// scroll moves rows whose numbers stay: all of them changed.
func (t *page) scroll(r grid.Rect, n int, whole bool) {
	if !whole {
		t.splitColumns(r)
	}
	t.scr.grid.Scroll(r, n, t.blankID())
	if whole {
		t.moveRows(r.Top, r.Bottom, n)
	} else {
		wide := t.widest(r.Top, r.Bottom)
		for y := r.Top; y <= r.Bottom; y++ {
			t.scr.rows[y].wide, t.scr.rows[y].used = wide, int16(t.cols)
			t.scr.rows[y].wrapped = false
			t.cutStrips(r.Left, y, r.Right+1-r.Left)
		}
	}
	if r.Top > 0 || n < 0 {
		t.unwrap(r.Top - 1)
	}
	t.touchRows(r.Top, r.Bottom)
	t.keepInSight()
}

func (t *store) widest(top, bottom int) int16 {
	var wide int16
	for y := top; y <= bottom; y++ {
		wide = max(wide, t.scr.rows[y].wide)
	}
	return wide
}

// moveRows carries what is known of rows along with their cells; the rows that
// come free are new.
func (t *page) moveRows(top, bottom, n int) {
	t.scr.strips.Move(top, bottom, n)
	if n == 1 && top == 0 && bottom == t.rows-1 {
		t.scr.rows = grid.Slide(t.scr.slab, t.scr.rows)
		t.freshRow(bottom)
		return
	}
	rows := t.scr.rows[top : bottom+1]
	fresh := top
	if n > 0 {
		copy(rows, rows[n:])
		fresh = bottom + 1 - n
	} else {
		n = -n
		copy(rows[n:], rows)
		rows[len(rows)-1].wrapped = false
	}
	for y := fresh; y < fresh+n; y++ {
		t.freshRow(y)
	}
}

// freshRow forgets what was known of a row that comes free now.
func (t *page) freshRow(y int) {
	row := &t.scr.rows[y]
	*row = rowState{}
	row.version = t.epoch
	if t.cur.pen.bg != 0 {
		row.used = int16(t.cols)
	}
}

// unwrap says that a row does not go on in the next one; row -1 is the last
// line of the scrollback.
func (t *store) unwrap(y int) {
	if y < 0 {
		if t.scr == t.main && t.hist.UnwrapLast() {
			t.gone[(t.hist.End()-1)%int64(len(t.gone))] = t.epoch
		}
		return
	}
	if t.scr.rows[y].wrapped {
		t.scr.rows[y].wrapped = false
		t.touch(y)
	}
}

// keepRows puts the first n rows of the screen into the scrollback.
func (t *store) keepRows(n int) {
	for y := range n {
		row := &t.scr.rows[y]
		t.leave(row.version)
		t.hist.Push(t.scr.text(y), t.scr.attrs(y), t.clusters.text)
	}
}

// leave notes the version of the line that is about to get number hist.End().
func (t *store) leave(version uint64) {
	at := &t.gone[t.hist.End()%int64(len(t.gone))]
	t.goneLost = max(t.goneLost, *at)
	*at = version
}
