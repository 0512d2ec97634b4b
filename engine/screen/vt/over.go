package vt

import (
	"slices"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/charset"
	"tandem/engine/screen/vt/grid"
)

// An Overlay lets a caller draw over a terminal showing this screen, and undo it. The sequence is
// AppendPlainStyle, then drawing that starts and ends in the plain style, with AppendCells to
// restore cells, then AppendCursor. It is valid only while CanAddressCells is true.
type Overlay struct{ t *Terminal }

// NewOverlay returns the overlay of t.
func NewOverlay(t *Terminal) Overlay { return Overlay{t} }

// CanAddressCells reports whether text can be drawn at any cell: no mode is set that would move or
// translate it.
func (o Overlay) CanAddressCells() bool {
	t := o.t
	c, m := &t.page.cur, &t.page.mode
	return !m.insert && m.autowrap && !m.leftRight && !m.guarded && !m.national && !c.origin &&
		c.gl == 0 && c.single == 0 && c.g == [4]charset.Set{} &&
		!slices.ContainsFunc(t.store.scr.rows, func(r rowState) bool { return r.size != styled.SingleSize })
}

// WrapPending reports whether the next character wraps to the next row, because the last column has
// been written.
func (o Overlay) WrapPending() bool { return o.t.page.cur.pending }

// Pen returns the style of the next character, without its link.
func (o Overlay) Pen() styled.Style { return o.t.page.cur.pen.visibleStyle() }

// Cell returns the text and style of a cell: a space if it is blank, "" for the second half of a
// wide character.
func (o Overlay) Cell(x, y int) (text string, style styled.Style) {
	c := o.t.store.scr.grid.Cell(x, y)
	return string(o.t.store.appendGlyph(nil, c.Glyph)), o.t.store.styles.pens[c.Style].visibleStyle()
}

// AppendPlainStyle appends the sequence that switches from the program's pen to the plain style.
func (o Overlay) AppendPlainStyle(dst []byte) []byte {
	p := painter{t: o.t, dst: dst, pen: o.t.page.cur.pen}
	p.setPen(pen{})
	return p.dst
}

// AppendCells appends text that draws the screen's cells of row y from column x up to end, starting
// and ending in the plain style.
func (o Overlay) AppendCells(dst []byte, x, y, end int) []byte {
	row := slices.Clone(o.t.store.scr.grid.Row(y))
	// A wide cluster is drawn whole, even if the range cuts it.
	for x > 0 && row[x].Glyph == grid.Tail {
		x--
	}
	for end < len(row) && row[end].Glyph == grid.Tail {
		end++
	}
	p := painter{t: o.t, dst: dst}
	p.addCSI("", "H", y+1, x+1)
	p.paintCells(row[x:end])
	p.setPen(pen{})
	return p.dst
}

// AppendMargins appends the sequence to set the margins again after they were lifted for sixels,
// which would scroll inside them.
func (o Overlay) AppendMargins(dst []byte) []byte {
	p := painter{t: o.t, dst: dst}
	p.paintMargins()
	return p.dst
}

// AppendCursor appends the sequence to restore the cursor and the pen.
func (o Overlay) AppendCursor(dst []byte) []byte {
	p := painter{t: o.t, dst: dst}
	p.placeCursor(o.t.page.cur, o.t.store.scr, 0, 0)
	p.reprintLast(0, 0)
	return p.dst
}
