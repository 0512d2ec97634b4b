package vt

import (
	"tandem/engine/vt/grid"
	"tandem/engine/vt/history"
)

// A Position is a cell in the sequence of scrollback and screen.
type Position struct {
	Line int64 // absolute number
	X    int
}

// RowMark says what a shell has told to begin in a row (OSC 133).
type RowMark = history.Mark

const (
	MarkPrompt = history.MarkPrompt // a prompt (A)
	MarkOutput = history.MarkOutput // a command's output (C)
)

// markRow notes in the cursor's row what begins there. On the alternate screen
// nothing does.
func (t *page) markRow(kind byte) {
	if t.scr != t.main {
		return
	}
	row := &t.scr.rows[t.cur.y]
	switch kind {
	case 'A':
		row.mark |= MarkPrompt
	case 'C':
		row.mark |= MarkOutput
	default:
		return
	}
	row.version = t.epoch
}

// sortPlaces tells places in the main screen and its scrollback from those on
// an alternate screen that is shown.
func (t *Terminal) sortPlaces(keep []*Position) (onMain, onOther []*Position) {
	for _, p := range keep {
		if t.scr == t.other && p.Line >= t.hist.End() {
			onOther = append(onOther, p)
		} else {
			onMain = append(onMain, p)
		}
	}
	return onMain, onOther
}

// markPlaces makes marks of places that a reflow is to keep.
func (t *Terminal) markPlaces(keep []*Position) []*mark {
	marks := make([]*mark, len(keep))
	for i, p := range keep {
		marks[i] = &mark{int(max(p.Line-t.hist.Oldest(), 0)), max(p.X, 0)}
	}
	return marks
}

// goTo changes places to where their marks have come. Marks below the read
// rows stay as far below them.
func (f *reflow) goTo(keep []*Position, marks []*mark, read int) {
	base := f.t.hist.Oldest() - f.out.Oldest()
	for i, p := range keep {
		m := *marks[i]
		if below := m.row - read; below >= 0 && p.Line-f.t.hist.Oldest() == int64(m.row) {
			m.row = int(f.out.End()) + below
		}
		p.Line, p.X = base+int64(m.row), min(m.x, f.cols-1)
	}
}

// AppendText appends the text of a line as it is searched: blanks at its end
// may be missing. ok is false when the line is not there.
func (t *store) AppendText(dst []byte, n int64) (text []byte, wrapped, ok bool) {
	if !t.has(n) {
		return dst, false, false
	}
	if n < t.hist.End() {
		text, attrs := t.hist.LineText(n)
		return append(dst, text...), attrs.Wrapped, true
	}
	y := int(n - t.hist.End())
	for _, c := range t.scr.text(y) {
		dst = t.appendGlyph(dst, c.Glyph)
	}
	return dst, t.scr.rows[y].wrapped, true
}

// PrintedCells counts the cells of a line up to the last printed one, on the screen a blank too.
func (t *store) PrintedCells(n int64) int {
	cells := t.cellsOf(n)
	if y := int(n - t.hist.End()); y >= 0 && !t.scr.rows[y].wrapped {
		cells = t.scr.grid.Row(y)
	}
	return grid.Printed(cells)
}

// cellsOf gives the cells of a line, which is there; they are good until the
// next call.
func (t *store) cellsOf(n int64) []grid.Cell {
	if n < t.hist.End() {
		t.cells, _ = t.hist.Get(n, t.cells[:0], t.internCluster)
		return t.cells
	}
	return t.scr.text(int(n - t.hist.End()))
}

func (t *store) has(n int64) bool {
	oldest, _, end := t.Bounds()
	return n >= oldest && n < end
}

// AppendCells appends the text of a line's cells from column from up to, and
// not including, column to. A wide cluster that either cuts is whole.
func (t *store) AppendCells(dst []byte, n int64, from, to int) []byte {
	if !t.has(n) {
		return dst
	}
	cells := t.cellsOf(n)
	from, to = max(from, 0), min(to, len(cells))
	if from > 0 && from < to && cells[from].Glyph == grid.Tail {
		from--
	}
	for x := from; x < to; x++ {
		dst = t.appendGlyph(dst, cells[x].Glyph)
	}
	return dst
}

// CellAt gives the column of the cell whose text holds the byte at an offset of
// a line's text, and the column behind that cell.
func (t *store) CellAt(n int64, offset int) (x, behind int) {
	if !t.has(n) {
		return 0, 0
	}
	cells := t.cellsOf(n)
	for x = 0; x < len(cells); x = behind {
		behind = x + 1
		for behind < len(cells) && cells[behind].Glyph == grid.Tail {
			behind++
		}
		t.text = t.appendGlyph(t.text[:0], cells[x].Glyph)
		if offset -= len(t.text); offset < 0 {
			return x, behind
		}
	}
	return x, x
}

// MarkOf gives the marks of a line.
func (t *store) MarkOf(n int64) RowMark {
	switch {
	case !t.has(n):
		return 0
	case n < t.hist.End():
		_, attrs := t.hist.LineText(n)
		return attrs.Mark
	}
	return t.scr.rows[n-t.hist.End()].mark
}
