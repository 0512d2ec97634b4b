package vt

import (
	"slices"
	"unicode/utf8"

	"tandem/engine/invariants"
	"tandem/engine/styled"
	"tandem/engine/vt/graphics"
	"tandem/engine/vt/grid"
	"tandem/engine/vt/history"
)

// Resize sets the size, each side clamped to 1…1000. Lines of the main screen
// and the scrollback that wrapped are wrapped anew; the alternate screen is cut
// or extended at its right and bottom. Margins go back to the edges. The places
// to keep are changed to where what is there has gone.
func (t *Terminal) Resize(cols, rows int, keep ...*Position) {
	cols, rows = clampSide(cols), clampSide(rows)
	if cols == t.cols && rows == t.rows {
		return
	}
	pending := t.cur.pending
	onMain, onOther := t.sortPlaces(keep)
	end := t.hist.End()
	t.reflowMain(cols, rows, onMain)
	first := 0
	if t.other != nil {
		first = t.cropOther(cols, rows)
	}
	for _, p := range onOther {
		p.Line = t.hist.End() + min(max(p.Line-end-int64(first), 0), int64(rows-1))
		p.X = min(p.X, cols-1)
	}
	t.cols, t.rows = cols, rows
	t.tabs = defaultTabs(t.tabs[:min(len(t.tabs), cols)], cols)
	t.region = grid.Rect{Right: cols - 1, Bottom: rows - 1}
	t.cur.x, t.cur.y = min(t.cur.x, cols-1), min(t.cur.y, rows-1)
	t.stayInSight(pending)
	t.joinOK = false
	t.fullSeq = t.epoch
	t.gone = make([]uint64, 2*rows)
	t.goneLost = 0
	if invariants.Enabled {
		t.check()
	}
	t.reportSize()
}

// stayInSight puts the cursor into the columns of its row after a resize.
// pending says that it was behind the last one before.
func (t *page) stayInSight(pending bool) {
	last := t.scr.rows[t.cur.y].lastColumn(t.cols)
	if t.cur.x > last {
		t.cur.x, t.cur.pending = last, pending
	}
	t.cur.pending = t.cur.pending && t.cur.x == last && t.mode.autowrap
}

// A mark is a place that a reflow carries along: a row in the sequence of
// scrollback and screen, and a column in it.
type mark struct{ row, x int }

// A reflow rewraps lines into rows of another width.
type reflow struct {
	t     *store
	cols  int
	out   history.Lines // what was rewrapped so far; numbers from 0
	line  []grid.Cell   // the logical line being gathered
	mark  RowMark       // of its rows
	kept  []heldStrips
	rows  int     // rows read so far
	open  bool    // rows of line were read
	marks []*mark // places not yet mapped that lie in rows read
	at    []int   // their offsets in line
	wait  []*mark // places in rows to come
}

// reflowMain rewraps the scrollback and the main screen.
func (t *Terminal) reflowMain(cols, rows int, keep []*Position) {
	s := t.main
	cur := &t.cur
	if t.scr != s {
		cur = &s.saved
	}
	kept := int(t.hist.End() - t.hist.Oldest())
	used, below := t.mainRows(cur)
	cursor, saved := cur.mark(kept), s.saved.mark(kept)
	saved.row = min(saved.row, kept+used-1)
	top := mark{kept, 0}
	places := t.markPlaces(keep)
	f := reflow{t: &t.store, cols: cols, wait: append([]*mark{&top, &cursor, &saved}, places...)}
	lines, bytes := t.hist.Limits()
	f.out = history.New(lines+rows+t.rows*(t.cols/cols+1), 2*bytes, 0)
	cells := []grid.Cell(nil)
	for n := t.hist.Oldest(); n < t.hist.End(); n++ {
		var attrs history.Attrs
		cells, attrs = t.hist.Get(n, cells[:0], t.internCluster)
		f.add(cells, attrs)
	}
	for y := range used {
		attrs := s.attrs(y)
		attrs.Wrapped = attrs.Wrapped && y < used-1
		f.add(s.text(y), attrs)
	}
	f.flush()
	first := f.firstRow(top.row, rows, below)
	f.goTo(keep, places, kept+used)
	t.install(s, &f.out, first, cols, rows)
	s.saved.goTo(saved, first, cols, rows)
	cur.goTo(cursor, first, cols, rows)
}

// mark gives the cursor's place; with a pending wrap it is behind the last
// cell.
func (c *cursor) mark(kept int) mark {
	m := mark{kept + c.y, c.x}
	if c.pending {
		m.x++
	}
	return m
}

// goTo places the cursor at a mark, on a screen that starts with row first.
func (c *cursor) goTo(m mark, first, cols, rows int) {
	c.pending = m.x == cols
	c.x, c.y = min(m.x, cols-1), min(max(m.row-first, 0), rows-1)
}

// mainRows counts the rows of the main screen that hold text or the cursor,
// and the blank ones below.
func (t *Terminal) mainRows(cur *cursor) (used, below int) {
	used = t.rows
	s := t.main
	for used > cur.y+1 && s.rows[used-1].size == styled.SingleSize && s.strips.At(used-1) == nil && len(trimBlank(s.grid.Row(used-1))) == 0 {
		used--
	}
	return used, t.rows - used
}

// add takes one row.
func (f *reflow) add(cells []grid.Cell, attrs history.Attrs) {
	if attrs.Size != styled.SingleSize {
		f.flush()
	}
	left := f.wait[:0]
	for _, m := range f.wait {
		if m.row == f.rows {
			f.marks = append(f.marks, m)
			f.at = append(f.at, len(f.line)+m.x)
		} else {
			left = append(left, m)
		}
	}
	f.wait = left
	if attrs.Strips != nil {
		f.kept = append(f.kept, heldStrips{len(f.line), attrs.Strips})
	}
	f.line = append(f.line, cells...)
	f.mark |= attrs.Mark
	f.rows++
	f.open = true
	if attrs.Size != styled.SingleSize {
		f.cutOff(attrs.Size)
	} else if !attrs.Wrapped {
		f.flush()
	}
}

// cutOff takes the line gathered, which is not of single size, as one row.
func (f *reflow) cutOff(size styled.LineSize) {
	cells := cropCells(f.line, f.cols)
	f.place(0, len(cells), true)
	f.out.Push(cells, history.Attrs{Size: size, Mark: f.mark, Strips: f.strips(0, len(cells), true)}, f.t.clusters.text)
	f.line, f.marks, f.at, f.open, f.mark = f.line[:0], f.marks[:0], f.at[:0], false, 0
}

// cropCells cuts a row; of a wide cluster it leaves no half.
func cropCells(cells []grid.Cell, cols int) []grid.Cell {
	if len(cells) <= cols {
		return cells
	}
	if cells[cols].Glyph == grid.Tail {
		cells[cols-1].Glyph = 0
	}
	return cells[:cols]
}

// flush wraps the line gathered and starts the next.
func (f *reflow) flush() {
	if !f.open {
		return
	}
	f.open = false
	if f.cols == 1 {
		f.line = narrow(f.line)
	}
	from := 0
	for {
		to := f.cut(from)
		last := to == len(f.line)
		f.place(from, to, last)
		f.out.Push(f.line[from:to], history.Attrs{Wrapped: !last, Mark: f.mark, Strips: f.strips(from, to, last)}, f.t.clusters.text)
		f.mark = 0
		if from = to; last {
			break
		}
	}
	f.line, f.marks, f.at = f.line[:0], f.marks[:0], f.at[:0]
}

// narrow replaces wide clusters, for a screen of one column.
func narrow(cells []grid.Cell) []grid.Cell {
	out := cells[:0]
	for _, c := range cells {
		if c.Glyph == grid.Tail {
			out[len(out)-1].Glyph = utf8.RuneError
			continue
		}
		out = append(out, c)
	}
	return out
}

// cut says where the row that starts at from ends.
func (f *reflow) cut(from int) int {
	to := min(from+f.cols, len(f.line))
	if to < len(f.line) && f.line[to].Glyph == grid.Tail && to-1 > from {
		to--
	}
	return to
}

// heldStrips are pictures beside a cell of the line gathered.
type heldStrips struct {
	at     int
	strips *graphics.Strips
}

// strips takes those that fall into the row of line[from:to].
func (f *reflow) strips(from, to int, last bool) (row *graphics.Strips) {
	if len(f.kept) == 0 {
		return nil
	}
	f.kept = slices.DeleteFunc(f.kept, func(k heldStrips) bool {
		if k.at >= to && !last {
			return false
		}
		row = row.Joined(k.strips)
		return true
	})
	return row
}

// place maps the marks that fall into the row of line[from:to].
func (f *reflow) place(from, to int, last bool) {
	for i, m := range f.marks {
		if at := f.at[i]; at >= from && (at < to || last) {
			m.row, m.x = int(f.out.End()), at-from
			f.at[i] = -1
		}
	}
}

// firstRow says which row becomes the top of the screen. A screen with free
// rows below stays where it was; one that was full is filled from the
// scrollback, so that nothing visible is lost and growing undoes shrinking.
func (f *reflow) firstRow(top, rows, below int) int {
	total := int(f.out.End())
	if below > 0 && total-top <= rows {
		return top
	}
	return max(total-rows, int(f.out.Oldest()))
}

// install makes rows from first on the screen, and those before it the
// scrollback.
func (t *store) install(s *screen, rows *history.Lines, first, cols, height int) {
	s.grid.Resize(cols, height)
	s.newRows(height, t.epoch)
	lines, bytes := t.hist.Limits()
	hist := history.New(lines, bytes, t.hist.Oldest())
	cells := []grid.Cell(nil)
	for n := int(rows.Oldest()); n < int(rows.End()); n++ {
		var attrs history.Attrs
		cells, attrs = rows.Get(int64(n), cells[:0], t.internCluster)
		if n < first {
			hist.Push(cells, attrs, t.clusters.text)
			continue
		}
		y := n - first
		s.grid.Put(0, y, cells)
		s.rows[y] = rowState{
			version: t.epoch, wrapped: attrs.Wrapped, padded: len(cells) < cols, size: attrs.Size, mark: attrs.Mark,
			wide: int16(cols), used: int16(cols),
		}
		s.strips = s.strips.With(height, y, attrs.Strips)
	}
	t.hist = hist
}

// cropOther cuts or extends the alternate screen; when the cursor would be
// below it, rows go at the top instead; first is how many.
func (t *Terminal) cropOther(cols, rows int) (first int) {
	s := t.other
	if t.scr == s {
		first = max(t.cur.y-rows+1, 0)
		t.cur.y -= first
	}
	height := min(t.rows-first, rows)
	saved := make([][]grid.Cell, height)
	for y := range saved {
		saved[y] = cropCells(slices.Clone(s.grid.Row(first+y)), cols)
	}
	old, strips := s.rows, s.strips
	s.grid.Resize(cols, rows)
	s.newRows(rows, t.epoch)
	for y, row := range saved {
		s.grid.Put(0, y, row)
		s.rows[y].wide, s.rows[y].used = min(old[first+y].wide, int16(cols)), int16(cols)
		s.rows[y].size = old[first+y].size
		s.strips = s.strips.With(rows, y, strips.At(first+y))
	}
	s.saved.x, s.saved.y = min(s.saved.x, cols-1), min(s.saved.y, rows-1)
	return first
}
