package rendered

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/styled"
)

const (
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

// A cell is a cell of a line. The second cell of a wide character has no text.
type cell struct {
	text  []byte
	style int32 // index in a canvas's styles
	from  int32 // offset of text in the line; -1 if the line does not contain it
}

// A canvas is one line of a terminal without a right edge.
type canvas struct {
	cells  []cell
	styles [][]byte // the SGR sequences that set each style; nil if styles are not kept
	at     int      // column of the cursor
	blanks int      // blank cells drawn so far
	read   int      // offset in the line of what is being drawn
}

func drawLine(line []byte, styles [][]byte) *canvas {
	c := &canvas{styles: styles}
	for c.read < len(line) {
		c.read += c.drawNext(line[c.read:])
	}
	return c
}

// drawNext draws the character or sequence at the start of p and returns its length.
func (c *canvas) drawNext(p []byte) int {
	switch p[0] {
	case '\r':
		c.at = 0
	case '\b':
		c.at = max(c.at-1, 0)
	case '\t':
		next := min((c.at/tabStop+1)*tabStop, maxCells)
		c.fillTo(next)
		c.at = next
	case 0x0e, 0x0f: // shifts, sent by "tput sgr0" for many terminals
	case esc:
		n, _ := styled.Sequence(p)
		if n > 2 && p[1] == '[' {
			c.applyCSI(p[2:n-1], p[n-1], p[:n])
		}
		return n
	default:
		return c.drawCluster(p)
	}
	return 1
}

// drawCluster draws the character at the start of p and returns its length.
func (c *canvas) drawCluster(p []byte) int {
	// Fast path: an ASCII character not followed by a combining one has one cell.
	if p[0] < utf8.RuneSelf && (len(p) == 1 || p[1] < utf8.RuneSelf) {
		c.writeCell(p[:1], 1)
		return 1
	}
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError && n == 1 {
		c.writeCell(p[:1], 1)
		return 1
	}
	end := n
	for end < len(p) && p[end] != esc && p[end] >= 0x20 && end < n+32 {
		_, n := utf8.DecodeRune(p[end:])
		end += n
	}
	cluster, width := cellwidth.First(string(p[:end]))
	c.writeCell(p[:max(len(cluster), 1)], width)
	return max(len(cluster), 1)
}

// writeCell writes a character of the given width at the cursor. A character without width joins
// the cell before.
func (c *canvas) writeCell(text []byte, width int) {
	if width == 0 {
		c.joinCluster(text)
		return
	}
	if c.fillTo(c.at); len(c.cells) < c.at || c.at+width > maxCells {
		return
	}
	c.splitWide(c.at)
	c.splitWide(c.at + width)
	for i := range width {
		if c.at+i == len(c.cells) {
			c.cells = append(c.cells, cell{})
		}
		c.cells[c.at+i] = cell{style: int32(max(len(c.styles)-1, 0)), from: int32(c.read)}
	}
	c.cells[c.at].text = text
	c.at += width
}

// joinCluster adds a combining character to the cell before the cursor.
func (c *canvas) joinCluster(text []byte) {
	i := c.at - 1
	if i > 0 && i < len(c.cells) && c.cells[i].text == nil {
		i--
	}
	if i < 0 || i >= len(c.cells) || len(c.cells[i].text)+len(text) > maxCluster {
		return
	}
	// The text may share its memory with the line, which must not change, so copy it.
	c.cells[i].text, c.cells[i].from = append(bytes.Clone(c.cells[i].text), text...), -1
}

// blank is the text of blank cells, and blankCell one of them.
var (
	blank     = []byte{' '}
	blankCell = cell{text: blank, from: -1}
)

// fillTo extends the line with blanks to n cells.
func (c *canvas) fillTo(n int) {
	for len(c.cells) < n && c.blanks < maxBlanks {
		c.cells = append(c.cells, blankCell)
		c.blanks++
	}
}

// splitWide blanks a wide character that continues over the boundary before cell i.
func (c *canvas) splitWide(i int) {
	if i > 0 && i < len(c.cells) && c.cells[i].text == nil {
		c.cells[i-1].text, c.cells[i].text = blank, blank
		c.cells[i-1].from, c.cells[i].from = -1, -1
	}
}

// applyCSI applies a control sequence that has an effect within a line, and ignores others.
func (c *canvas) applyCSI(params []byte, final byte, whole []byte) {
	n, err := strconv.Atoi(string(params))
	if err != nil {
		n = 0
	}
	count := min(max(n, 1), maxCells)
	switch final {
	case 'm':
		c.applySGR(params, whole)
	case 'C':
		c.moveForward(c.at + count)
	case 'D':
		c.at = max(c.at-count, 0)
	case 'G':
		c.at = 0
		c.moveForward(count - 1)
	case 'K':
		c.eraseLine(n)
	}
}

// moveForward moves the cursor right to column col, but not beyond maxReach unless the line is
// longer.
func (c *canvas) moveForward(col int) {
	c.at = max(c.at, min(col, max(len(c.cells), maxReach-1)))
}

// eraseLine erases to the end of the line (0), to the cursor (1), or all of it (2).
func (c *canvas) eraseLine(what int) {
	switch what {
	case 0:
		c.splitWide(c.at)
		c.cells = c.cells[:min(c.at, len(c.cells))]
	case 1:
		c.blankCells(0, c.at+1)
	case 2:
		c.cells = c.cells[:0]
	}
}

func (c *canvas) blankCells(from, to int) {
	to = min(to, len(c.cells))
	c.splitWide(from)
	c.splitWide(to)
	for i := from; i < to && c.blanks < maxBlanks; i++ {
		c.cells[i] = blankCell
		c.blanks++
	}
}

const (
	maxStyles = 4096 // of a line
	maxStyle  = 256  // bytes of the sequences that set one
)

// applySGR adds a sequence to the style. A sequence that starts with a reset replaces it.
func (c *canvas) applySGR(params, whole []byte) {
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
	style := int32(0)
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
