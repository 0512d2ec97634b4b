package vt

// NewCellGrid lets the tests of grids reach the package's own.
func NewCellGrid(cols, rows int) Grid { return newCellGrid(cols, rows) }
