package ui

import (
	"bytes"
	"strings"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/panes"
)

// A pen writes a row of text into the cells of a line.
type pen struct {
	line   uv.Line
	x      int
	style  uv.Style
	link   uv.Link
	widths panes.Widths
}

// drawRow makes a line's cells those of a row of text, which has SGR sequences
// and hyperlinks (OSC 8) and is laid out in clusters. Other sequences, control
// characters and what has no cell of its own are left out; what the terminal
// shows in fewer cells than the layout gives it is filled up with spaces.
func drawRow(line uv.Line, row string, m panes.Widths) {
	parser := ansi.GetParser()
	defer ansi.PutParser(parser)
	p := pen{line: line, widths: m}
	for i := 0; i < len(row) && p.x < len(line); {
		c := row[i]
		switch {
		case c == ansi.ESC:
			i += p.sequence(row[i:], parser)
		case c >= utf8.RuneSelf || i+1 < len(row) && row[i+1] >= utf8.RuneSelf: // marks may follow
			i += p.cluster(row[i:])
		case c >= ' ' && c < 0x7f:
			p.put(printable[c-' ':][:1], 1)
			i++
		default:
			i++
		}
	}
	for x := p.x; x < len(line); x++ {
		line[x] = uv.EmptyCell
	}
}

// printable is ASCII from the space on. Cells hold parts of it, because a part
// of the row would keep the whole view in memory.
const printable = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

// sequence obeys the escape sequence at the beginning of s and returns its
// length.
func (p *pen) sequence(s string, parser *ansi.Parser) int {
	seq, _, n, _ := ansi.DecodeSequence(s, ansi.NormalState, parser)
	switch {
	case ansi.HasCsiPrefix(seq) && parser.Command() == 'm':
		uv.ReadStyle(parser.Params(), &p.style)
	case ansi.HasOscPrefix(seq) && parser.Command() == 8:
		p.link = linkOf(parser.Data())
	}
	return n
}

// linkOf reads the data of OSC 8, whose target may have semicolons.
func linkOf(data []byte) uv.Link {
	_, data, _ = bytes.Cut(data, []byte{';'})
	params, target, _ := bytes.Cut(data, []byte{';'})
	if len(target) == 0 {
		return uv.Link{}
	}
	return uv.Link{URL: string(target), Params: string(params)}
}

// cluster writes the cluster at the beginning of s and returns its length.
func (p *pen) cluster(s string) int {
	cluster, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if width > 0 {
		text, cells := p.widths.Shown(cluster, width)
		end := p.x + width
		if cells > 0 && end <= len(p.line) {
			p.put(text, cells)
		}
		for p.x < min(end, len(p.line)) {
			p.put(" ", 1)
		}
	}
	return len(cluster)
}

// put writes one character, for which there is room.
func (p *pen) put(text string, cells int) {
	cell := &p.line[p.x]
	if cell.Content != text {
		if len(text) > 1 {
			text = strings.Clone(text)
		}
		cell.Content = text
	}
	cell.Style, cell.Link, cell.Width = p.style, p.link, cells
	for x := p.x + 1; x < p.x+cells; x++ {
		p.line[x] = uv.Cell{}
	}
	p.x += cells
}
