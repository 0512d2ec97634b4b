package vt

import (
	"tandem/engine/styled"
	"tandem/engine/vt/grid"
)

// csiRect executes the rectangle operations (DEC STD 070; xterm ctlseqs).
func (t *host) csiRect(b byte) {
	switch b {
	case 'x':
		t.fillRect()
	case 'z':
		if r, ok := t.rectAt(0); ok {
			t.eraseRect(r)
		}
	case '{':
		if r, ok := t.rectAt(0); ok {
			t.wipeRect(r)
		}
	case 'v':
		t.copyRect()
	case 'r', 't':
		t.changeRect(b == 't')
	}
}

// rectAt reads top, left, bottom and right from parameter i on, relative to the origin and clipped
// to the addressable area. ok is false if the rectangle is empty.
func (t *host) rectAt(i int) (grid.Rect, bool) {
	x0, y0 := t.origin()
	right, bottom := t.cols, t.rows
	if t.cur.origin {
		right, bottom = t.region.Right+1, t.region.Bottom+1
	}
	r := grid.Rect{
		Top: t.param(i, 1) - 1 + y0, Left: t.param(i+1, 1) - 1 + x0,
		Bottom: min(t.param(i+2, bottom-y0)+y0, bottom) - 1,
		Right:  min(t.param(i+3, right-x0)+x0, right) - 1,
	}
	return r, r.Top <= r.Bottom && r.Left <= r.Right
}

// fillRect implements DECFRA.
func (t *host) fillRect() {
	ch := t.param(0, 0)
	r, ok := t.rectAt(1)
	if !ok || ch < 0x20 || ch == 0x7F || ch >= 0x80 && ch < 0xA0 || ch > 0xFF {
		return
	}
	width := r.Right - r.Left + 1
	t.cells = t.cells[:0]
	for range width {
		t.cells = append(t.cells, grid.Cell{Glyph: grid.Glyph(ch), Style: t.penID()})
	}
	for y := r.Top; y <= r.Bottom; y++ {
		t.putCells(r.Left, y, t.cells)
	}
}

// putCells overwrites cells.
func (t *writer) putCells(x, y int, cells []grid.Cell) {
	t.splitWide(x, y)
	t.splitWide(x+len(cells), y)
	t.scr.grid.Put(x, y, cells)
	t.cutTextStrips(x, y, len(cells))
	t.noteWritten(y, x+len(cells))
}

// eraseRect implements DECERA.
func (t *writer) eraseRect(r grid.Rect) {
	for y := r.Top; y <= r.Bottom; y++ {
		t.eraseCells(r.Left, y, r.Right-r.Left+1, t.blankID())
	}
}

// wipeRect implements DECSERA: unprotected cells become spaces in their present style.
func (t *writer) wipeRect(r grid.Rect) {
	t.splitColumns(r)
	for y := r.Top; y <= r.Bottom; y++ {
		t.cells = append(t.cells[:0], t.scr.grid.Row(y)[r.Left:r.Right+1]...)
		for i := range t.cells {
			if t.mode.guarded || !t.isProtected(r.Left+i, y) {
				t.cells[i].Glyph = ' '
			}
		}
		t.putCells(r.Left, y, t.cells)
	}
}

// copyRect implements DECCRA. The rectangles may overlap.
func (t *host) copyRect() {
	r, ok := t.rectAt(0)
	x0, y0 := t.origin()
	toY, toX := t.param(5, 1)-1+y0, t.param(6, 1)-1+x0
	right, bottom := t.cols-1, t.rows-1
	if t.cur.origin {
		right, bottom = t.region.Right, t.region.Bottom
	}
	width, height := min(r.Right-r.Left, right-toX)+1, min(r.Bottom-r.Top, bottom-toY)+1
	if !ok || width <= 0 || height <= 0 {
		return
	}
	for i := range height {
		if toY > r.Top { // bottom up: no source row is overwritten before it is copied
			i = height - 1 - i
		}
		t.copyCells(r.Left, r.Top+i, toX, toY+i, width)
	}
}

// copyCells copies part of a row. Halves of wide clusters become blank.
func (t *writer) copyCells(x, y, toX, toY, n int) {
	t.cells = append(t.cells[:0], t.scr.grid.Row(y)[x:min(x+n+1, t.cols)]...)
	// The extra cell shows whether the copy cuts a wide cluster at its end.
	if len(t.cells) > n {
		if t.cells[n].Glyph == grid.Tail {
			t.cells[n-1].Glyph = 0
		}
		t.cells = t.cells[:n]
	}
	if t.cells[0].Glyph == grid.Tail {
		t.cells[0].Glyph = 0
	}
	t.putCells(toX, toY, t.cells)
	if t.scr.rows[y].wide > 0 {
		t.scr.rows[toY].wide = int16(t.cols)
	}
}

// changeRect implements DECCARA and, with reverse, DECRARA. Without DECSACE's rectangle, the change
// runs from the first cell to the last, like text.
func (t *host) changeRect(reverse bool) {
	r, ok := t.rectAt(0)
	// A range over several rows may start further right than it ends.
	if !ok && (t.mode.rectExtent == 2 || r.Top >= r.Bottom) {
		return
	}
	for y := r.Top; y <= r.Bottom; y++ {
		left, right := r.Left, r.Right
		if t.mode.rectExtent != 2 {
			if y > r.Top {
				left = 0
			}
			if y < r.Bottom {
				right = t.cols - 1
			}
		}
		if left <= right {
			t.changeCells(left, right, y, reverse)
		}
	}
}

// changeCells changes part of a row. A wide cluster belongs to its first half.
func (t *host) changeCells(left, right, y int, reverse bool) {
	if t.scr.grid.Cell(left, y).Glyph == grid.Tail {
		left++
	}
	if right < t.cols-1 && t.scr.grid.Cell(right+1, y).Glyph == grid.Tail {
		right++
	}
	if left > right {
		return
	}
	t.cells = append(t.cells[:0], t.scr.grid.Row(y)[left:right+1]...)
	for i := range t.cells {
		p := t.styles.pens[t.cells[i].Style]
		for k := 4; k < max(t.ps.n, 5); k++ {
			p.changeAttr(int32(t.param(k, 0)), reverse)
		}
		t.cells[i].Style = t.styles.intern(p)
	}
	t.scr.grid.Put(left, y, t.cells)
	t.noteWritten(y, right+1)
}

// changeAttr applies one attribute of DECCARA or DECRARA.
func (p *pen) changeAttr(n int32, reverse bool) {
	const all = styled.Bold | styled.Blink | styled.Reverse | styled.Conceal
	switch {
	case !reverse && n == 0:
		p.attrs, p.under = p.attrs&^all, styled.UnderlineNone
	case !reverse && n == 4:
		p.under = styled.UnderlineSingle
	case !reverse:
		p.applySGR([]int32{n}, 0)
	case n == 4 || n == 0:
		if p.under != styled.UnderlineNone {
			p.under = styled.UnderlineNone
		} else {
			p.under = styled.UnderlineSingle
		}
		if n == 0 {
			p.attrs ^= all
		}
	default:
		on, _ := styled.SGRAttrs(n)
		p.attrs ^= on
	}
}

// reportChecksum implements DECRQCRA: the negated sum of characters and attributes, unless
// XTCHECKSUM chose another. As in xterm, only the rectangle's first blank counts, and neither
// protection nor concealing does.
func (t *host) reportChecksum() {
	r, ok := t.rectAt(2)
	sum := 0
	if ok {
		first := true
		for y := r.Top; y <= r.Bottom; y++ {
			for _, c := range t.scr.grid.Row(y)[r.Left : r.Right+1] {
				sum += t.cellSum(c, first)
				first = false
			}
		}
	}
	if t.mode.checksum&checksumPositive == 0 {
		sum = -sum
	}
	t.replyf("\x1bP%d!~%04X\x1b\\", t.param(0, 0), sum&0xFFFF)
}

// cellSum returns a cell's contribution to the checksum.
func (t *host) cellSum(c grid.Cell, first bool) int {
	how := t.mode.checksum
	if c.Empty() && c.Style == 0 && !first && how&checksumBlanks == 0 {
		return 0
	}
	sum := t.glyphSum(c)
	if how&checksumPlain != 0 {
		return sum
	}
	p := t.styles.pens[c.Style]
	for _, a := range [...]struct {
		on   bool
		adds int
	}{{p.under != 0, 0x10}, {p.attrs&styled.Reverse != 0, 0x20}, {p.attrs&styled.Blink != 0, 0x40}, {p.attrs&styled.Bold != 0, 0x80}} {
		if a.on {
			sum += a.adds
		}
	}
	return sum
}

// glyphSum returns the sum of a cell's code points; only the low eight bits of the first one unless
// checksumWide is set.
func (t *host) glyphSum(c grid.Cell) (sum int) {
	t.text = t.appendGlyph(t.text[:0], c.Glyph)
	for _, r := range string(t.text) {
		if t.mode.checksum&checksumWide == 0 {
			return int(r) & 0xFF
		}
		sum += int(r)
	}
	return sum
}
