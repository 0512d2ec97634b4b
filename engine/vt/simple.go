package vt

import (
	"slices"

	"tandem/engine/cellwidth"
	"tandem/engine/vt/charset"
	"tandem/engine/vt/grid"
	"tandem/engine/vt/scan"
)

// printSimple prints a run of characters that cannot join their predecessors, and the ASCII between
// them, as far as they fit in the row. It returns the number of bytes printed; 0 leaves p to
// printRune.
func (t *writer) printSimple(p []byte) int {
	// These states need the checks of printRune.
	if t.page.cur.pending || t.page.mode.insert || t.page.cur.single != 0 || t.lastRune == zwj || isLeadingJamo(t.lastRune) {
		return 0
	}
	limit := t.page.rightLimit()
	room := limit - t.page.cur.x + 1
	t.store.cells = slices.Grow(t.store.cells[:0], room)
	ascii := t.page.cur.g[t.page.cur.gl] == charset.ASCII
	filled, used := fillSimple(t.store.cells[:room], p, t.page.penID(), ascii)
	if used > 0 {
		t.putSimple(t.store.cells[:filled], limit)
	}
	return used
}

// fillSimple fills cells with the simple characters at the start of p, including ASCII if ascii is
// true. It returns the number of cells and bytes used.
func fillSimple(cells []grid.Cell, p []byte, style grid.StyleID, ascii bool) (filled, used int) {
	for used < len(p) && filled < len(cells) {
		if b := p[used]; b < 0x80 {
			if b < ' ' || b == 0x7F || !ascii {
				break
			}
			cells[filled] = grid.Cell{Glyph: grid.Glyph(b), Style: style}
			filled++
			used++
			continue
		}
		if n := fillWide(cells[filled:], p[used:], style); n > 0 {
			filled += 2 * n
			used += 3 * n
			continue
		}
		r, n := scan.DecodeRune(p[used:])
		w := simpleWidth(r)
		if n == 0 || w == 0 || filled+w > len(cells) {
			break
		}
		cells[filled] = grid.Cell{Glyph: grid.Glyph(r), Style: style}
		if w == 2 {
			cells[filled+1] = grid.Cell{Glyph: grid.Tail, Style: style}
		}
		filled += w
		used += n
	}
	return filled, used
}

// fillWide fills cells with the Chinese characters and Hangul syllables at the start of p, and
// returns their number. It decodes them itself, because most text beyond ASCII consists of them.
func fillWide(cells []grid.Cell, p []byte, style grid.StyleID) (n int) {
	for len(p) >= 3 && len(cells) >= 2 && p[0]&0xF0 == 0xE0 && (p[1]^0x80)|(p[2]^0x80) < 0x40 {
		r := rune(p[0]&0x0F)<<12 | rune(p[1]&0x3F)<<6 | rune(p[2]&0x3F)
		if !isCommonWide(r) {
			break
		}
		cells[0], cells[1] = grid.Cell{Glyph: grid.Glyph(r), Style: style}, grid.Cell{Glyph: grid.Tail, Style: style}
		cells, p = cells[2:], p[3:]
		n++
	}
	return n
}

// putSimple writes cells that fit in the row at the cursor.
func (t *writer) putSimple(cells []grid.Cell, limit int) {
	t.makeRoom(len(cells), limit)
	t.store.scr.grid.Put(t.page.cur.x, t.page.cur.y, cells)
	t.store.noteWritten(t.page.cur.y, t.page.cur.x+len(cells))
	last := cells[len(cells)-1].Glyph
	wide := last == grid.Tail
	if wide {
		last = cells[len(cells)-2].Glyph
	}
	if len(cells) > 1 {
		t.noteWide(t.page.cur.x + len(cells))
	}
	t.advanceCursor(len(cells), limit)
	t.notePrinted(rune(last), last, wide)
}

func isLeadingJamo(r rune) bool { return r >= 0x1100 && r <= 0x115F || r >= 0xA960 && r <= 0xA97C }

// isCommonWide reports whether r is a common Chinese character or a Hangul syllable; most wide
// characters are.
func isCommonWide(r rune) bool { return r >= 0x4E00 && r < 0xA000 || r >= 0xAC00 && r < 0xD7A4 }

// simpleWidth returns the width of the common characters that always start a new cluster, except
// after ZWJ and a leading Jamo. It returns 0 for all others.
func simpleWidth(r rune) int {
	switch {
	case isCommonWide(r):
		return 2
	case r < 0xA0:
		return 0
	case r < 0x300, r >= 0x370 && r < 0x483, r >= 0x48A && r < 0x530:
		return 1
	case r >= 0x2010 && r < 0x2028, r >= 0x2190 && r < 0x231A, r >= 0x2500 && r < 0x25FD:
		return 1
	case r >= 0x3041 && r < 0x3097, r >= 0x30A1 && r < 0x3100, r >= 0x3400 && r < 0x4DC0:
		return 2
	case r >= 0x3001 && r < 0x302A, r >= 0xFF01 && r < 0xFF61, r >= 0x1F600 && r < 0x1F650:
		return 2
	case r >= 0x1F300 && r < 0x1F3FB, r >= 0x1F400 && r < 0x1FB00:
		return cellwidth.Rune(r)
	}
	return 0
}
