package grid

// UsedColumns returns the column from which row y is known to be blank. For other implementations
// of Grid it returns the number of columns.
func UsedColumns(g Grid, y int) int {
	if own, ok := g.(*slab); ok {
		return int(own.order[y].used)
	}
	return len(g.Row(y))
}
