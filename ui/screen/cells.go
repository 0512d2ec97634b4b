package screen

import (
	"bytes"
	"strings"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/cellwidth"
	"tandem/panes/widget"
)

// A pen writes a row of text into the cells of a line.
type pen struct {
	line     uv.Line
	x        int
	ground   *Ground
	asked    uv.Style // by the row
	style    uv.Style // that on the ground
	overline bool     // uv.Style has no field for it
	link     uv.Link
	clusters bool   // the terminal counts clusters as one
	last     string // what the cell before shows, if it is not ASCII
	wide     bool   // the line has a wide cell
}

// wideEnd is the blank at the end of a line with wide cells: a space and a
// control function that does nothing there (G0 is ASCII). The renderer may not
// take it for one that an erased line ends in anyhow; what it does then to save
// bytes can begin in the middle of a wide cell.
const wideEnd = " \x1b(B"

// drawRow makes a line's cells those of a row of text, which has SGR sequences
// and hyperlinks (OSC 8) and is laid out as package cellwidth has it, but for
// clusters whose cells are said (widget.Sized). Other sequences, control
// characters and what has no cell of its own are left out; what the terminal
// shows in fewer cells than the layout gives it is filled up with spaces.
// clusters says that it counts clusters as one (mode 2027). It reports whether the
// line has wide cells.
func drawRow(line uv.Line, row string, clusters bool, ground *Ground) (wide bool) {
	parser := ansi.GetParser()
	defer ansi.PutParser(parser)
	p := pen{line: line, clusters: clusters, ground: ground, style: ground.on(uv.Style{})}
	for i := 0; i < len(row) && p.x < len(line); {
		c := row[i]
		switch {
		case c == ansi.ESC && strings.HasPrefix(row[i:], widget.Sized):
			i += p.sized(row[i:])
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
	empty := uv.EmptyCell
	empty.Style = ground.on(empty.Style)
	for x := p.x; x < len(line); x++ {
		line[x] = empty
	}
	if n := len(line) - 1; p.wide && line[n].Content == " " {
		line[n].Content = wideEnd
	}
	return p.wide
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
		uv.ReadStyle(parser.Params(), &p.asked)
		p.style = p.ground.on(p.asked)
		p.overline = applyOverline(parser.Params(), p.overline)
	case ansi.HasOscPrefix(seq) && parser.Command() == 8:
		p.link = linkOf(parser.Data())
	}
	return n
}

// applyOverline reports whether text is overlined after the SGR parameters params; on is
// whether it was before.
func applyOverline(params ansi.Params, on bool) bool {
	for i := 0; i < len(params); i++ {
		switch n := params[i].Param(0); n {
		case 0, 55:
			on = false
		case 53:
			on = true
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
	return on
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

// sized writes the cluster at the beginning of s whose cells are said, and
// returns its length.
func (p *pen) sized(s string) int {
	rest := s[len(widget.Sized):]
	end := strings.IndexByte(rest, ansi.ESC)
	if end < 0 {
		return len(s)
	}
	cells, text, ok := strings.Cut(rest[:end], ";")
	if ok && (cells == "1" || cells == "2") && cellwidth.Whole(text) {
		p.show(text, int(cells[0]-'0'))
	}
	return min(len(widget.Sized)+end+len("\x1b\\"), len(s))
}

// cluster writes the cluster at the beginning of s and returns its length.
func (p *pen) cluster(s string) int {
	cluster, width := cellwidth.First(s)
	p.show(cluster, width)
	return len(cluster)
}

// show writes a cluster into width cells.
func (p *pen) show(cluster string, width int) {
	if end := p.x + width; width > 0 && end <= len(p.line) {
		text, cells, sure := shown(cluster, width, p.clusters)
		switch {
		case cells == 0:
		case sure && !p.joins(text):
			p.put(text, cells)
		default:
			p.put(p.anchored(text, width), width)
		}
		if p.x < end {
			p.blank(end)
		} else {
			p.last = text
		}
		return
	}
	p.blank(min(p.x+width, len(p.line)))
}

// blank writes spaces up to column end.
func (p *pen) blank(end int) {
	for p.x < end {
		p.put(" ", 1)
	}
}

// joins reports whether a terminal could take text for a part of what the cell
// before shows.
func (p *pen) joins(text string) bool {
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

// anchored is text of which terminals think differently: in cells that are blank
// should it take fewer, and with the cursor placed again behind it. At the edge it
// must not wrap.
func (p *pen) anchored(text string, width int) string {
	end := p.x + width
	if end >= len(p.line) {
		text = ansi.ResetModeAutoWrap + text + ansi.SetModeAutoWrap
		end = len(p.line) - 1
	}
	return widget.Spaces(width) + ansi.CursorHorizontalAbsolute(p.x+1) + text + ansi.CursorHorizontalAbsolute(end+1)
}

// put writes one character, for which there is room.
func (p *pen) put(text string, cells int) {
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
