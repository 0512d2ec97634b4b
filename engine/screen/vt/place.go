package vt

import (
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt/history"
)

// A Position is a cell in the sequence of scrollback and screen.
type Position struct {
	Line int64 // absolute line number
	X    int
}

// RowMark is a set of shell marks of a row (OSC 133).
type RowMark = history.Mark

const (
	MarkPrompt = history.MarkPrompt // a prompt (A)
	MarkOutput = history.MarkOutput // a command's output (C)
)

// markRow marks the cursor's row as the start of a prompt or of output. The alternate screen has no
// marks.
func (t *page) markRow(kind byte) {
	if t.store.scr != t.store.main {
		return
	}
	row := &t.store.scr.rows[t.cur.y]
	switch kind {
	case 'A':
		row.mark |= MarkPrompt
	case 'C':
		row.mark |= MarkOutput
	default:
		return
	}
	row.version = t.store.epoch
}

// splitByScreen separates positions on the visible alternate screen from all others.
func (t *Terminal) splitByScreen(keep []*Position) (onMain, onOther []*Position) {
	for _, p := range keep {
		if t.store.scr == t.store.alt && p.Line >= t.store.hist.End() {
			onOther = append(onOther, p)
		} else {
			onMain = append(onMain, p)
		}
	}
	return onMain, onOther
}

// newMarks returns the marks for a reflow to carry along, one per position.
func (t *Terminal) newMarks(keep []*Position) []*mark {
	marks := make([]*mark, len(keep))
	for i, p := range keep {
		marks[i] = &mark{int(max(p.Line-t.store.hist.Oldest(), 0)), max(p.X, 0)}
	}
	return marks
}

// moveToMarks updates the positions in keep from their marks after a reflow that has read the given
// number of rows. A position below these rows keeps its distance to them.
func (f *reflow) moveToMarks(keep []*Position, marks []*mark, read int) {
	base := f.t.hist.Oldest() - f.out.Oldest()
	for i, p := range keep {
		m := *marks[i]
		if below := m.row - read; below >= 0 && p.Line-f.t.hist.Oldest() == int64(m.row) {
			m.row = int(f.out.End()) + below
		}
		p.Line, p.X = base+int64(m.row), min(m.x, f.cols-1)
	}
}

// AppendText appends the text of a line for searching; trailing blanks may be missing. ok is false
// if the line does not exist.
func (t *Terminal) AppendText(dst []byte, n int64) (text []byte, wrapped, ok bool) {
	if !t.hasLine(n) {
		return dst, false, false
	}
	if n < t.store.hist.End() {
		text, attrs := t.store.hist.LineText(n)
		return append(dst, text...), attrs.Wrapped, true
	}
	y := int(n - t.store.hist.End())
	for _, c := range t.store.scr.textCells(y) {
		dst = t.store.appendGlyph(dst, c.Glyph)
	}
	return dst, t.store.scr.rows[y].wrapped, true
}

// PrintedCells counts the cells of line n up to the last printed one. On the screen, printed blanks
// count too.
func (t *Terminal) PrintedCells(n int64) int {
	cells := t.store.lineCells(n)
	if y := int(n - t.store.hist.End()); y >= 0 && !t.store.scr.rows[y].wrapped {
		cells = t.store.scr.grid.Row(y)
	}
	return grid.CountPrinted(cells)
}

// lineCells returns the cells of an existing line. They are valid until the next call.
func (t *store) lineCells(n int64) []grid.Cell {
	if n < t.hist.End() {
		t.cells, _ = t.hist.Get(n, t.cells[:0], t.internCluster)
		return t.cells
	}
	return t.scr.textCells(int(n - t.hist.End()))
}

func (t *Terminal) hasLine(n int64) bool {
	oldest, _, end := t.Bounds()
	return n >= oldest && n < end
}

// AppendCells appends the text of line n in the columns [from, to). A wide cluster at either edge
// is included whole.
func (t *Terminal) AppendCells(dst []byte, n int64, from, to int) []byte {
	if !t.hasLine(n) {
		return dst
	}
	cells := t.store.lineCells(n)
	from, to = max(from, 0), min(to, len(cells))
	if from > 0 && from < to && cells[from].Glyph == grid.Tail {
		from--
	}
	for x := from; x < to; x++ {
		dst = t.store.appendGlyph(dst, cells[x].Glyph)
	}
	return dst
}

// CellAt returns the column of the cell containing the byte at offset in a line's text, and the
// column after that cell.
func (t *Terminal) CellAt(n int64, offset int) (x, behind int) {
	if !t.hasLine(n) {
		return 0, 0
	}
	cells := t.store.lineCells(n)
	for x = 0; x < len(cells); x = behind {
		behind = x + 1
		for behind < len(cells) && cells[behind].Glyph == grid.Tail {
			behind++
		}
		t.store.text = t.store.appendGlyph(t.store.text[:0], cells[x].Glyph)
		if offset -= len(t.store.text); offset < 0 {
			return x, behind
		}
	}
	return x, x
}

// MarkOf returns the marks of line n.
func (t *Terminal) MarkOf(n int64) RowMark {
	switch {
	case !t.hasLine(n):
		return 0
	case n < t.store.hist.End():
		_, attrs := t.store.hist.LineText(n)
		return attrs.Mark
	}
	return t.store.scr.rows[n-t.store.hist.End()].mark
}
