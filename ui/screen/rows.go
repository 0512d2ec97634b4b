package screen

import (
	uv "github.com/charmbracelet/ultraviolet"
)

// screenRows holds the rows on the screen, and those that the next frame changes.
type screenRows struct {
	text    []string // of each row in the frame drawn last
	cells   *uv.RenderBuffer
	drawn   []uv.Line // new cells of changed rows
	changed []bool
	wide    []bool // rows drawn with wide cells
}

func newScreenRows(w, h int) screenRows {
	return screenRows{
		text: make([]string, h), cells: uv.NewRenderBuffer(w, h), drawn: uv.NewBuffer(w, h).Lines,
		changed: make([]bool, h), wide: make([]bool, h),
	}
}

// draw draws the frame's rows that differ from the last one, or all of them, and returns
// how many.
func (r *screenRows) draw(f frame, all bool) (drawn int) {
	for y := range f.h {
		row := ""
		if y < len(f.rows) {
			row = f.rows[y]
		}
		r.changed[y] = all || row != r.text[y]
		if r.changed[y] {
			r.wide[y] = drawRow(r.drawn[y], row, f.clusters, f.background)
			r.text[y] = row
			drawn++
		}
	}
	return drawn
}

// replace puts the new cells of changed row y on the screen. It returns the row's cells before and
// after.
func (r *screenRows) replace(y int) (before, after uv.Line) {
	before, after = r.cells.Lines[y], r.drawn[y]
	r.cells.Lines[y], r.drawn[y] = after, before
	return before, after
}

// touch makes the renderer compare row y. If the rows at the bottom are blank, the renderer also
// clears the row above them, so that one must be compared as well.
func (r *screenRows) touch(y int) {
	line := r.cells.Line(y)
	r.cells.TouchLine(0, y, len(line))
	if contentCost(line) == 0 {
		r.cells.TouchLine(0, y-1, len(line))
	}
}

// move moves the cells as the terminal does. All rows of the move count as changed.
func (r *screenRows) move(m move) {
	for y := m.top; y < m.bottom; y++ {
		if !r.changed[y] {
			copy(r.drawn[y], r.cells.Lines[y])
			r.changed[y] = true
		}
	}
	m.apply(r.cells.Lines)
}
