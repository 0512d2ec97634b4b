package vt

import (
	"slices"
	"unicode/utf8"

	"tandem/engine/base/invariants"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/graphics"
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt/history"
)

// A resize rewraps the main screen and the scrollback. Rows joined by a wrap form a logical line,
// cut anew at the new width. A reflow reads rows oldest first, collects one line at a time and
// writes its rows to a new history, so it needs little memory beyond the result. Everything with a
// position is carried along as a mark: the cursor, the saved cursor, the top of the screen and the
// positions kept by callers. While its line is being collected, a mark is an offset in that line.
// The alternate screen is only cropped, because full-screen programs redraw it.

// Resize sets the size, each side clamped to 1…1000. Wrapped lines of the main screen and the
// scrollback are rewrapped; the alternate screen is cut or extended at its right and bottom.
// Margins return to the edges. The positions in keep are updated to follow their text.
func (t *Terminal) Resize(cols, rows int, keep ...*Position) {
	cols, rows = clampSide(cols), clampSide(rows)
	if cols == t.store.cols && rows == t.store.rows {
		return
	}
	pending := t.page.cur.pending
	onMain, onOther := t.splitByScreen(keep)
	end := t.store.hist.End()
	t.reflowMain(cols, rows, onMain)
	first := 0
	if t.store.alt != nil {
		first = t.cropAlt(cols, rows)
	}
	for _, p := range onOther {
		p.Line = t.store.hist.End() + min(max(p.Line-end-int64(first), 0), int64(rows-1))
		p.X = min(p.X, cols-1)
	}
	t.store.cols, t.store.rows = cols, rows
	t.page.tabs = defaultTabs(t.page.tabs[:min(len(t.page.tabs), cols)], cols)
	t.page.region = grid.Rect{Right: cols - 1, Bottom: rows - 1}
	t.page.cur.x, t.page.cur.y = min(t.page.cur.x, cols-1), min(t.page.cur.y, rows-1)
	t.page.clampAfterResize(pending)
	t.writer.joinOK = false
	// Line numbers have changed, so every viewer needs the whole screen.
	t.store.fullSeq = t.store.epoch
	t.store.scrolledVersions = make([]uint64, 2*rows)
	t.store.lostVersion = 0
	if invariants.Enabled {
		t.writer.check()
	}
	t.host.reportSize()
}

// clampAfterResize moves the cursor into its row after a resize. pending reports whether it was
// past the last column before.
func (t *page) clampAfterResize(pending bool) {
	last := t.store.scr.rows[t.cur.y].lastColumn(t.store.cols)
	if t.cur.x > last {
		t.cur.x, t.cur.pending = last, pending
	}
	t.cur.pending = t.cur.pending && t.cur.x == last && t.mode.autowrap
}

// A mark is a position carried along by a reflow: a row in the sequence of scrollback and screen,
// and a column.
type mark struct{ row, x int }

// A reflow rewraps lines into rows of another width.
type reflow struct {
	t       *store
	cols    int
	out     history.Lines // the rows rewrapped so far, numbered from 0
	line    []grid.Cell   // the logical line being collected
	mark    RowMark       // marks of its rows
	pending []pendingStrips
	rows    int     // rows read so far
	open    bool    // line has at least one row
	marks   []*mark // unmapped marks in rows of line
	offsets []int   // offsets of marks in line
	waiting []*mark // marks in later rows
}

// reflowMain rewraps the scrollback and the main screen.
func (t *Terminal) reflowMain(cols, rows int, keep []*Position) {
	s := t.store.main
	cur := &t.page.cur
	if t.store.scr != s {
		// While the alternate screen is visible, the main screen's cursor is the saved one.
		cur = &s.saved
	}
	historyRows := int(t.store.hist.End() - t.store.hist.Oldest())
	used, below := t.mainRows(cur)
	cursor, saved := cur.toMark(historyRows), s.saved.toMark(historyRows)
	saved.row = min(saved.row, historyRows+used-1)
	top := mark{historyRows, 0}
	marks := t.newMarks(keep)
	f := reflow{t: &t.store, cols: cols, waiting: append([]*mark{&top, &cursor, &saved}, marks...)}
	lines, bytes := t.store.hist.Limits()
	// The history needs room for the rewrapped screen too; installRows takes those rows out again.
	f.out = history.New(lines+rows+t.store.rows*(t.store.cols/cols+1), 2*bytes, 0)
	cells := []grid.Cell(nil)
	for n := t.store.hist.Oldest(); n < t.store.hist.End(); n++ {
		var attrs history.Attrs
		cells, attrs = t.store.hist.Get(n, cells[:0], t.store.internCluster)
		f.addRow(cells, attrs)
	}
	for y := range used {
		attrs := s.rowAttrs(y)
		attrs.Wrapped = attrs.Wrapped && y < used-1
		f.addRow(s.textCells(y), attrs)
	}
	f.flushLine()
	first := f.firstRow(top.row, rows, below)
	f.moveToMarks(keep, marks, historyRows+used)
	t.store.installRows(s, &f.out, first, cols, rows)
	s.saved.moveToMark(saved, first, cols, rows)
	cur.moveToMark(cursor, first, cols, rows)
}

// toMark returns the mark of the cursor, after the last cell if a wrap is pending.
func (c *cursor) toMark(historyRows int) mark {
	m := mark{historyRows + c.y, c.x}
	if c.pending {
		m.x++
	}
	return m
}

// moveToMark moves the cursor to a mark. first is the number of the top row of the screen.
func (c *cursor) moveToMark(m mark, first, cols, rows int) {
	c.pending = m.x == cols
	c.x, c.y = min(m.x, cols-1), min(max(m.row-first, 0), rows-1)
}

// mainRows counts the rows of the main screen down to the last text or the cursor, and the blank
// rows below.
func (t *Terminal) mainRows(cur *cursor) (used, below int) {
	used = t.store.rows
	s := t.store.main
	for used > cur.y+1 && s.rows[used-1].size == styled.SingleSize && s.strips.At(used-1) == nil && len(trimBlank(s.grid.Row(used-1))) == 0 {
		used--
	}
	return used, t.store.rows - used
}

// addRow adds one row.
func (f *reflow) addRow(cells []grid.Cell, attrs history.Attrs) {
	// A row of double size is a line of its own, so it ends the line before it.
	if attrs.Size != styled.SingleSize {
		f.flushLine()
	}
	left := f.waiting[:0]
	for _, m := range f.waiting {
		if m.row == f.rows {
			f.marks = append(f.marks, m)
			f.offsets = append(f.offsets, len(f.line)+m.x)
		} else {
			left = append(left, m)
		}
	}
	f.waiting = left
	if attrs.Strips != nil {
		f.pending = append(f.pending, pendingStrips{len(f.line), attrs.Strips})
	}
	f.line = append(f.line, cells...)
	f.mark |= attrs.Mark
	f.rows++
	f.open = true
	if attrs.Size != styled.SingleSize {
		f.cropLine(attrs.Size)
	} else if !attrs.Wrapped {
		f.flushLine()
	}
}

// cropLine outputs a line of double size as one row, cut to the width.
func (f *reflow) cropLine(size styled.LineSize) {
	cells := cropCells(f.line, f.cols)
	f.mapMarks(0, len(cells), true)
	f.out.Push(cells, history.Attrs{Size: size, Mark: f.mark, Strips: f.takeStrips(0, len(cells), true)}, f.t.clusters.text)
	f.line, f.marks, f.offsets, f.open, f.mark = f.line[:0], f.marks[:0], f.offsets[:0], false, 0
}

// cropCells cuts a row to cols cells, blanking half a wide cluster at the edge.
func cropCells(cells []grid.Cell, cols int) []grid.Cell {
	if len(cells) <= cols {
		return cells
	}
	if cells[cols].Glyph == grid.Tail {
		cells[cols-1].Glyph = 0
	}
	return cells[:cols]
}

// flushLine wraps the collected line and starts the next.
func (f *reflow) flushLine() {
	if !f.open {
		return
	}
	f.open = false
	if f.cols == 1 {
		f.line = replaceWide(f.line)
	}
	from := 0
	for {
		to := f.rowEnd(from)
		last := to == len(f.line)
		f.mapMarks(from, to, last)
		f.out.Push(f.line[from:to], history.Attrs{Wrapped: !last, Mark: f.mark, Strips: f.takeStrips(from, to, last)}, f.t.clusters.text)
		f.mark = 0
		if from = to; last {
			break
		}
	}
	f.line, f.marks, f.offsets = f.line[:0], f.marks[:0], f.offsets[:0]
}

// replaceWide replaces wide clusters with U+FFFD, for a screen of one column.
func replaceWide(cells []grid.Cell) []grid.Cell {
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

// rowEnd returns the end of the row starting at from.
func (f *reflow) rowEnd(from int) int {
	to := min(from+f.cols, len(f.line))
	if to < len(f.line) && f.line[to].Glyph == grid.Tail && to-1 > from {
		to--
	}
	return to
}

// pendingStrips are picture strips at a cell of the collected line.
type pendingStrips struct {
	at     int
	strips *graphics.Strips
}

// takeStrips removes and returns the strips in the row line[from:to], or all if it is the last.
func (f *reflow) takeStrips(from, to int, last bool) (row *graphics.Strips) {
	if len(f.pending) == 0 {
		return nil
	}
	f.pending = slices.DeleteFunc(f.pending, func(k pendingStrips) bool {
		if k.at >= to && !last {
			return false
		}
		row = row.Join(k.strips)
		return true
	})
	return row
}

// mapMarks maps the marks in the row line[from:to].
func (f *reflow) mapMarks(from, to int, last bool) {
	for i, m := range f.marks {
		if at := f.offsets[i]; at >= from && (at < to || last) {
			m.row, m.x = int(f.out.End()), at-from
			f.offsets[i] = -1
		}
	}
}

// firstRow returns the new top row of the screen. A screen with free rows below stays put. A full
// one is filled from the scrollback, so nothing visible is lost and growing undoes shrinking.
func (f *reflow) firstRow(top, rows, below int) int {
	total := int(f.out.End())
	if below > 0 && total-top <= rows {
		return top
	}
	return max(total-rows, int(f.out.Oldest()))
}

// installRows puts the row numbered first and all later ones on the screen, and earlier ones into
// the scrollback.
func (t *store) installRows(s *screen, rows *history.Lines, first, cols, height int) {
	s.grid.Resize(cols, height)
	s.resetRows(height, t.epoch)
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

// cropAlt cuts or extends the alternate screen. If the cursor would end up below it, rows are cut
// at the top instead; first is their number.
func (t *Terminal) cropAlt(cols, rows int) (first int) {
	s := t.store.alt
	if t.store.scr == s {
		first = max(t.page.cur.y-rows+1, 0)
		t.page.cur.y -= first
	}
	height := min(t.store.rows-first, rows)
	saved := make([][]grid.Cell, height)
	for y := range saved {
		saved[y] = cropCells(slices.Clone(s.grid.Row(first+y)), cols)
	}
	old, strips := s.rows, s.strips
	s.grid.Resize(cols, rows)
	s.resetRows(rows, t.store.epoch)
	for y, row := range saved {
		s.grid.Put(0, y, row)
		s.rows[y].wide, s.rows[y].used = min(old[first+y].wide, int16(cols)), int16(cols)
		s.rows[y].size = old[first+y].size
		s.strips = s.strips.With(rows, y, strips.At(first+y))
	}
	s.saved.x, s.saved.y = min(s.saved.x, cols-1), min(s.saved.y, rows-1)
	return first
}
