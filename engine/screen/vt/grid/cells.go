package grid

import "tandem/engine/base/invariants"

// A slab stores all cells in one slice. Rows are found through a separate order, so that scrolling
// whole rows moves row numbers instead of cells.
type slab struct {
	cols, rows int
	cells      []Cell
	order      []cellRow // by row; a window of orders
	orders     []cellRow
	moved      []cellRow // scratch for Scroll
}

// A cellRow is the start of a row's cells in the slab. From column used on, all of them are zero,
// so a short line costs no more than its text.
type cellRow struct{ at, used int32 }

// New returns a blank grid of cols × rows.
func New(cols, rows int) Grid {
	g := &slab{}
	g.Resize(cols, rows)
	return g
}

func (g *slab) Resize(cols, rows int) {
	g.cols, g.rows = cols, rows
	g.cells = make([]Cell, cols*rows)
	g.orders = make([]cellRow, SlabSize*rows)
	g.order = g.orders[:rows]
	g.moved = make([]cellRow, rows)
	for y := range g.order {
		g.order[y].at = int32(y * cols)
	}
}

func (g *slab) rowCells(y int) []Cell {
	at := int(g.order[y].at)
	return g.cells[at : at+g.cols : at+g.cols]
}

// writableCells returns the cells from x to the end of the row, and marks the first n as used.
func (g *slab) writableCells(x, y, n int) []Cell {
	if invariants.Enabled {
		g.checkSpan(x, y, n)
	}
	row := &g.order[y]
	row.used = max(row.used, int32(x+n))
	at := int(row.at)
	return g.cells[at+x : at+g.cols]
}

func (g *slab) PutASCII(x, y int, text []byte, s StyleID) {
	cells := g.writableCells(x, y, len(text))
	cells = cells[:len(text)]
	for i, b := range text {
		cells[i] = Cell{Glyph(b), s}
	}
}

func (g *slab) Put(x, y int, cells []Cell) { copy(g.writableCells(x, y, len(cells)), cells) }

func (g *slab) Cell(x, y int) Cell { return g.cells[int(g.order[y].at)+x] }

func (g *slab) Row(y int) []Cell { return g.rowCells(y) }

func (g *slab) Erase(x, y, n int, s StyleID) {
	if invariants.Enabled {
		g.checkSpan(x, y, n)
	}
	row := &g.order[y]
	// Cells past used are zero already: erasing to the end of a short line is nearly free.
	if s == 0 && x+n >= int(row.used) {
		n = max(int(row.used)-x, 0)
		row.used = min(row.used, int32(x))
		blankCells(g.rowCells(y)[x:x+n], 0)
		return
	}
	blankCells(g.writableCells(x, y, n)[:n], s)
}

func (g *slab) Insert(x, y, right, n int, s StyleID) {
	row := g.writableCells(x, y, right+1-x)[:right+1-x]
	n = min(n, len(row))
	copy(row[n:], row)
	blankCells(row[:n], s)
}

func (g *slab) Delete(x, y, right, n int, s StyleID) {
	row := g.writableCells(x, y, right+1-x)[:right+1-x]
	n = min(n, len(row))
	copy(row, row[n:])
	blankCells(row[len(row)-n:], s)
}

func (g *slab) Scroll(r Rect, n int, s StyleID) {
	if invariants.Enabled {
		g.checkRect(r, n)
	}
	switch whole := r.Left == 0 && r.Right == g.cols-1; {
	// A line feed at the bottom of the screen, by far the most common case.
	case whole && n == 1 && r.Top == 0 && r.Bottom == g.rows-1:
		top := g.order[0]
		g.order = Slide(g.orders, g.order)
		g.order[r.Bottom] = top
		g.Erase(0, r.Bottom, g.cols, s)
	case whole:
		g.scrollRows(r, n, s)
	default:
		g.scrollPart(r, n, s)
	}
}

// scrollRows rotates the order of rows, and blanks those rotated in.
func (g *slab) scrollRows(r Rect, n int, s StyleID) {
	order := g.order[r.Top : r.Bottom+1]
	fresh := r.Top
	if n > 0 {
		fresh = r.Bottom + 1 - n
		copy(g.moved, order[:n])
		copy(order, order[n:])
	} else {
		n = -n
		copy(g.moved, order[len(order)-n:])
		copy(order[n:], order)
	}
	copy(g.order[fresh:fresh+n], g.moved)
	for y := fresh; y < fresh+n; y++ {
		g.Erase(0, y, g.cols, s)
	}
}

// scrollPart copies cells between rows.
func (g *slab) scrollPart(r Rect, n int, s StyleID) {
	height, width := r.Bottom-r.Top+1, r.Right-r.Left+1
	for i := range height {
		to := r.Top + i
		if n < 0 {
			to = r.Bottom - i
		}
		row := g.writableCells(r.Left, to, width)[:width]
		if from := to + n; from >= r.Top && from <= r.Bottom {
			copy(row, g.rowCells(from)[r.Left:])
		} else {
			blankCells(row, s)
		}
	}
}

func blankCells(cells []Cell, s StyleID) {
	if s == 0 {
		clear(cells)
		return
	}
	for i := range cells {
		cells[i] = Cell{Style: s}
	}
}

// SlabSize is the length of a sliding slice, in screens.
const SlabSize = 4

// Slide moves a window of slab forward by one element, and back to the start once slab ends: only
// one scroll in many copies. The last element of the result is undefined.
func Slide[T any](slab, window []T) []T {
	n := len(window)
	if cap(window) == n {
		copy(slab, window[1:])
		return slab[:n]
	}
	return window[1 : n+1]
}
