package vt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/engine/cellwidth"
	"tandem/engine/styled"
	"tandem/engine/vt/charset"
	"tandem/engine/vt/grid"
)

// cleanSlate makes a terminal in any state a blank one with default modes, and
// leaves what is not ours alone: its scrollback and its palette.
const cleanSlate = "\x1b\\" + // whatever string was begun
	"\x1b[?2026l\x1b[?47l" +
	"\x1b[>4;0m\x1b[=0;1u\x1b[!p" +
	"\x1b[?1;5;6;41;45;67;69;80;1039;1045;8452l\x1b[?9;1000;1002;1003;1004;1005;1006;1015;1016;2004l\x1b[?7;25h\x1b>" +
	"\x1b[4l\x1b[20l\x1b[0 q\x1b[?5W" +
	"\x1b[r\x1b[m\x1b]8;;\x1b\\\x1b[0\"q\x1b(B\x1b)B\x1b*B\x1b+B\x0f" +
	"\x1b[H\x1b[2J"

// AppendRepaint appends the byte stream that brings a new terminal of the same
// size into this one's state: both screens' cells and styles, modes, margins,
// tab stops, saved cursors, title, cursor. Scrollback is not part of it. It is
// fit for a person's terminal in whatever state: it cleans up first, asks for
// no reply and rings no bell. Modes that show in reports alone, as the
// conformance level, are left out: that terminal goes on to be the person's.
func (t *Terminal) AppendRepaint(dst []byte) []byte {
	p := painter{t: t, dst: append(dst, cleanSlate...)}
	if t.mode.clusters {
		p.add("\x1b[?2027h")
	}
	p.tabs()
	if t.scr == t.main && t.other != nil {
		p.add("\x1b[?47h\x1b[H\x1b[2J")
		p.screen(t.other)
		p.add("\x1b[?47l")
	}
	p.screen(t.main)
	if t.scr == t.other {
		p.savedCursor(t.main) // 1049 saves it once more
		p.add("\x1b[?1049h")
		p.plainCursor()
		p.add("\x1b[2J")
		p.screen(t.other)
	}
	p.titles()
	p.dst = t.colors.AppendChanges(p.dst)
	p.modes()
	p.margins()
	p.cursor(t.cur)
	p.lateModes()
	p.printLast(t.origin())
	return p.dst
}

// A painter writes a repaint.
type painter struct {
	t   *Terminal
	dst []byte
	pen pen // as the terminal painted has it
}

func (p *painter) add(s string) { p.dst = append(p.dst, s...) }

// csi adds a control sequence: prefix, numbers, final bytes.
func (p *painter) csi(prefix, final string, ns ...int) {
	p.add("\x1b[" + prefix)
	p.dst = appendInts(p.dst, ns...)
	p.add(final)
}

// screen paints one screen, its keyboard flags and its saved cursor, with the
// terminal's margins at its edges.
func (p *painter) screen(s *screen) {
	p.rows(s)
	p.csi("=", "u", int(s.kitty.stack[0]), 1)
	for i := 1; i <= s.kitty.n; i++ {
		p.csi(">", "u", int(s.kitty.stack[i]))
	}
	p.savedCursor(s)
	p.add("\x1b7")
	p.plainCursor()
}

// plainCursor takes back what a cursor painted changed but its place.
func (p *painter) plainCursor() {
	p.setPen(pen{})
	p.add("\x1b[?6l\x1b(B\x1b)B\x1b*B\x1b+B\x0f")
}

func (p *painter) rows(s *screen) {
	goesOn := false // the row before wraps into this one
	for y := range s.rows {
		cells := slices.Clone(s.grid.Row(y))
		wrapped := s.rows[y].wrapped && y+1 < len(s.rows)
		switch {
		case wrapped:
			if n := len(cells) - 1; cells[n].Blank() && wideFirst(s, y+1) && s.rows[y].padded {
				cells = cells[:n]
			}
		case goesOn:
			first := cells[:min(2, len(cells))]
			if len(trimBlank(cells)) > len(first) {
				first = trimBlank(cells)
			}
			cells = first
		default:
			cells = trimBlank(cells)
		}
		if !goesOn && len(cells) > 0 {
			p.csi("", "H", y+1, 1)
		}
		p.row(cells)
		goesOn = wrapped
		p.lineSize(y, s.rows[y].size)
	}
}

// lineSize makes a row that is painted as large as it is.
func (p *painter) lineSize(y int, size styled.LineSize) {
	if size != styled.SingleSize {
		p.csi("", "H", y+1, 1)
		p.dst = append(p.dst, esc, '#', sizeFinals[size])
	}
}

func wideFirst(s *screen, y int) bool {
	return len(s.grid.Row(y)) > 1 && s.grid.Cell(1, y).Glyph == grid.Tail
}

// row paints cells from where the cursor is.
func (p *painter) row(cells []grid.Cell) {
	for i, c := range cells {
		if c.Glyph == grid.Tail {
			continue
		}
		p.setPen(p.t.styles.pens[c.Style])
		if c.Glyph >= 0x300 {
			p.add("\x1b[4l") // what came before must not join
		}
		p.glyph(c.Glyph, isWide(cells[i:]))
	}
}

// glyph paints a cluster, one that takes other cells in mode 2027 than without it in
// the mode that it was printed in. A terminal whose program has not asked for the mode
// is left without it else: some have it by themselves.
func (p *painter) glyph(g grid.Glyph, wide bool) {
	on := p.t.mode.clusters
	if g < grid.FirstCluster {
		p.dst = p.t.appendGlyph(p.dst, g)
		return
	}
	text, as := p.t.clusters.text[g-grid.FirstCluster], on
	switch {
	case widens(text):
		as = wide
	case ownCells(text):
		as = true
	}
	if as != on {
		p.add(clusterMode(as))
	}
	p.add(text)
	if as != on {
		p.add(clusterMode(on))
	}
}

func clusterMode(on bool) string {
	if on {
		return "\x1b[?2027h"
	}
	return "\x1b[?2027l"
}

// widens says that a cluster is wide by its VS16, which counts in mode 2027 alone.
func widens(cluster string) bool {
	first, n := utf8.DecodeRuneInString(cluster)
	return cellwidth.Rune(first) == 1 && cluster[n:] != "" && strings.ContainsRune(cluster[n:], vs16) && cellwidth.Of(cluster) == 2
}

// ownCells says that a code point of a cluster behind the first takes cells for
// itself.
func ownCells(cluster string) bool {
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
	was := p.pen
	if was == q {
		return
	}
	p.pen = q
	if was.link != q.link {
		p.add("\x1b]8;;" + p.t.links.text[q.link] + "\x1b\\")
		was.link = q.link
	}
	if (was.attrs^q.attrs)&attrProtected != 0 {
		p.csi("", "\"q", int(q.attrs/attrProtected))
		was.attrs ^= attrProtected
	}
	if was != q {
		p.dst = append(styled.AppendSGR(append(p.dst, "\x1b["...), q.look()), 'm')
	}
}

// savedCursor puts the cursor where s has it saved.
func (p *painter) savedCursor(s *screen) {
	c := s.saved
	c.y = min(c.y, p.t.rows-1)
	last := s.rows[c.y].lastColumn(p.t.cols)
	c.x = min(c.x, last)
	c.pending = c.pending && c.x == last
	if c.origin {
		p.add("\x1b[?6h")
	}
	p.place(c, s, 0, 0)
}

// cursor paints the cursor inside the margins that are set by now.
func (p *painter) cursor(c cursor) {
	x0, y0 := p.t.origin()
	if c.pending && c.x != p.t.rightLimit() { // DECLRMM was reset, which keeps the wrap at its margin
		p.add("\x1b[?69h")
		p.csi("", "s", 1, c.x+1)
		defer p.add("\x1b[?69l")
	}
	if c.origin {
		p.add("\x1b[?6h")
	}
	p.place(c, p.t.scr, x0, y0)
}

// printLast prints what was printed right before the repaint again, so that a REP
// behind it repeats that. Pen, sets and modes are those that it was printed with.
func (p *painter) printLast(x0, y0 int) {
	t := p.t
	n := 1
	if t.lastWide {
		n = 2
	}
	x, y := t.lastEnd-n+1, t.cur.y
	if !t.repeatable() || x < 0 || t.scr.grid.Cell(x, y).Glyph != t.last.Glyph {
		return
	}
	outside := x < t.region.Left || t.lastEnd > t.region.Right || y < t.region.Top || y > t.region.Bottom
	if t.cur.origin && outside { // where no sequence leads
		return
	}
	if t.mode.insert && (outside || t.scr.rows[y].size != styled.SingleSize) { // what it pushed on cannot be taken back
		return
	}
	p.csi("", "H", y-y0+1, x-x0+1)
	if t.mode.insert {
		p.csi("", "P", n)
	}
	p.glyph(t.last.Glyph, t.lastWide)
}

// place moves the cursor, sets the pending wrap by writing the cell under it
// again, then the pen and the character sets.
func (p *painter) place(c cursor, s *screen, x0, y0 int) {
	x := c.x
	c.pending = c.pending && !s.sticksOut(x, c.y)
	if c.pending && x > 0 && s.grid.Cell(x, c.y).Glyph == grid.Tail {
		x--
	}
	p.csi("", "H", c.y-y0+1, x-x0+1)
	if c.pending {
		p.row(slices.Clone(s.grid.Row(c.y)[x : c.x+1]))
	}
	p.setPen(c.pen)
	for i, set := range c.g {
		if set != charset.ASCII {
			p.dst = set.AppendDesignation(p.dst, i)
		}
	}
	p.add([...]string{"", "\x0e", "\x1bn", "\x1bo"}[c.gl])
}

// tabs sets the tab stops if they are not those of cleanSlate.
func (p *painter) tabs() {
	t := p.t
	if slices.Equal(t.tabs, defaultTabs(nil, t.cols)) {
		return
	}
	p.add("\x1b[3g")
	for x, set := range t.tabs {
		if set {
			p.csi("", "H", 1, x+1)
			p.add("\x1bH")
		}
	}
}

func (p *painter) titles() {
	for _, title := range p.t.titles {
		p.add("\x1b]2;" + title + "\x1b\\\x1b[22;2t")
	}
	p.add("\x1b]2;" + p.t.title + "\x1b\\")
}

// modes sets the modes that do not touch the cursor.
func (p *painter) modes() {
	m := &p.t.mode
	for _, n := range [...]int{1, 5, 41, 45, 66, 67, 80, 1004, 1039, 1045, 2004, 8452} {
		if *m.flag(n) {
			p.csi("?", "h", n)
		}
	}
	for _, n := range [...]int{25, 1007, 1036} {
		if !*m.flag(n) {
			p.csi("?", "l", n)
		}
	}
	for _, n := range [...]int{9, 1000, 1002, 1003} {
		if m.mouse.mode == mouseOf(n) {
			p.csi("?", "h", n)
		}
	}
	for _, n := range [...]int{1005, 1006, 1015, 1016} {
		if m.mouse.encoding == encodingOf(n) {
			p.csi("?", "h", n)
		}
	}
	if m.keys.modifyOther != 0 {
		p.csi(">", "m", 4, int(m.keys.modifyOther))
	}
	if m.cursor.chosen {
		p.csi("", " q", p.t.styleNumber())
	} else if !m.cursor.blink {
		p.csi("?", "l", 12)
	}
	if m.rectExtent != 0 {
		p.csi("", "*x", int(m.rectExtent))
	}
	if m.newline {
		p.csi("", "h", 20)
	}
}

// margins sets what is not at the screen's edges.
func (p *painter) margins() {
	r := &p.t.region
	if p.t.mode.leftRight {
		p.add("\x1b[?69h")
		p.csi("", "s", r.Left+1, r.Right+1)
	}
	if r.Top > 0 || r.Bottom < p.t.rows-1 {
		p.csi("", "r", r.Top+1, r.Bottom+1)
	}
}

// lateModes sets the modes under which the cursor could not be painted.
func (p *painter) lateModes() {
	if p.t.mode.guarded {
		p.add("\x1bV")
		if p.t.cur.pen.attrs&attrProtected == 0 {
			p.add("\x1bW")
		}
	}
	if p.t.mode.insert {
		p.csi("", "h", 4)
	}
	if !p.t.mode.autowrap {
		p.csi("?", "l", 7)
	}
}
