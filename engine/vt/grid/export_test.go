package grid

// Used is the column from which on a row of the package's own grid is said to be
// blank; of another grid it is the number of columns.
func Used(g Grid, y int) int {
	if own, ok := g.(*slab); ok {
		return int(own.order[y].used)
	}
	return len(g.Row(y))
}
