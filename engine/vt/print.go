package vt

import (
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"tandem/engine/cellwidth"
	"tandem/engine/styled"
	"tandem/engine/vt/charset"
	"tandem/engine/vt/grid"
)

// maxCluster is the longest cluster a cell holds, in bytes. The code points
// that would make it longer are dropped.
const maxCluster = 64

const (
	zwj  = 0x200D
	vs16 = 0xFE0F // asks for the wide form of what is before
)

// printASCII prints a run of bytes from 0x20 to 0x7e.
func (t *writer) printASCII(s []byte) {
	if t.cur.single != 0 || t.cur.g[t.cur.gl] != charset.ASCII {
		t.printCharset(s)
		return
	}
	final := s[len(s)-1]
	for len(s) > 0 {
		limit := t.beforePrint()
		if !t.mode.autowrap && t.cur.x == limit {
			s = s[len(s)-1:]
		}
		n := min(len(s), limit-t.cur.x+1)
		t.makeRoom(n, limit)
		t.scr.grid.PutASCII(t.cur.x, t.cur.y, s[:n], t.penID())
		t.wrote(t.cur.y, t.cur.x+n)
		t.advance(n, limit)
		s = s[n:]
	}
	t.printed(rune(final), grid.Glyph(final), false)
}

// charset is the set that the next character is of.
func (t *writer) charset() charset.Set {
	if t.cur.single != 0 {
		return t.cur.g[t.cur.single]
	}
	return t.cur.g[t.cur.gl]
}

// printCharset prints ASCII through a character set that is not ASCII.
func (t *writer) printCharset(s []byte) {
	for _, b := range s {
		r := t.charset().Translate(b)
		t.put(r, grid.Glyph(r), 1)
	}
}

// beforePrint does the pending wrap and gives the last column of this row.
func (t *writer) beforePrint() int {
	if t.cur.pending {
		t.cur.pending = false
		if t.mode.autowrap && !t.scr.sticksOut(t.cur.x, t.cur.y) {
			t.wrap(false)
		}
	}
	return t.rightLimit()
}

// wrap goes to the next row as autowrap does. padded says that a wide cluster
// did not fit in.
func (t *writer) wrap(padded bool) {
	y := t.cur.y
	if t.cur.x == t.cols-1 && t.region.Left == 0 && t.mayGoOn(y) {
		t.scr.rows[y].wrapped, t.scr.rows[y].padded = true, padded
		t.touch(y)
	}
	t.cur.x = t.leftLimit()
	t.lineFeed()
}

// mayGoOn says whether a row and the one that a wrap leads to can be one line.
func (t *writer) mayGoOn(y int) bool {
	switch {
	case t.scr.rows[y].size != styled.SingleSize:
		return false
	case y == t.region.Bottom:
		return true
	}
	return y < t.rows-1 && t.scr.rows[y+1].size == styled.SingleSize
}

// makeRoom readies n cells at the cursor: in insert mode, between the margins, they
// are new, else wide clusters that they cover in part are blanked.
func (t *writer) makeRoom(n, limit int) {
	x, y := t.cur.x, t.cur.y
	if t.scr.strips != nil {
		t.cutStrips(x, y, n)
	}
	if t.mode.insert && x >= t.region.Left && x <= t.region.Right {
		t.insertCells(x, y, limit, n)
		return
	}
	if int(t.scr.rows[y].wide) > x {
		t.splitWide(x, y)
		t.splitWide(x+n, y)
	}
}

// advance moves the cursor behind n printed cells.
func (t *writer) advance(n, limit int) {
	t.cur.x += n
	t.lastEnd = t.cur.x - 1
	if t.cur.x > limit {
		t.cur.x, t.cur.pending = limit, t.mode.autowrap
	}
}

// printed notes what combining characters and REP need.
func (t *writer) printed(r rune, g grid.Glyph, wide bool) {
	t.joinOK = true
	t.lastRune, t.last.Glyph, t.lastWide = r, g, wide
}

// print prints a character from U+00A0 on.
func (t *writer) print(r rune) {
	if r < 0x300 {
		t.put(r, grid.Glyph(r), 1)
		return
	}
	if t.joinOK && t.mayJoin(r) && t.join(r) {
		return
	}
	if w := cellwidth.Rune(r); w > 0 {
		t.put(r, grid.Glyph(r), w)
	}
}

// put prints one cluster of w cells, or nothing where there is no room for it.
func (t *writer) put(r rune, g grid.Glyph, w int) {
	t.cur.single = 0
	limit := t.beforePrint()
	if w == 2 && t.cur.x == limit {
		if t.mode.autowrap && limit > t.leftLimit() {
			limit = t.wrapWide()
		}
		if t.cur.x == limit {
			t.joinOK = false
			return
		}
	}
	t.makeRoom(w, limit)
	style := t.penID()
	t.pair = [2]grid.Cell{{Glyph: g, Style: style}, {Glyph: grid.Tail, Style: style}}
	t.scr.grid.Put(t.cur.x, t.cur.y, t.pair[:w])
	t.wrote(t.cur.y, t.cur.x+w)
	if w == 2 {
		t.noteWide(t.cur.x + 2)
	}
	t.advance(w, limit)
	t.printed(r, g, w == 2)
}

// noteWide says that a wide cluster ends before column x of the cursor's row.
func (t *writer) noteWide(x int) {
	row := &t.scr.rows[t.cur.y]
	row.wide = max(row.wide, int16(x))
}

// wrapWide makes place for a wide cluster at the last column and gives the new
// last column. The cell it leaves stays as it is, as in xterm.
func (t *writer) wrapWide() int {
	t.wrap(true)
	return t.rightLimit()
}

// mayJoin rules out the characters that start a new cluster in any case, so
// that the full rules (UAX #29) are looked up for the few others only.
func (t *writer) mayJoin(r rune) bool {
	return simpleWidth(r) == 0 || t.lastRune == zwj || isLeadingJamo(t.lastRune)
}

// join adds a code point to the cluster before the cursor if it belongs there.
// What takes cells of its own does so in mode 2027 alone: other programs count
// it as wcwidth does, and erase it by itself.
func (t *writer) join(r rune) bool {
	x, y, repeats := t.lastEnd, t.cur.y, t.repeatable()
	if t.lastWide {
		x--
	}
	cell := t.scr.grid.Cell(x, y)
	t.text = t.appendGlyph(t.text[:0], cell.Glyph)
	before := len(t.text)
	t.text = utf8.AppendRune(t.text, r)
	if n, _, err := graphemes.SplitFunc(t.text, true); err != nil || n != len(t.text) {
		return false
	}
	first, _ := utf8.DecodeRune(t.text)
	last, _ := utf8.DecodeLastRune(t.text[:before])
	added, own := cellwidth.Joined(first, last, r)
	if own && !t.mode.clusters {
		return false
	}
	switch {
	case t.mode.clusters:
	case r == vs16:
		added = 0 // as wcwidth has it, by which the program places its cursor
	case last == zwj && !t.lastWide && cellwidth.Rune(r) == 2:
		added = 1
	}
	if len(t.text) > maxCluster {
		return true
	}
	cell.Glyph = t.internCluster(t.text)
	wide := t.lastWide || added > 0
	switch limit := t.rightLimit(); {
	case wide == t.lastWide:
	case t.cur.x == x+1 && x < limit:
		t.makeRoom(1, limit)
		t.advance(1, limit)
		t.noteWide(x + 2)
	case t.cur.pending && t.mode.autowrap:
		t.cur.pending = false
		t.eraseCells(x, y, 1, 0)
		t.put(r, cell.Glyph, 2)
		return true
	default:
		return true // it would need a cell that is not there
	}
	t.pair = [2]grid.Cell{cell, {Glyph: grid.Tail, Style: cell.Style}}
	n := 1
	if wide {
		n = 2
	}
	t.scr.grid.Put(x, y, t.pair[:n])
	t.wrote(y, x+n)
	if t.printed(r, cell.Glyph, wide); !repeats { // its pen may be another
		t.last.Glyph = 0
	}
	return true
}

// repeatable says that a cluster was printed and nothing was done since.
func (t *writer) repeatable() bool { return t.joinOK && t.last.Glyph != 0 }

// repeat does REP: what was printed right before it n more times, at most what fills
// the space between the margins.
func (t *writer) repeat(n int) {
	if !t.repeatable() {
		return
	}
	defer func() { t.last.Glyph = 0 }()
	n = min(n, (t.rightLimit()-t.leftLimit()+1)*t.rows)
	if g := t.last.Glyph; g < utf8.RuneSelf {
		t.repeatASCII(byte(g), n)
		return
	}
	w := 1
	if t.lastWide {
		w = 2
	}
	for range n {
		t.put(t.lastRune, t.last.Glyph, w)
	}
}

func (t *writer) repeatASCII(b byte, n int) {
	var run [64]byte
	for i := range run {
		run[i] = b
	}
	gl := t.cur.gl
	set := t.cur.g[gl]
	t.cur.g[gl], t.cur.single = charset.ASCII, 0
	for n > 0 {
		k := min(n, len(run))
		t.printASCII(run[:k])
		n -= k
	}
	t.cur.g[gl] = set
}

// designate does SCS with a set of 94: what stands behind ESC and one of ( to +.
func (t *writer) designate(slot int, final byte) {
	t.cur.g[slot] = charset.ForFinalByte(final, t.mode.national)
}

// designate96 does SCS with a set of 96, of which we have Latin-1.
func (t *writer) designate96(slot int, final byte) {
	t.cur.g[slot] = charset.ASCII
	if final == 'A' {
		t.cur.g[slot] = charset.Latin1
	}
}
