package grid

import "tandem/engine/invariants"

// A slab is one slab of cells and the order of its
// rows, so that scrolling whole rows moves their places instead of cells.
type slab struct {
	cols, rows int
	cells      []Cell
	order      []cellRow // by row; a part of orders
	orders     []cellRow
	moved      []cellRow // scratch of Scroll
}

// A cellRow is where the cells of a row start in the slab. From column used on
// they are all zero, so that a short line costs no more than its text.
type cellRow struct{ at, used int32 }

// New makes a grid of cols × rows, all blank in the default style.
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

func (g *slab) row(y int) []Cell {
	at := int(g.order[y].at)
	return g.cells[at : at+g.cols : at+g.cols]
}

// write gives the cells from x on, of which the first n will change.
func (g *slab) write(x, y, n int) []Cell {
	if invariants.Enabled {
		g.checkSpan(x, y, n)
	}
	row := &g.order[y]
	row.used = max(row.used, int32(x+n))
	at := int(row.at)
	return g.cells[at+x : at+g.cols]
}

func (g *slab) PutASCII(x, y int, text []byte, s StyleID) {
	cells := g.write(x, y, len(text))
	cells = cells[:len(text)]
	for i, b := range text {
		cells[i] = Cell{Glyph(b), s}
	}
}

func (g *slab) Put(x, y int, cells []Cell) { copy(g.write(x, y, len(cells)), cells) }

func (g *slab) Cell(x, y int) Cell { return g.cells[int(g.order[y].at)+x] }

func (g *slab) Row(y int) []Cell { return g.row(y) }

func (g *slab) Erase(x, y, n int, s StyleID) {
	if invariants.Enabled {
		g.checkSpan(x, y, n)
	}
	row := &g.order[y]
	if s == 0 && x+n >= int(row.used) {
		n = max(int(row.used)-x, 0)
		row.used = min(row.used, int32(x))
		blankCells(g.row(y)[x:x+n], 0)
		return
	}
	blankCells(g.write(x, y, n)[:n], s)
}

func (g *slab) Insert(x, y, right, n int, s StyleID) {
	row := g.write(x, y, right+1-x)[:right+1-x]
	n = min(n, len(row))
	copy(row[n:], row)
	blankCells(row[:n], s)
}

func (g *slab) Delete(x, y, right, n int, s StyleID) {
	row := g.write(x, y, right+1-x)[:right+1-x]
	n = min(n, len(row))
	copy(row, row[n:])
	blankCells(row[len(row)-n:], s)
}

func (g *slab) Scroll(r Rect, n int, s StyleID) {
	if invariants.Enabled {
		g.checkRect(r, n)
	}
	switch whole := r.Left == 0 && r.Right == g.cols-1; {
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

// scrollRows rotates the rows in order and blanks those that came round.
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
		row := g.write(r.Left, to, width)[:width]
		if from := to + n; from >= r.Top && from <= r.Bottom {
			copy(row, g.row(from)[r.Left:])
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

// SlabSize is how much longer than a screen the slices are that it slides over.
const SlabSize = 4

// Slide moves a window of slab on by one element, and back to the start where
// the slab ends, so that scrolling costs the same for all screens. The last
// element is any.
func Slide[T any](slab, window []T) []T {
	n := len(window)
	if cap(window) == n {
		copy(slab, window[1:])
		return slab[:n]
	}
	return window[1 : n+1]
}
