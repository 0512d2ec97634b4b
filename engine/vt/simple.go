package vt

import "github.com/clipperhouse/displaywidth"

// printSimple prints the characters at the start of p that never join the one
// before them, as many as fit in the row, in one go. It says how many bytes it
// used; where it gives up, print goes on.
func (t *Terminal) printSimple(p []byte) int {
	if t.cur.pending || t.mode.insert || t.cur.single != 0 || t.lastRune == zwj || isLeadingJamo(t.lastRune) {
		return 0
	}
	limit, style := t.rightLimit(), t.penID()
	room := limit - t.cur.x + 1
	cells, last, used := t.cells[:0], rune(0), 0
	for used < len(p) && p[used] >= 0x80 {
		r, n := decodeRune(p[used:])
		w := simpleWidth(r)
		if n == 0 || w == 0 || len(cells)+w > room {
			break
		}
		cells = append(cells, Cell{Glyph(r), style})
		if w == 2 {
			cells = append(cells, Cell{Tail, style})
		}
		last = r
		used += n
	}
	t.cells = cells
	if used > 0 {
		t.putSimple(cells, last, limit)
	}
	return used
}

func (t *Terminal) putSimple(cells []Cell, last rune, limit int) {
	t.makeRoom(len(cells), limit)
	t.scr.grid.Put(t.cur.x, t.cur.y, cells)
	t.wrote(t.cur.y, t.cur.x+len(cells))
	wide := cells[len(cells)-1].Glyph == Tail
	if wide || len(cells) > 1 {
		t.noteWide(t.cur.x + len(cells))
	}
	t.advance(len(cells), limit)
	t.printed(last, Glyph(last), wide)
}

func isLeadingJamo(r rune) bool { return r >= 0x1100 && r <= 0x115F || r >= 0xA960 && r <= 0xA97C }

// simpleWidth gives the width of the common characters that start a new
// cluster whatever stands before them (but for ZWJ and a leading Jamo), 0 for
// all others.
func simpleWidth(r rune) int {
	switch {
	case r >= 0x4E00 && r < 0xA000, r >= 0xAC00 && r < 0xD7A4: // by far the most
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
		return displaywidth.Rune(r)
	}
	return 0
}
