package vt

import (
	"slices"

	"tandem/engine/styled"
	"tandem/engine/vt/charset"
	"tandem/engine/vt/grid"
)

// An Overlay is a screen for who draws over a terminal that shows it, and takes that
// back: AppendPlainStyle, then whatever is drawn in the plain style and ends in it,
// AppendCells among it, then AppendCursor. It holds while CanAddressCells.
type Overlay struct{ t *Terminal }

// NewOverlay returns the screen of a terminal.
func NewOverlay(t *Terminal) Overlay { return Overlay{t} }

// CanAddressCells says that each cell can be drawn at its address: no mode is set that
// would have text go elsewhere or be other text.
func (o Overlay) CanAddressCells() bool {
	t := o.t
	c, m := &t.cur, &t.mode
	return !m.insert && m.autowrap && !m.leftRight && !m.guarded && !m.national && !c.origin &&
		c.gl == 0 && c.single == 0 && c.g == [4]charset.Set{} &&
		!slices.ContainsFunc(t.scr.rows, func(r rowState) bool { return r.size != styled.SingleSize })
}

// WrapPending says that the next character goes to the next row: the cursor stands on the
// last column, which was written.
func (o Overlay) WrapPending() bool { return o.t.cur.pending }

// Pen is how the next character looks, without its link.
func (o Overlay) Pen() styled.Style { return o.t.cur.pen.look() }

// Cell is what a cell of the screen shows: a space where it is blank, nothing in
// the second half of a wide character.
func (o Overlay) Cell(x, y int) (text string, style styled.Style) {
	c := o.t.scr.grid.Cell(x, y)
	return string(o.t.appendGlyph(nil, c.Glyph)), o.t.styles.pens[c.Style].look()
}

// AppendPlainStyle appends what leaves the pen of the program for the plain style.
func (o Overlay) AppendPlainStyle(dst []byte) []byte {
	p := painter{t: o.t, dst: dst, pen: o.t.cur.pen}
	p.setPen(pen{})
	return p.dst
}

// AppendCells appends what draws the cells of a row from x up to end as they are,
// in the plain style before and after.
func (o Overlay) AppendCells(dst []byte, x, y, end int) []byte {
	row := slices.Clone(o.t.scr.grid.Row(y))
	for x > 0 && row[x].Glyph == grid.Tail {
		x--
	}
	for end < len(row) && row[end].Glyph == grid.Tail {
		end++
	}
	p := painter{t: o.t, dst: dst}
	p.csi("", "H", y+1, x+1)
	p.row(row[x:end])
	p.setPen(pen{})
	return p.dst
}

// AppendMargins appends what sets the margins again where they were lifted, as sixels would
// scroll what is between them.
func (o Overlay) AppendMargins(dst []byte) []byte {
	p := painter{t: o.t, dst: dst}
	p.margins()
	return p.dst
}

// AppendCursor appends what brings the cursor and the pen back.
func (o Overlay) AppendCursor(dst []byte) []byte {
	p := painter{t: o.t, dst: dst}
	p.place(o.t.cur, o.t.scr, 0, 0)
	p.printLast(0, 0)
	return p.dst
}
