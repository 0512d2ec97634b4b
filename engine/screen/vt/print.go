package vt

import (
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/charset"
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt/simple"
)

// maxCluster is the maximum size of a cell's cluster in bytes. Further code points are dropped.
const maxCluster = 64

const (
	zwj  = 0x200D
	vs16 = 0xFE0F // asks for the wide form of the character before
)

// printASCII prints a run of bytes from 0x20 to 0x7e.
func (t *writer) printASCII(s []byte) {
	if t.page.cur.single != 0 || t.page.cur.g[t.page.cur.gl] != charset.ASCII {
		t.printCharset(s)
		return
	}
	final := s[len(s)-1]
	for len(s) > 0 {
		limit := t.beforePrint()
		if !t.page.mode.autowrap && t.page.cur.x == limit {
			// Without autowrap each further character overwrites the last column, so only the final
			// one matters.
			s = s[len(s)-1:]
		}
		n := min(len(s), limit-t.page.cur.x+1)
		if left := t.page.region.Left; t.page.mode.insert && t.page.cur.x < left {
			n = min(n, left-t.page.cur.x) // only between the margins are characters inserted
		}
		t.makeRoom(n, limit)
		t.store.scr.grid.PutASCII(t.page.cur.x, t.page.cur.y, s[:n], t.page.penID())
		t.store.noteWritten(t.page.cur.y, t.page.cur.x+n)
		t.advanceCursor(n, limit)
		s = s[n:]
	}
	t.notePrinted(rune(final), grid.Glyph(final), false)
}

// nextCharset returns the character set of the next character.
func (t *writer) nextCharset() charset.Set {
	if t.page.cur.single != 0 {
		return t.page.cur.g[t.page.cur.single]
	}
	return t.page.cur.g[t.page.cur.gl]
}

// printCharset prints bytes through a character set other than ASCII.
func (t *writer) printCharset(s []byte) {
	for _, b := range s {
		r := t.nextCharset().Translate(b)
		t.putCluster(r, grid.Glyph(r), 1)
	}
}

// beforePrint performs a pending wrap and returns the last column of the row.
func (t *writer) beforePrint() int {
	if t.page.cur.pending {
		t.page.cur.pending = false
		if t.page.mode.autowrap && !t.store.scr.hasTailAfter(t.page.cur.x, t.page.cur.y) {
			t.wrapLine(false)
		}
	}
	return t.page.rightLimit()
}

// wrapLine moves to the next row as autowrap does. padded marks a row whose last cell is free
// because a wide cluster did not fit.
func (t *writer) wrapLine(padded bool) {
	y := t.page.cur.y
	// Only a wrap at the edge of the screen joins two rows. Between margins, rows are separate
	// lines.
	if t.page.cur.x == t.store.cols-1 && t.page.region.Left == 0 && t.canContinue(y) {
		t.store.scr.rows[y].wrapped, t.store.scr.rows[y].padded = true, padded
		t.store.touchRow(y)
	}
	left := t.page.leftLimit()
	t.page.lineFeed() // at this column: outside the margins, the bottom row does not scroll
	t.page.cur.x = left
}

// canContinue reports whether row y and the row of a wrap can be one line.
func (t *writer) canContinue(y int) bool {
	switch {
	case t.store.scr.rows[y].size != styled.SingleSize:
		return false
	case y == t.page.region.Bottom:
		return true
	}
	return y < t.store.rows-1 && t.store.scr.rows[y+1].size == styled.SingleSize
}

// makeRoom prepares n cells at the cursor. In insert mode, between the margins, it inserts them;
// otherwise it blanks wide clusters they cover in part.
func (t *writer) makeRoom(n, limit int) {
	x, y := t.page.cur.x, t.page.cur.y
	if t.store.scr.strips != nil {
		t.store.cutTextStrips(x, y, n)
	}
	if t.page.mode.insert && x >= t.page.region.Left && x <= t.page.region.Right {
		t.page.insertCells(x, y, limit, n)
		return
	}
	if int(t.store.scr.rows[y].wide) > x {
		t.store.splitWide(x, y)
		t.store.splitWide(x+n, y)
	}
}

// advanceCursor moves the cursor past n printed cells.
func (t *writer) advanceCursor(n, limit int) {
	t.page.cur.x += n
	t.lastEnd = t.page.cur.x - 1
	if t.page.cur.x > limit {
		t.page.cur.x, t.page.cur.pending = limit, t.page.mode.autowrap
	}
}

// notePrinted remembers the last cluster for combining characters and REP.
func (t *writer) notePrinted(r rune, g grid.Glyph, wide bool) {
	t.joinOK = true
	t.lastRune, t.last.Glyph, t.lastWide = r, g, wide
}

// printRune prints a character from U+00A0 on.
func (t *writer) printRune(r rune) {
	if r < 0x300 {
		t.putCluster(r, grid.Glyph(r), 1)
		return
	}
	if t.joinOK && t.canJoin(r) && t.joinCluster(r) {
		return
	}
	if w := cellwidth.Rune(r); w > 0 {
		t.putCluster(r, grid.Glyph(r), w)
	}
}

// putCluster prints one cluster of w cells, or nothing if it cannot fit.
func (t *writer) putCluster(r rune, g grid.Glyph, w int) {
	t.page.cur.single = 0
	limit := t.beforePrint()
	if w == 2 && t.page.cur.x == limit {
		if t.page.mode.autowrap && limit > t.page.leftLimit() {
			limit = t.wrapWide()
		}
		if t.page.cur.x == limit {
			t.joinOK = false
			return
		}
	}
	t.makeRoom(w, limit)
	style := t.page.penID()
	t.store.pair = [2]grid.Cell{{Glyph: g, Style: style}, {Glyph: grid.Tail, Style: style}}
	t.store.scr.grid.Put(t.page.cur.x, t.page.cur.y, t.store.pair[:w])
	t.store.noteWritten(t.page.cur.y, t.page.cur.x+w)
	if w == 2 {
		t.noteWide(t.page.cur.x + 2)
	}
	t.advanceCursor(w, limit)
	t.notePrinted(r, g, w == 2)
}

// noteWide records that a wide cluster ends before column x of the cursor's row.
func (t *writer) noteWide(x int) {
	row := &t.store.scr.rows[t.page.cur.y]
	row.wide = max(row.wide, int16(x))
}

// wrapWide makes room for a wide cluster at the last column, and returns the new last column. The
// skipped cell keeps its content, as in xterm.
func (t *writer) wrapWide() int {
	t.wrapLine(true)
	return t.page.rightLimit()
}

// canJoin reports whether r may join the cluster before it. It rules out characters that always
// start a new cluster, so that the full rules (UAX #29) run only for the few others.
func (t *writer) canJoin(r rune) bool {
	return simple.Width(r) == 0 || t.lastRune == zwj || simple.IsLeadingJamo(t.lastRune)
}

// joinCluster adds a code point to the cluster before the cursor if it belongs there. A code point
// with a width of its own joins only in mode 2027: other programs count it as wcwidth does, and
// erase it separately.
func (t *writer) joinCluster(r rune) bool {
	x, y, repeats := t.lastEnd, t.page.cur.y, t.canRepeat()
	if t.lastWide {
		x--
	}
	cell := t.store.scr.grid.Cell(x, y)
	t.store.text = t.store.appendGlyph(t.store.text[:0], cell.Glyph)
	before := len(t.store.text)
	t.store.text = utf8.AppendRune(t.store.text, r)
	// Only if the whole text is a single cluster (UAX #29) does r belong to it.
	if n, _, err := graphemes.SplitFunc(t.store.text, true); err != nil || n != len(t.store.text) {
		return false
	}
	first, _ := utf8.DecodeRune(t.store.text)
	last, _ := utf8.DecodeLastRune(t.store.text[:before])
	added, own := cellwidth.Joined(first, last, r)
	if own && !t.page.mode.clusters {
		return false
	}
	switch {
	case t.page.mode.clusters:
	case r == vs16:
		added = 0 // as in wcwidth, which the program uses to place its cursor
	case last == zwj && !t.lastWide && cellwidth.Rune(r) == 2:
		added = 1
	}
	if len(t.store.text) > maxCluster {
		return true
	}
	cell.Glyph = t.store.internCluster(t.store.text)
	wide := t.lastWide || added > 0
	switch limit := t.page.rightLimit(); {
	case wide == t.lastWide:
	case t.page.cur.x == x+1 && x < limit:
		t.makeRoom(1, limit)
		t.advanceCursor(1, limit)
		t.noteWide(x + 2)
	// At the last column, the cluster has no room to widen, so it moves to the next row.
	case t.page.cur.pending && t.page.mode.autowrap:
		t.page.cur.pending = false
		t.page.eraseCells(x, y, 1, 0)
		t.putCluster(r, cell.Glyph, 2)
		return true
	default:
		return true // it would need a cell beyond the edge
	}
	t.store.pair = [2]grid.Cell{cell, {Glyph: grid.Tail, Style: cell.Style}}
	n := 1
	if wide {
		n = 2
	}
	t.store.scr.grid.Put(x, y, t.store.pair[:n])
	t.store.noteWritten(y, x+n)
	if t.notePrinted(r, cell.Glyph, wide); !repeats { // its pen may differ from the current one
		t.last.Glyph = 0
	}
	return true
}

// canRepeat reports whether a cluster was printed and nothing has happened since.
func (t *writer) canRepeat() bool { return t.joinOK && t.last.Glyph != 0 }

// repeatLast implements REP: it prints the last cluster n more times, at most filling the space
// between the margins.
func (t *writer) repeatLast(n int) {
	if !t.canRepeat() {
		return
	}
	// A second REP in a row has nothing to repeat. Clear the glyph last, because printing sets it.
	defer func() { t.last.Glyph = 0 }()
	n = min(n, (t.page.rightLimit()-t.page.leftLimit()+1)*t.store.rows)
	if g := t.last.Glyph; g < utf8.RuneSelf {
		t.repeatASCII(byte(g), n)
		return
	}
	w := 1
	if t.lastWide {
		w = 2
	}
	for range n {
		t.putCluster(t.lastRune, t.last.Glyph, w)
	}
}

func (t *writer) repeatASCII(b byte, n int) {
	var run [64]byte
	for i := range run {
		run[i] = b
	}
	// The byte is translated already, so the character set must not apply again.
	gl := t.page.cur.gl
	set := t.page.cur.g[gl]
	t.page.cur.g[gl], t.page.cur.single = charset.ASCII, 0
	for n > 0 {
		k := min(n, len(run))
		t.printASCII(run[:k])
		n -= k
	}
	t.page.cur.g[gl] = set
}

// designate implements SCS for a set of 94 characters: ESC, one of ( to +, and a final byte.
func (t *writer) designate(slot int, final byte) {
	t.page.cur.g[slot] = charset.ForFinalByte(final, t.page.mode.national)
}

// designate96 implements SCS for a set of 96 characters; only Latin-1 is known.
func (t *writer) designate96(slot int, final byte) {
	t.page.cur.g[slot] = charset.ASCII
	if final == 'A' {
		t.page.cur.g[slot] = charset.Latin1
	}
}
