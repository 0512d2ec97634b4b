package vt

// A cellGrid is the package's own grid: one slab of cells and the order of its
// rows, so that scrolling whole rows moves numbers instead of cells.
type cellGrid struct {
	cols, rows int
	slab       []Cell
	order      []int32 // by row: where its cells start in slab
	moved      []int32 // scratch of Scroll
}

func newCellGrid(cols, rows int) Grid {
	g := &cellGrid{}
	g.Resize(cols, rows)
	return g
}

func (g *cellGrid) Resize(cols, rows int) {
	g.cols, g.rows = cols, rows
	g.slab = make([]Cell, cols*rows)
	g.order = make([]int32, rows)
	g.moved = make([]int32, rows)
	for y := range g.order {
		g.order[y] = int32(y * cols)
	}
}

func (g *cellGrid) row(y int) []Cell {
	at := int(g.order[y])
	return g.slab[at : at+g.cols : at+g.cols]
}

func (g *cellGrid) PutASCII(x, y int, text []byte, s StyleID) {
	cells := g.row(y)[x:]
	cells = cells[:len(text)]
	for i, b := range text {
		cells[i] = Cell{Glyph(b), s}
	}
}

func (g *cellGrid) Put(x, y int, cells []Cell) { copy(g.row(y)[x:], cells) }

func (g *cellGrid) Cell(x, y int) Cell { return g.slab[int(g.order[y])+x] }

func (g *cellGrid) Row(y int) []Cell { return g.row(y) }

func (g *cellGrid) Erase(x, y, n int, s StyleID) { blankCells(g.row(y)[x:x+n], s) }

func (g *cellGrid) Insert(x, y, right, n int, s StyleID) {
	row := g.row(y)[x : right+1]
	n = min(n, len(row))
	copy(row[n:], row)
	blankCells(row[:n], s)
}

func (g *cellGrid) Delete(x, y, right, n int, s StyleID) {
	row := g.row(y)[x : right+1]
	n = min(n, len(row))
	copy(row, row[n:])
	blankCells(row[len(row)-n:], s)
}

func (g *cellGrid) Scroll(r Rect, n int, s StyleID) {
	if r.Left == 0 && r.Right == g.cols-1 {
		g.scrollRows(g.order[r.Top:r.Bottom+1], n, s)
		return
	}
	height := r.Bottom - r.Top + 1
	for i := range height {
		to := r.Top + i
		if n < 0 {
			to = r.Bottom - i
		}
		row := g.row(to)[r.Left : r.Right+1]
		if from := to + n; from >= r.Top && from <= r.Bottom {
			copy(row, g.row(from)[r.Left:])
		} else {
			blankCells(row, s)
		}
	}
}

// scrollRows rotates the rows in order and blanks those that came round.
func (g *cellGrid) scrollRows(order []int32, n int, s StyleID) {
	moved, fresh := g.moved, order
	if n == 1 {
		first := order[0]
		copy(order, order[1:])
		order[len(order)-1] = first
		blankCells(g.slab[first:int(first)+g.cols], s)
		return
	}
	if n > 0 {
		copy(moved, order[:n])
		copy(order, order[n:])
		fresh = order[len(order)-n:]
	} else {
		n = -n
		copy(moved, order[len(order)-n:])
		copy(order[n:], order)
		fresh = order[:n]
	}
	copy(fresh, moved[:n])
	for _, at := range fresh {
		blankCells(g.slab[at:int(at)+g.cols], s)
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
