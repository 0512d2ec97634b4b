package screen

import (
	"bytes"
	"strings"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/base/cellwidth"
	"tandem/panes/kit/text"
)

// A pen writes the text of a row into the cells of a line.
type pen struct {
	line       uv.Line
	x          int
	background *Background
	requested  uv.Style // style set by the row
	style      uv.Style // that style on the background
	overline   bool     // uv.Style has no field for it
	link       uv.Link
	clusters   bool   // the terminal treats a cluster as one character
	last       string // text of the previous cell, unless it is ASCII
	wide       bool   // the line has a wide cell
}

// wideEnd is the blank at the end of a line with wide cells: a space and a control function without
// effect (G0 is ASCII already). It keeps the renderer from treating the blank as an erased cell.
// Erasing takes fewer bytes, but could start in the middle of a wide cell.
const wideEnd = " \x1b(B"

// drawRow sets the cells of a line to a row of text. The row may contain SGR sequences and
// hyperlinks (OSC 8), and is laid out as package cellwidth measures it, except for
// clusters with explicit cells (text.Sized). Other sequences, control characters and
// text without cells are dropped. A cluster narrower on the terminal than in the layout is
// padded with spaces. clusters reports whether the terminal treats clusters as one
// character (mode 2027). The result reports whether the line has wide cells.
func drawRow(line uv.Line, row string, clusters bool, ground *Background) (wide bool) {
	parser := ansi.GetParser()
	defer ansi.PutParser(parser)
	p := pen{line: line, clusters: clusters, background: ground, style: ground.applyStyle(uv.Style{})}
	for i := 0; i < len(row) && p.x < len(line); {
		c := row[i]
		switch {
		case c == ansi.ESC && strings.HasPrefix(row[i:], text.Sized):
			i += p.putSized(row[i:])
		case c == ansi.ESC:
			i += p.applySequence(row[i:], parser)
		case c >= utf8.RuneSelf || i+1 < len(row) && row[i+1] >= utf8.RuneSelf: // marks may follow
			i += p.putCluster(row[i:])
		case c >= ' ' && c < 0x7f:
			p.putCell(printable[c-' ':][:1], 1)
			i++
		default:
			i++
		}
	}
	empty := uv.EmptyCell
	empty.Style = ground.applyStyle(empty.Style)
	for x := p.x; x < len(line); x++ {
		line[x] = empty
	}
	if n := len(line) - 1; p.wide && line[n].Content == " " {
		line[n].Content = wideEnd
	}
	return p.wide
}

// printable contains the printable ASCII characters. Cells hold slices of it, as a slice
// of the row would keep the whole view in memory.
const printable = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

// applySequence applies the escape sequence at the start of s and returns its length.
func (p *pen) applySequence(s string, parser *ansi.Parser) int {
	seq, _, n, _ := ansi.DecodeSequence(s, ansi.NormalState, parser)
	switch {
	case ansi.HasCsiPrefix(seq) && parser.Command() == 'm':
		uv.ReadStyle(parser.Params(), &p.requested)
		p.style = p.background.applyStyle(p.requested)
		p.overline = applyOverline(parser.Params(), p.overline)
	case ansi.HasOscPrefix(seq) && parser.Command() == 8:
		p.link = parseLink(parser.Data())
	}
	return n
}

// applyOverline reports whether text is overlined after the SGR parameters in params have been
// applied. overlined is the state before.
func applyOverline(params ansi.Params, overlined bool) bool {
	for i := 0; i < len(params); i++ {
		switch n := params[i].Param(0); n {
		case 0, 55:
			overlined = false
		case 53:
			overlined = true
		case 38, 48, 58: // skip the colour: a palette index or three components
			if kind, more, _ := params.Param(i+1, 0); !more && !params[i].HasMore() {
				i += map[int]int{5: 2, 2: 4}[kind]
			}
		}
		for i < len(params) && params[i].HasMore() {
			i++
		}
	}
	if len(params) == 0 {
		return false
	}
	return overlined
}

// parseLink parses the data of OSC 8. The target may contain semicolons.
func parseLink(data []byte) uv.Link {
	_, data, _ = bytes.Cut(data, []byte{';'})
	params, target, _ := bytes.Cut(data, []byte{';'})
	if len(target) == 0 {
		return uv.Link{}
	}
	return uv.Link{URL: string(target), Params: string(params)}
}

// putSized writes the cluster with explicit cells at the start of s, and returns its
// length.
func (p *pen) putSized(s string) int {
	rest := s[len(text.Sized):]
	end := strings.IndexByte(rest, ansi.ESC)
	if end < 0 {
		return len(s)
	}
	cells, content, ok := strings.Cut(rest[:end], ";")
	if ok && (cells == "1" || cells == "2") && cellwidth.Whole(content) {
		p.drawCluster(content, int(cells[0]-'0'))
	}
	return min(len(text.Sized)+end+len("\x1b\\"), len(s))
}

// putCluster writes the cluster at the start of s and returns its length.
func (p *pen) putCluster(s string) int {
	// Fast path: a row of Cyrillic letters takes less than half the time to paint.
	n, isFree := aloneBytes(s), aloneBytes(p.last) == len(p.last)
	if isFree && n > 0 && (n == len(s) || s[n] < utf8.RuneSelf || aloneBytes(s[n:]) > 0) {
		p.putCell(s[:n], 1)
		p.last = s[:n]
		return n
	}
	cluster, width := cellwidth.First(s)
	p.drawCluster(cluster, width)
	return len(cluster)
}

// aloneBytes returns the length of the character at the start of s if it has one cell and combines
// with no character of its kind, as letters and line-drawing characters do not. For others it
// returns 0.
func aloneBytes(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r >= ' ' && r < 0x7f, r > 0xae && r < 0x300, r >= 0x370 && r < 0x483, r >= 0x48a && r < 0x530, r >= 0x2500 && r < 0x25a0:
		return n
	}
	return 0
}

// drawCluster writes a cluster into width cells.
func (p *pen) drawCluster(cluster string, width int) {
	if end := p.x + width; width > 0 && end <= len(p.line) {
		text, cells, sure := visibleText(cluster, width, p.clusters)
		switch {
		case cells == 0:
		case sure && !p.mayJoin(text):
			p.putCell(text, cells)
		default:
			p.putCell(p.anchorText(text, width), width)
		}
		if p.x < end {
			p.fillBlank(end)
		} else {
			p.last = text
		}
		return
	}
	p.fillBlank(min(p.x+width, len(p.line)))
}

// fillBlank writes spaces up to column end.
func (p *pen) fillBlank(end int) {
	for p.x < end {
		p.putCell(" ", 1)
	}
}

// mayJoin reports whether a terminal could join text with the previous cell's text into
// one cluster.
func (p *pen) mayJoin(text string) bool {
	first, n := utf8.DecodeRuneInString(text)
	if first < 0x300 {
		return false
	}
	before := p.last
	if before == "" {
		before = " "
	}
	return len(cellwidth.Cluster(before+text[:n])) > len(before)
}

// anchorText returns text whose width terminals disagree on, together with cursor
// movements that make up for it: the cells are blanked first, in case the text covers
// fewer, and the cursor is positioned explicitly after it. At the right edge the text must not
// wrap.
func (p *pen) anchorText(s string, width int) string {
	end := p.x + width
	if end >= len(p.line) {
		s = ansi.ResetModeAutoWrap + s + ansi.SetModeAutoWrap
		end = len(p.line) - 1
	}
	return text.Spaces(width) + ansi.CursorHorizontalAbsolute(p.x+1) + s + ansi.CursorHorizontalAbsolute(end+1)
}

// putCell writes one character, which must fit.
func (p *pen) putCell(text string, cells int) {
	cell := &p.line[p.x]
	if p.overline {
		text = "\x1b[53m" + text + "\x1b[55m"
	}
	if cell.Content != text {
		if len(text) > 1 {
			text = strings.Clone(text)
		}
		cell.Content = text
	}
	cell.Style, cell.Link, cell.Width = p.style, p.link, cells
	p.wide = p.wide || cells > 1
	for x := p.x + 1; x < p.x+cells; x++ {
		p.line[x] = uv.Cell{}
	}
	p.x += cells
	p.last = ""
}
