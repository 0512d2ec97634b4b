package vt

import (
	"bytes"

	"tandem/engine/styled"
	"tandem/engine/vt/charset"
	"tandem/engine/vt/scan"
)

// passLines takes the plain lines at the start of p that would come on the screen
// and leave it again before p ends: they go to the scrollback at once, which is many
// times as fast. It says how many bytes it used; from is where it pays to ask again.
func (t *writer) passLines(p []byte) (used, from int) {
	above := t.rows - 1
	if above == 0 || !t.atFreshLine() {
		return 0, 0
	}
	lines, end := t.plainLines(p)
	if lines < 2*t.rows {
		return 0, end
	}
	t.keepRows(above)
	t.passed(lines - above)
	for range lines - above {
		n := scan.PrintableLen(p[used:])
		t.hist.PushText(p[used : used+n])
		used += n + len("\r\n")
	}
	t.scr.grid.Scroll(t.region, above, 0)
	t.moveRows(0, above, above)
	t.touchRows(0, above)
	t.cur.y = 0 // where the lines that stay on the screen begin
	return used, end
}

// passed notes that n lines of this epoch are about to get the numbers from hist.End.
func (t *store) passed(n int) {
	at := int(t.hist.End() % int64(len(t.gone)))
	for range n {
		t.goneLost = max(t.goneLost, t.gone[at])
		t.gone[at] = t.epoch
		if at++; at == len(t.gone) {
			at = 0
		}
	}
}

// plainLines counts the lines of printable ASCII at the start of p that fit in a
// row, and gives where the last one ends.
func (t *writer) plainLines(p []byte) (lines, end int) {
	for {
		n := scan.PrintableLen(p[end:])
		if n > t.cols || !bytes.HasPrefix(p[end+n:], []byte("\r\n")) {
			return lines, end
		}
		lines++
		end += n + len("\r\n")
	}
}

// atFreshLine says that the cursor is at the start of the last row of the main
// screen, that nothing is in this row, and that what is printed there looks plain
// and makes the whole screen scroll.
func (t *writer) atFreshLine() bool {
	row := &t.scr.rows[t.cur.y]
	switch {
	case t.scr != t.main || t.scr.strips != nil,
		t.cur.x != 0 || t.cur.y != t.rows-1 || t.cur.pending,
		row.used != 0 || row.size != styled.SingleSize || row.mark != 0,
		t.region.Left != 0 || t.region.Right != t.cols-1 || t.region.Top != 0 || t.region.Bottom != t.rows-1,
		t.mode.insert || t.cur.single != 0 || t.cur.g[t.cur.gl] != charset.ASCII:
		return false
	}
	return t.penID() == 0
}
