package vt

import (
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/grid"
)

// csiRect executes the rectangle operations (DEC STD 070; xterm ctlseqs).
func (t *host) csiRect(b byte) {
	switch b {
	case 'x':
		t.fillRect()
	case 'z':
		if r, ok := t.rectAt(0); ok {
			t.writer.eraseRect(r)
		}
	case '{':
		if r, ok := t.rectAt(0); ok {
			t.writer.wipeRect(r)
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
	x0, y0 := t.page.origin()
	right, bottom := t.store.cols, t.store.rows
	if t.page.cur.origin {
		right, bottom = t.page.region.Right+1, t.page.region.Bottom+1
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
	t.store.cells = t.store.cells[:0]
	for range width {
		t.store.cells = append(t.store.cells, grid.Cell{Glyph: grid.Glyph(ch), Style: t.page.penID()})
	}
	for y := r.Top; y <= r.Bottom; y++ {
		t.writer.putCells(r.Left, y, t.store.cells)
	}
}

// putCells overwrites cells.
func (t *writer) putCells(x, y int, cells []grid.Cell) {
	t.store.splitWide(x, y)
	t.store.splitWide(x+len(cells), y)
	t.store.scr.grid.Put(x, y, cells)
	t.store.cutTextStrips(x, y, len(cells))
	t.store.noteWritten(y, x+len(cells))
}

// eraseRect implements DECERA.
func (t *writer) eraseRect(r grid.Rect) {
	for y := r.Top; y <= r.Bottom; y++ {
		t.page.eraseCells(r.Left, y, r.Right-r.Left+1, t.page.blankID())
	}
}

// wipeRect implements DECSERA: unprotected cells become spaces in their present style.
func (t *writer) wipeRect(r grid.Rect) {
	t.store.splitColumns(r)
	for y := r.Top; y <= r.Bottom; y++ {
		t.store.cells = append(t.store.cells[:0], t.store.scr.grid.Row(y)[r.Left:r.Right+1]...)
		for i := range t.store.cells {
			// As in xterm, this spares cells protected by DECSCA, but not those guarded by SPA.
			if t.page.mode.guarded || !t.store.isProtected(r.Left+i, y) {
				t.store.cells[i].Glyph = ' '
			}
		}
		t.putCells(r.Left, y, t.store.cells)
	}
}

// copyRect implements DECCRA. The rectangles may overlap.
func (t *host) copyRect() {
	r, ok := t.rectAt(0)
	x0, y0 := t.page.origin()
	toY, toX := t.param(5, 1)-1+y0, t.param(6, 1)-1+x0
	right, bottom := t.store.cols-1, t.store.rows-1
	if t.page.cur.origin {
		right, bottom = t.page.region.Right, t.page.region.Bottom
	}
	width, height := min(r.Right-r.Left, right-toX)+1, min(r.Bottom-r.Top, bottom-toY)+1
	if !ok || width <= 0 || height <= 0 {
		return
	}
	t.store.pictures.Changes.TextMoves++
	for i := range height {
		if toY > r.Top { // bottom up: no source row is overwritten before it is copied
			i = height - 1 - i
		}
		t.writer.copyCells(r.Left, r.Top+i, toX, toY+i, width)
	}
}

// copyCells copies part of a row. Halves of wide clusters become blank.
func (t *writer) copyCells(x, y, toX, toY, n int) {
	t.store.cells = append(t.store.cells[:0], t.store.scr.grid.Row(y)[x:min(x+n+1, t.store.cols)]...)
	// The extra cell shows whether the copy cuts a wide cluster at its end.
	if len(t.store.cells) > n {
		if t.store.cells[n].Glyph == grid.Tail {
			t.store.cells[n-1].Glyph = 0
		}
		t.store.cells = t.store.cells[:n]
	}
	if t.store.cells[0].Glyph == grid.Tail {
		t.store.cells[0].Glyph = 0
	}
	t.putCells(toX, toY, t.store.cells)
	if t.store.scr.rows[y].wide > 0 {
		t.store.scr.rows[toY].wide = int16(t.store.cols)
	}
}

// changeRect implements DECCARA and, with reverse, DECRARA. Without DECSACE's rectangle, the change
// runs from the first cell to the last, like text.
func (t *host) changeRect(reverse bool) {
	r, ok := t.rectAt(0)
	// A range over several rows may start further right than it ends.
	if !ok && (t.page.mode.rectExtent == 2 || r.Top >= r.Bottom) {
		return
	}
	for y := r.Top; y <= r.Bottom; y++ {
		left, right := r.Left, r.Right
		if t.page.mode.rectExtent != 2 {
			if y > r.Top {
				left = 0
			}
			if y < r.Bottom {
				right = t.store.cols - 1
			}
		}
		if left <= right {
			t.changeCells(left, right, y, reverse)
		}
	}
}

// changeCells changes part of a row. A wide cluster belongs to its first half.
func (t *host) changeCells(left, right, y int, reverse bool) {
	if t.store.scr.grid.Cell(left, y).Glyph == grid.Tail {
		left++
	}
	if right < t.store.cols-1 && t.store.scr.grid.Cell(right+1, y).Glyph == grid.Tail {
		right++
	}
	if left > right {
		return
	}
	t.store.cells = append(t.store.cells[:0], t.store.scr.grid.Row(y)[left:right+1]...)
	for i := range t.store.cells {
		p := t.store.styles.pens[t.store.cells[i].Style]
		for k := 4; k < max(t.ps.n, 5); k++ {
			p.changeAttr(int32(t.param(k, 0)), reverse)
		}
		t.store.cells[i].Style = t.store.styles.intern(p)
	}
	t.store.scr.grid.Put(left, y, t.store.cells)
	t.store.noteWritten(y, right+1)
}

// changeAttr applies one attribute of DECCARA or DECRARA.
func (p *pen) changeAttr(n int32, reverse bool) {
	const all = styled.Bold | styled.Blink | styled.Reverse | styled.Conceal
	switch {
	case !reverse && n == 0:
		p.Attrs, p.Underline = p.Attrs&^all, styled.UnderlineNone
	case !reverse && n == 4:
		p.Underline = styled.UnderlineSingle
	case !reverse:
		p.applySGR([]int32{n}, 0)
	case n == 4 || n == 0:
		if p.Underline != styled.UnderlineNone {
			p.Underline = styled.UnderlineNone
		} else {
			p.Underline = styled.UnderlineSingle
		}
		if n == 0 {
			p.Attrs ^= all
		}
	default:
		on, _ := styled.SGRAttrs(n)
		p.Attrs ^= on
	}
}

// reportChecksum implements DECRQCRA: it reports the negated sum of characters and attributes, or
// the checksum chosen with XTCHECKSUM. As in xterm, only the rectangle's first blank counts, and
// neither protection nor concealing does.
func (t *host) reportChecksum() {
	r, ok := t.rectAt(2)
	sum := 0
	if ok {
		first := true
		for y := r.Top; y <= r.Bottom; y++ {
			for _, c := range t.store.scr.grid.Row(y)[r.Left : r.Right+1] {
				sum += t.cellSum(c, first)
				first = false
			}
		}
	}
	if t.page.mode.checksum&checksumPositive == 0 {
		sum = -sum
	}
	t.replyf("\x1bP%d!~%04X\x1b\\", t.param(0, 0), sum&0xFFFF)
}

// cellSum returns a cell's contribution to the checksum.
func (t *host) cellSum(c grid.Cell, first bool) int {
	how := t.page.mode.checksum
	if c.Empty() && c.Style == 0 && !first && how&checksumBlanks == 0 {
		return 0
	}
	sum := t.glyphSum(c)
	if how&checksumPlain != 0 {
		return sum
	}
	p := t.store.styles.pens[c.Style]
	for _, a := range [...]struct {
		on   bool
		adds int
	}{{p.Underline != 0, 0x10}, {p.Attrs&styled.Reverse != 0, 0x20}, {p.Attrs&styled.Blink != 0, 0x40}, {p.Attrs&styled.Bold != 0, 0x80}} {
		if a.on {
			sum += a.adds
		}
	}
	return sum
}

// glyphSum returns the sum of a cell's code points; only the low eight bits of the first one unless
// checksumWide is set.
func (t *host) glyphSum(c grid.Cell) (sum int) {
	t.store.text = t.store.appendGlyph(t.store.text[:0], c.Glyph)
	for _, r := range string(t.store.text) {
		if t.page.mode.checksum&checksumWide == 0 {
			return int(r) & 0xFF
		}
		sum += int(r)
	}
	return sum
}
