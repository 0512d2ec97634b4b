// Package rendered converts lines of output to the text that a terminal shows for them.
package rendered

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"tandem/engine/cellwidth"
)

const (
	esc     = 0x1b
	tabStop = 8
	// maxCells bounds the cells of a line.
	maxCells = 1 << 20
	// maxReach bounds the columns that cursor movements reach beyond a line's text: a
	// session's widest terminal. So a short line cannot expand to megabytes of blanks.
	maxReach = 1000
	// maxBlanks bounds the blank cells drawn for a line by movements and erasures.
	maxBlanks = 4 << 20
	// maxCluster bounds the bytes in a cell.
	maxCluster = 64
)

// IsPlain reports whether all lines of p are shown as they are: without escape sequences,
// backspaces, and carriage returns inside a line. Other control characters count as text.
func IsPlain(p []byte) bool {
	if bytes.IndexByte(p, esc) >= 0 || bytes.IndexByte(p, '\b') >= 0 {
		return false
	}
	for {
		i := bytes.IndexByte(p, '\r')
		if i < 0 {
			return true
		}
		if p = p[i+1:]; len(p) > 0 && p[0] != '\n' && p[0] != '\r' {
			return false
		}
	}
}

// AppendText appends the text that a terminal shows for a line of output: without escape
// sequences, and with what was overwritten or erased within the line replaced. The line has no
// newline; an incomplete sequence at its end is dropped.
func AppendText(dst, line []byte) []byte {
	line = bytes.TrimRight(line, "\r")
	if IsPlain(line) {
		return append(dst, line...)
	}
	start := len(dst)
	for rest := line; len(rest) > 0; {
		i := bytes.IndexAny(rest, "\x1b\b\r")
		if i < 0 {
			return append(dst, rest...)
		}
		dst = append(dst, rest[:i]...)
		n := 1
		if rest[i] == esc {
			n, _ = Sequence(rest[i:])
		}
		if moves(rest[i : i+n]) {
			return draw(line, nil).appendText(dst[:start])
		}
		rest = rest[i+n:]
	}
	return dst
}

// Styled returns a line of output as AppendText does, but keeps its colours and attributes as
// SGR sequences.
func Styled(line []byte) []byte {
	line = bytes.TrimRight(line, "\r")
	if IsPlain(line) || onlyColours(line) {
		return line
	}
	return draw(line, [][]byte{nil}).appendStyled(nil)
}

// onlyColours reports whether a line needs no change to be shown with its colours.
func onlyColours(line []byte) bool {
	for {
		i := bytes.IndexAny(line, "\x1b\b\r")
		if i < 0 {
			return true
		}
		if line = line[i:]; line[0] != esc {
			return false
		}
		n, _ := Sequence(line)
		if n < 3 || line[1] != '[' || line[n-1] != 'm' {
			return false
		}
		line = line[n:]
	}
}

// moves reports whether a sequence or control character moves the cursor or erases cells.
func moves(s []byte) bool {
	if s[0] != esc {
		return true
	}
	return len(s) > 2 && s[1] == '[' && strings.IndexByte("CDGK", s[len(s)-1]) >= 0
}

// Sequence returns the length of the escape sequence (ECMA-48, 5.4 and 5.6) at the start of p,
// which begins with ESC, and whether its end is there. An incomplete one is as long as p. A byte
// that cannot belong to the sequence ends it and is not part of it.
func Sequence[T string | []byte](p T) (n int, whole bool) {
	if len(p) < 2 {
		return len(p), false
	}
	switch c := p[1]; {
	case c == '[':
		return sequenceTo(p, 0x40)
	case strings.IndexByte("]PX^_", c) >= 0:
		return controlString(p)
	case c >= 0x20 && c <= 0x2f:
		return sequenceTo(p, 0x30)
	case c < 0x20 || c > 0x7e:
		return 1, true
	}
	return 2, true
}

// sequenceTo returns the length of a sequence whose final byte is at least final.
func sequenceTo[T string | []byte](p T, final byte) (n int, whole bool) {
	for i := 2; i < len(p); i++ {
		if c := p[i]; c >= final && c <= 0x7e {
			return i + 1, true
		} else if c < 0x20 || c > 0x7e {
			return i, true
		}
	}
	return len(p), false
}

// controlString returns the length of a control string with its terminator.
func controlString[T string | []byte](p T) (n int, whole bool) {
	for i := 2; i < len(p); i++ {
		switch {
		case p[i] == 0x07:
			return i + 1, true
		case p[i] == esc && i+1 < len(p) && p[i+1] == '\\':
			return i + 2, true
		case p[i] == esc && i+1 < len(p):
			return i, true
		}
	}
	return len(p), false
}

// A cell of a line. The second cell of a wide character has no text.
type cell struct {
	text  []byte
	style int // index in a canvas's styles
}

// A canvas is one line of a terminal without a right edge.
type canvas struct {
	cells  []cell
	styles [][]byte // the SGR sequences that lead to each style; nil if they are not kept
	at     int      // column of the cursor
	blanks int      // blank cells drawn so far
}

func draw(line []byte, styles [][]byte) *canvas {
	c := &canvas{styles: styles}
	for len(line) > 0 {
		line = line[c.step(line):]
	}
	return c
}

// step draws the character or sequence at the start of p and returns its length.
func (c *canvas) step(p []byte) int {
	switch p[0] {
	case '\r':
		c.at = 0
	case '\b':
		c.at = max(c.at-1, 0)
	case '\t':
		next := min((c.at/tabStop+1)*tabStop, maxCells)
		c.fill(next)
		c.at = next
	case esc:
		n, _ := Sequence(p)
		if n > 2 && p[1] == '[' {
			c.csi(p[2:n-1], p[n-1], p[:n])
		}
		return n
	default:
		return c.put(p)
	}
	return 1
}

// put draws the character at the start of p.
func (c *canvas) put(p []byte) int {
	if p[0] < utf8.RuneSelf && (len(p) == 1 || p[1] < utf8.RuneSelf) {
		c.set(p[:1], 1)
		return 1
	}
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError && n == 1 {
		c.set(p[:1], 1)
		return 1
	}
	end := n
	for end < len(p) && p[end] != esc && p[end] >= 0x20 && end < n+32 {
		_, n := utf8.DecodeRune(p[end:])
		end += n
	}
	cluster, width := cellwidth.First(string(p[:end]))
	c.set(p[:max(len(cluster), 1)], width)
	return max(len(cluster), 1)
}

// set writes a character of a width at the cursor. One without a width joins the cell before.
func (c *canvas) set(text []byte, width int) {
	if width == 0 {
		c.join(text)
		return
	}
	if c.fill(c.at); len(c.cells) < c.at || c.at+width > maxCells {
		return
	}
	c.split(c.at)
	c.split(c.at + width)
	for i := range width {
		if c.at+i == len(c.cells) {
			c.cells = append(c.cells, cell{})
		}
		c.cells[c.at+i] = cell{style: max(len(c.styles)-1, 0)}
	}
	c.cells[c.at].text = text
	c.at += width
}

// join adds a combining character to the cell before the cursor.
func (c *canvas) join(text []byte) {
	i := c.at - 1
	if i > 0 && i < len(c.cells) && c.cells[i].text == nil {
		i--
	}
	if i < 0 || i >= len(c.cells) || len(c.cells[i].text)+len(text) > maxCluster {
		return
	}
	c.cells[i].text = append(bytes.Clone(c.cells[i].text), text...)
}

var blank = []byte{' '}

// fill extends the line with blanks to n cells.
func (c *canvas) fill(n int) {
	for len(c.cells) < n && c.blanks < maxBlanks {
		c.cells = append(c.cells, cell{text: blank})
		c.blanks++
	}
}

// split blanks a wide character that continues over the boundary before cell i.
func (c *canvas) split(i int) {
	if i > 0 && i < len(c.cells) && c.cells[i].text == nil {
		c.cells[i-1].text, c.cells[i].text = blank, blank
	}
}

// csi handles the control sequences that matter within a line. Others are ignored.
func (c *canvas) csi(params []byte, final byte, whole []byte) {
	n, err := strconv.Atoi(string(params))
	if err != nil {
		n = 0
	}
	count := min(max(n, 1), maxCells)
	switch final {
	case 'm':
		c.sgr(params, whole)
	case 'C':
		c.forward(c.at + count)
	case 'D':
		c.at = max(c.at-count, 0)
	case 'G':
		c.at = 0
		c.forward(count - 1)
	case 'K':
		c.erase(n)
	}
}

// forward moves the cursor right to a column, if a terminal has it.
func (c *canvas) forward(to int) {
	c.at = max(c.at, min(to, max(len(c.cells), maxReach-1)))
}

// erase erases to the end of the line (0), to the cursor (1), or all of it (2).
func (c *canvas) erase(what int) {
	switch what {
	case 0:
		c.split(c.at)
		c.cells = c.cells[:min(c.at, len(c.cells))]
	case 1:
		c.blank(0, c.at+1)
	case 2:
		c.cells = c.cells[:0]
	}
}

func (c *canvas) blank(from, to int) {
	to = min(to, len(c.cells))
	c.split(from)
	c.split(to)
	for i := from; i < to && c.blanks < maxBlanks; i++ {
		c.cells[i] = cell{text: blank}
		c.blanks++
	}
}

const (
	maxStyles = 4096 // of a line
	maxStyle  = 256  // bytes of the sequences that lead to one
)

// sgr adds a sequence to the style. A sequence that begins with a reset replaces it.
func (c *canvas) sgr(params, whole []byte) {
	if len(c.styles) == 0 || len(c.styles) == maxStyles {
		return
	}
	last := c.styles[len(c.styles)-1]
	if first, _, _ := bytes.Cut(params, []byte{';'}); len(bytes.Trim(first, "0")) == 0 {
		last = nil
		if len(first) == len(params) {
			whole = nil
		}
	}
	if len(last)+len(whole) <= maxStyle {
		c.styles = append(c.styles, append(bytes.Clone(last), whole...))
	}
}

func (c *canvas) appendText(dst []byte) []byte {
	for _, cell := range c.cells {
		dst = append(dst, cell.text...)
	}
	return dst
}

func (c *canvas) appendStyled(dst []byte) []byte {
	style := 0
	for _, cell := range c.cells {
		if cell.style != style {
			if len(c.styles[style]) > 0 {
				dst = append(dst, "\x1b[m"...)
			}
			style = cell.style
			dst = append(dst, c.styles[style]...)
		}
		dst = append(dst, cell.text...)
	}
	return dst
}
