package grid

import "tandem/engine/base/invariants"

// Check panics if a grid of this package is inconsistent. The terminal calls it after each change
// in builds with the tag invariants; the grid itself does not, because a check reads every cell.
func Check(g Grid) {
	if own, ok := g.(*slab); ok {
		own.check()
	}
}

// check panics if rows share cells or omit some, or if cells past used are not zero.
func (g *slab) check() {
	start := cap(g.orders) - cap(g.order)
	switch {
	case len(g.cells) != g.cols*g.rows, len(g.order) != g.rows, len(g.orders) != SlabSize*g.rows:
		invariants.Failf("grid of %d × %d has %d cells and %d rows, in a slice of %d", g.cols, g.rows, len(g.cells), len(g.order), len(g.orders))
	case start < 0, start+g.rows > len(g.orders), g.rows > 0 && &g.orders[start] != &g.order[0]:
		invariants.Failf("the order of rows starts at %d, outside its slice of %d", start, len(g.orders))
	}
	clear(g.moved) // scratch: marks cells that already belong to a row
	for y, row := range g.order {
		at := int(row.at)
		switch {
		case at < 0, at%g.cols != 0, at/g.cols >= g.rows, g.moved[at/g.cols].used != 0:
			invariants.Failf("row %d starts at cell %d, which is no row's start or another row's too: %v", y, at, g.order)
		case row.used < 0, int(row.used) > g.cols:
			invariants.Failf("row %d is used up to column %d of %d", y, row.used, g.cols)
		}
		g.moved[at/g.cols].used = 1
		for x, c := range g.rowCells(y)[row.used:] {
			if c != (Cell{}) {
				invariants.Failf("row %d is used up to column %d and has %v in column %d", y, row.used, c, int(row.used)+x)
			}
		}
	}
}

// checkSpan panics unless n cells starting at x are in row y.
func (g *slab) checkSpan(x, y, n int) {
	if y < 0 || y >= g.rows || x < 0 || n < 0 || x+n > g.cols {
		invariants.Failf("%d cells at %d,%d are outside a grid of %d × %d", n, x, y, g.cols, g.rows)
	}
}

// checkRect panics unless a rectangle is in the grid and can scroll by n rows.
func (g *slab) checkRect(r Rect, n int) {
	g.checkSpan(r.Left, r.Top, r.Right+1-r.Left)
	g.checkSpan(r.Left, r.Bottom, r.Right+1-r.Left)
	if height := r.Bottom + 1 - r.Top; height < 1 || n < -height || n > height {
		invariants.Failf("%+v cannot scroll by %d rows", r, n)
	}
}
