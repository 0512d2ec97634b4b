package vt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/charset"
	"tandem/engine/screen/vt/grid"
)

// A repaint brings another terminal into this one's state with ordinary output, because the other
// end may be the user's own terminal, without any private protocol. The painting must not depend on
// the state of the target, so cleanSlate first resets every mode with an effect on text. Each
// screen is then painted row by row; wrapped rows are printed in one go, so that the target records
// the same wraps. Margins, insert mode and autowrap come last, since they would distort the rest. A
// pending wrap and the cluster for REP leave no trace in the cells: they are recreated by printing
// a cell again. Property tests check that the painted terminal equals the original and continues
// like it.

// PlainState brings a terminal in any state to its main screen with default modes, the cursor home.
// It keeps the text, the user's scrollback and the palette.
const PlainState = "\x1b\\" + // ends an unfinished string
	"\x1b[?2026l\x1b[?47l" +
	"\x1b[>4;0m\x1b[=0;1u\x1b[!p" +
	"\x1b[?1;5;6;41;45;67;69;80;1039;1045;8452l\x1b[?9;1000;1002;1003;1004;1005;1006;1015;1016;2004l\x1b[?7;25h\x1b>" +
	"\x1b[4l\x1b[20l\x1b[0 q\x1b[?5W" +
	"\x1b[r\x1b[m\x1b]8;;\x1b\\\x1b[0\"q\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b[H"

// cleanSlate turns a terminal in any state into a blank one with default modes.
const cleanSlate = PlainState + "\x1b[2J"

// AppendRepaint appends output to bring a terminal of the same size into this one's state: cells
// and styles of both screens, modes, margins, tab stops, saved cursors, titles and cursor. The
// scrollback is not included. The output suits the user's own terminal in any state: it cleans up
// first, triggers no reply and rings no bell. Modes visible only in reports, such as the
// conformance level, are omitted, because the user keeps that terminal.
func (t *Terminal) AppendRepaint(dst []byte) []byte {
	p := painter{t: t, dst: append(dst, cleanSlate...)}
	if t.page.mode.clusters {
		p.addString("\x1b[?2027h")
	}
	p.paintTabs()
	// The visible screen is painted last, so that the terminal ends on it.
	if t.store.scr == t.store.main && t.store.alt != nil {
		p.addString("\x1b[?47h\x1b[H\x1b[2J")
		p.paintScreen(t.store.alt)
		p.addString("\x1b[?47l")
	}
	p.paintScreen(t.store.main)
	if t.store.scr == t.store.alt {
		p.paintSavedCursor(t.store.main) // 1049 saves the cursor again
		p.addString("\x1b[?1049h")
		p.resetCursor()
		p.addString("\x1b[2J")
		p.paintScreen(t.store.alt)
	}
	p.paintTitles()
	p.dst = t.host.colors.AppendChanges(p.dst)
	p.paintModes()
	// Margins, insert mode and autowrap would affect the painting, so they come after it.
	p.paintMargins()
	p.paintCursor(t.page.cur)
	p.paintLateModes()
	p.reprintLast(t.page.origin())
	return p.dst
}

// A painter writes a repaint.
type painter struct {
	t   *Terminal
	dst []byte
	pen pen // pen of the painted terminal
}

func (p *painter) addString(s string) { p.dst = append(p.dst, s...) }

// addCSI appends a control sequence: prefix, numbers, final bytes.
func (p *painter) addCSI(prefix, final string, ns ...int) {
	p.addString("\x1b[" + prefix)
	p.dst = appendInts(p.dst, ns...)
	p.addString(final)
}

// paintScreen paints a screen, its keyboard flags and its saved cursor. The painted terminal must
// have no margins.
func (p *painter) paintScreen(s *screen) {
	p.paintRows(s)
	p.addCSI("=", "u", int(s.kitty.stack[0]), 1)
	for i := 1; i <= s.kitty.n; i++ {
		p.addCSI(">", "u", int(s.kitty.stack[i]))
	}
	p.paintSavedCursor(s)
	p.addString("\x1b7")
	p.resetCursor()
}

// resetCursor undoes everything paintSavedCursor changed, except the position.
func (p *painter) resetCursor() {
	p.setPen(pen{})
	p.addString("\x1b[?6l\x1b(B\x1b)B\x1b*B\x1b+B\x0f")
}

func (p *painter) paintRows(s *screen) {
	goesOn := false // the previous row wraps into this one
	for y := range s.rows {
		cells := slices.Clone(s.grid.Row(y))
		wrapped := s.rows[y].wrapped && y+1 < len(s.rows)
		switch {
		case wrapped:
			// A padding cell stays unpainted: the wide cluster in the next row wraps by itself, as
			// it did in the original.
			if n := len(cells) - 1; cells[n].Blank() && startsWide(s, y+1) && s.rows[y].padded {
				cells = cells[:n]
			}
		case goesOn:
			// Without text, the wrap of the row before would not happen.
			first := cells[:min(2, len(cells))]
			if len(trimBlank(cells)) > len(first) {
				first = trimBlank(cells)
			}
			cells = first
		default:
			cells = trimBlank(cells)
		}
		if !goesOn && len(cells) > 0 {
			p.addCSI("", "H", y+1, 1)
		}
		p.paintCells(cells)
		goesOn = wrapped
		p.paintLineSize(y, s.rows[y].size)
	}
}

// paintLineSize sets the size of a painted row.
func (p *painter) paintLineSize(y int, size styled.LineSize) {
	if size != styled.SingleSize {
		p.addCSI("", "H", y+1, 1)
		p.dst = append(p.dst, esc, '#', sizeFinals[size])
	}
}

func startsWide(s *screen, y int) bool {
	return len(s.grid.Row(y)) > 1 && s.grid.Cell(1, y).Glyph == grid.Tail
}

// paintCells paints cells starting at the cursor.
func (p *painter) paintCells(cells []grid.Cell) {
	for i, c := range cells {
		if c.Glyph == grid.Tail {
			continue
		}
		p.setPen(p.t.store.styles.pens[c.Style])
		if c.Glyph >= 0x300 {
			p.addString("\x1b[4l") // any sequence keeps c from joining its predecessor
		}
		p.paintGlyph(c.Glyph, isWide(cells[i:]))
	}
}

// paintGlyph paints a cluster. If its width depends on mode 2027, it sets the mode the cluster was
// printed in. Otherwise the mode stays off unless the program has set it, because some terminals
// count clusters by themselves.
func (p *painter) paintGlyph(g grid.Glyph, wide bool) {
	on := p.t.page.mode.clusters
	if g < grid.FirstCluster {
		p.dst = p.t.store.appendGlyph(p.dst, g)
		return
	}
	text, as := p.t.store.clusters.text[g-grid.FirstCluster], on
	switch {
	case hasWideVS16(text):
		as = wide
	case takesOwnCells(text):
		as = true
	}
	if as != on {
		p.addString(clusterMode(as))
	}
	p.addString(text)
	if as != on {
		p.addString(clusterMode(on))
	}
}

func clusterMode(on bool) string {
	if on {
		return "\x1b[?2027h"
	}
	return "\x1b[?2027l"
}

// hasWideVS16 reports whether a cluster is wide only because of VS16, in effect only in mode 2027.
func hasWideVS16(cluster string) bool {
	first, n := utf8.DecodeRuneInString(cluster)
	return cellwidth.Rune(first) == 1 && cluster[n:] != "" && strings.ContainsRune(cluster[n:], vs16) && cellwidth.Of(cluster) == 2
}

// takesOwnCells reports whether a later code point of a cluster has a width of its own.
func takesOwnCells(cluster string) bool {
	first, n := utf8.DecodeRuneInString(cluster)
	last := first
	for _, r := range cluster[n:] {
		if _, own := cellwidth.Joined(first, last, r); own {
			return true
		}
		last = r
	}
	return false
}

func (p *painter) setPen(q pen) {
	current := p.pen
	if current == q {
		return
	}
	p.pen = q
	if current.link != q.link {
		p.addString("\x1b]8;;" + p.t.store.links.text[q.link] + "\x1b\\")
		current.link = q.link
	}
	if (current.Attrs^q.Attrs)&attrProtected != 0 {
		p.addCSI("", "\"q", int(q.Attrs/attrProtected))
		current.Attrs ^= attrProtected
	}
	if current != q {
		p.dst = append(styled.AppendSGR(append(p.dst, "\x1b["...), q.visibleStyle()), 'm')
	}
}

// paintSavedCursor moves the cursor to the saved position of s.
func (p *painter) paintSavedCursor(s *screen) {
	c := s.saved
	c.y = min(c.y, p.t.store.rows-1)
	last := s.rows[c.y].lastColumn(p.t.store.cols)
	c.x = min(c.x, last)
	c.pending = c.pending && c.x == last
	if c.origin {
		p.addString("\x1b[?6h")
	}
	p.placeCursor(c, s, 0, 0)
}

// paintCursor moves the cursor, relative to the margins now set.
func (p *painter) paintCursor(c cursor) {
	x0, y0 := p.t.page.origin()
	if c.pending && c.x != p.t.page.rightLimit() { // resetting DECLRMM kept the pending wrap at the old margin
		p.addString("\x1b[?69h")
		p.addCSI("", "s", 1, c.x+1)
		defer p.addString("\x1b[?69l")
	}
	if c.origin {
		p.addString("\x1b[?6h")
	}
	p.placeCursor(c, p.t.store.scr, x0, y0)
}

// reprintLast prints the last cluster again in place, for a following REP. It uses the pen, sets
// and modes of the original.
func (p *painter) reprintLast(x0, y0 int) {
	t := p.t
	n := 1
	if t.writer.lastWide {
		n = 2
	}
	x, y := t.writer.lastEnd-n+1, t.page.cur.y
	if !t.writer.canRepeat() || x < 0 || t.store.scr.grid.Cell(x, y).Glyph != t.writer.last.Glyph {
		return
	}
	outside := x < t.page.region.Left || t.writer.lastEnd > t.page.region.Right || y < t.page.region.Top || y > t.page.region.Bottom
	if t.page.cur.origin && outside { // no sequence leads there
		return
	}
	if t.page.mode.insert && (outside || t.store.scr.rows[y].size != styled.SingleSize) { // pushed cells cannot be restored
		return
	}
	p.addCSI("", "H", y-y0+1, x-x0+1)
	if t.page.mode.insert {
		p.addCSI("", "P", n)
	}
	p.paintGlyph(t.writer.last.Glyph, t.writer.lastWide)
}

// placeCursor moves the cursor, sets a pending wrap by writing the cell under it again, then sets
// the pen and the character sets.
func (p *painter) placeCursor(c cursor, s *screen, x0, y0 int) {
	x := c.x
	c.pending = c.pending && !s.hasTailAfter(x, c.y)
	if c.pending && x > 0 && s.grid.Cell(x, c.y).Glyph == grid.Tail {
		x--
	}
	p.addCSI("", "H", c.y-y0+1, x-x0+1)
	if c.pending {
		p.paintCells(slices.Clone(s.grid.Row(c.y)[x : c.x+1]))
	}
	p.setPen(c.pen)
	for i, set := range c.g {
		if set != charset.ASCII {
			p.dst = set.AppendDesignation(p.dst, i)
		}
	}
	p.addString([...]string{"", "\x0e", "\x1bn", "\x1bo"}[c.gl])
}

// paintTabs sets the tab stops, unless they are the default ones of cleanSlate.
func (p *painter) paintTabs() {
	t := p.t
	if slices.Equal(t.page.tabs, defaultTabs(nil, t.store.cols)) {
		return
	}
	p.addString("\x1b[3g")
	for x, set := range t.page.tabs {
		if set {
			p.addCSI("", "H", 1, x+1)
			p.addString("\x1bH")
		}
	}
}

func (p *painter) paintTitles() {
	for _, title := range p.t.host.titles {
		p.addString("\x1b]2;" + title + "\x1b\\\x1b[22;2t")
	}
	p.addString("\x1b]2;" + p.t.host.title + "\x1b\\")
}

// paintModes sets the modes without effect on the cursor.
func (p *painter) paintModes() {
	m := &p.t.page.mode
	for _, n := range [...]int{1, 5, 41, 45, 66, 67, 80, 1004, 1039, 1045, 2004, 8452} {
		if *m.privateFlag(n) {
			p.addCSI("?", "h", n)
		}
	}
	for _, n := range [...]int{25, 1007, 1036} {
		if !*m.privateFlag(n) {
			p.addCSI("?", "l", n)
		}
	}
	for _, n := range [...]int{9, 1000, 1002, 1003} {
		if m.mouse.mode == mouseMode(n) {
			p.addCSI("?", "h", n)
		}
	}
	for _, n := range [...]int{1005, 1006, 1015, 1016} {
		if m.mouse.encoding == mouseEncoding(n) {
			p.addCSI("?", "h", n)
		}
	}
	if m.keys.modifyOther != 0 {
		p.addCSI(">", "m", 4, int(m.keys.modifyOther))
	}
	if m.cursor.chosen {
		p.addCSI("", " q", p.t.host.cursorStyleNumber())
	} else if !m.cursor.blink {
		p.addCSI("?", "l", 12)
	}
	if m.rectExtent != 0 {
		p.addCSI("", "*x", int(m.rectExtent))
	}
	if m.newline {
		p.addCSI("", "h", 20)
	}
}

// paintMargins sets margins away from the screen's edges.
func (p *painter) paintMargins() {
	r := &p.t.page.region
	if p.t.page.mode.leftRight {
		p.addString("\x1b[?69h")
		p.addCSI("", "s", r.Left+1, r.Right+1)
	}
	if r.Top > 0 || r.Bottom < p.t.store.rows-1 {
		p.addCSI("", "r", r.Top+1, r.Bottom+1)
	}
}

// paintLateModes sets modes incompatible with painting the cursor.
func (p *painter) paintLateModes() {
	if p.t.page.mode.guarded {
		p.addString("\x1bV")
		if p.t.page.cur.pen.Attrs&attrProtected == 0 {
			p.addString("\x1bW")
		}
	}
	if p.t.page.mode.insert {
		p.addCSI("", "h", 4)
	}
	if !p.t.page.mode.autowrap {
		p.addCSI("?", "l", 7)
	}
}
