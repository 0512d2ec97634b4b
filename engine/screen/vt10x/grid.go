package vt10x

import (
	"strconv"
	"unicode/utf8"

	"github.com/hinshun/vt10x"

	"tandem/engine/screen/vt/grid"
)

// styleBase is added to a style's number to make it a true colour. vt10x takes smaller numbers for
// palette colours and may change them.
const styleBase = 256

// maxPending is how many bytes are buffered before vt10x receives them.
const maxPending = 32 << 10

// A screen drives one vt10x terminal. Writes are buffered until a cell is read.
type screen struct {
	term       vt10x.Terminal
	cols, rows int
	out        []byte // buffered for term
	x, y       int    // term's cursor after out; x is -1 if unknown
	style      grid.StyleID
	styled     bool  // term's colour matches style
	used       []int // by row: cells from this column on are blank in style 0
	names      names
	row        []grid.Cell
	moved      []grid.Cell
}

// New returns a blank grid.
func New(cols, rows int) grid.Grid {
	g := &screen{}
	g.Resize(cols, rows)
	return g
}

// Resize replaces the vt10x terminal, because its own resize loses lines.
func (g *screen) Resize(cols, rows int) {
	g.cols, g.rows = cols, rows
	g.out, g.styled, g.x = g.out[:0], false, -1
	g.used = make([]int, rows)
	g.names = newNames()
	g.term = vt10x.New(vt10x.WithSize(cols, rows))
	// Without autowrap, writing the last column cannot scroll the terminal.
	g.out = append(g.out, "\x1b[?7l"...)
}

// flush writes the buffer to vt10x. If vt10x panics, the cells stay as they are and the session
// continues.
func (g *screen) flush() {
	if len(g.out) == 0 {
		return
	}
	defer func() {
		if recover() != nil {
			g.styled = false
		}
		g.out = g.out[:0]
		g.x = -1
	}()
	_, _ = g.term.Write(g.out)
}

// room flushes a full buffer.
func (g *screen) room() {
	if len(g.out) > maxPending {
		g.flush()
	}
}

// csi appends a control sequence with numbers ns.
func (g *screen) csi(final byte, ns ...int) {
	g.out = append(g.out, 0x1b, '[')
	for i, n := range ns {
		if i > 0 {
			g.out = append(g.out, ';')
		}
		g.out = strconv.AppendInt(g.out, int64(n), 10)
	}
	g.out = append(g.out, final)
}

// at moves vt10x's cursor.
func (g *screen) at(x, y int) {
	if g.x != x || g.y != y {
		g.csi('H', y+1, x+1)
		g.x, g.y = x, y
	}
}

// use sets the style for writing and erasing: its number becomes the foreground colour, and is read
// back from there.
func (g *screen) use(s grid.StyleID) {
	if g.styled && g.style == s {
		return
	}
	n := int(s) + styleBase
	g.out = append(g.out, "\x1b[38;2"...)
	for shift := 16; shift >= 0; shift -= 8 {
		g.out = append(g.out, ';')
		g.out = strconv.AppendInt(g.out, int64(n>>shift&255), 10)
	}
	g.out = append(g.out, 'm')
	g.style, g.styled = s, true
}

// wrote tracks the cursor after n cells were written.
func (g *screen) wrote(n int) {
	if g.x += n; g.x >= g.cols {
		g.x = -1
	}
}

func (g *screen) PutASCII(x, y int, text []byte, s grid.StyleID) {
	g.room()
	g.use(s)
	g.at(x, y)
	g.out = append(g.out, text...)
	g.wrote(len(text))
	g.used[y] = max(g.used[y], x+len(text))
}

func (g *screen) Put(x, y int, cells []grid.Cell) {
	g.room()
	for i, c := range cells {
		r := g.rune(c.Glyph)
		g.use(c.Style)
		g.at(x+i, y)
		g.out = utf8.AppendRune(g.out, r)
		g.wrote(1)
	}
	g.used[y] = max(g.used[y], x+len(cells))
}

func (g *screen) Cell(x, y int) grid.Cell {
	if x >= g.used[y] {
		return grid.Cell{}
	}
	g.flush()
	return g.cell(x, y)
}

func (g *screen) cell(x, y int) grid.Cell {
	c := g.term.Cell(x, y)
	var s grid.StyleID
	if c.FG >= styleBase && c.FG < vt10x.DefaultFG {
		s = grid.StyleID(c.FG - styleBase)
	}
	return grid.Cell{Glyph: g.names.glyph(c.Char), Style: s}
}

func (g *screen) Row(y int) []grid.Cell {
	g.row = g.read(g.row[:0], 0, y, g.cols)
	return g.row
}

// read appends n cells to dst.
func (g *screen) read(dst []grid.Cell, x, y, n int) []grid.Cell {
	g.flush()
	for i := range n {
		if x+i < g.used[y] {
			dst = append(dst, g.cell(x+i, y))
		} else {
			dst = append(dst, grid.Cell{})
		}
	}
	return dst
}

func (g *screen) Erase(x, y, n int, s grid.StyleID) {
	g.erased(x, y, n, s)
	g.room()
	g.use(s)
	g.at(x, y)
	if x == 0 && n >= g.cols {
		g.csi('K', 2)
		return
	}
	g.csi('X', min(n, g.cols-x))
}

// erased updates g.used after n cells were erased.
func (g *screen) erased(x, y, n int, s grid.StyleID) {
	switch {
	case s != 0:
		g.used[y] = max(g.used[y], min(x+n, g.cols))
	case x+n >= g.used[y]:
		g.used[y] = min(g.used[y], x)
	}
}

func (g *screen) Insert(x, y, right, n int, s grid.StyleID) {
	n = min(n, right-x+1)
	if right == g.cols-1 {
		g.inRow('@', x, y, n, s)
		g.used[y] = min(max(g.used[y], x)+n, g.cols)
		return
	}
	g.moved = g.read(g.moved[:0], x, y, right+1-n-x)
	g.Put(x+n, y, g.moved)
	g.Erase(x, y, n, s)
}

func (g *screen) Delete(x, y, right, n int, s grid.StyleID) {
	n = min(n, right-x+1)
	if right == g.cols-1 {
		g.inRow('P', x, y, n, s)
		if s != 0 {
			g.used[y] = g.cols
		}
		return
	}
	g.moved = g.read(g.moved[:0], x+n, y, right+1-n-x)
	g.Put(x, y, g.moved)
	g.Erase(right+1-n, y, n, s)
}

func (g *screen) inRow(final byte, x, y, n int, s grid.StyleID) {
	g.room()
	g.use(s)
	g.at(x, y)
	g.csi(final, n)
}

// Scroll moves whole rows with SU and SD inside vt10x's margins. Parts of rows are read and
// rewritten.
func (g *screen) Scroll(r grid.Rect, n int, s grid.StyleID) {
	if r.Left > 0 || r.Right < g.cols-1 {
		g.scrollPart(r, n, s)
		return
	}
	g.room()
	g.use(s)
	whole := r.Top == 0 && r.Bottom == g.rows-1
	if !whole {
		// Margins limit SU and SD to the rows of r.
		g.csi('r', r.Top+1, r.Bottom+1)
	}
	fresh := 0
	if s != 0 {
		fresh = g.cols
	}
	used := g.used[r.Top : r.Bottom+1]
	if n > 0 {
		g.csi('S', n)
		shift(used, used[n:], used[len(used)-n:], fresh)
	} else {
		g.csi('T', -n)
		shift(used[-n:], used, used[:-n], fresh)
	}
	if !whole {
		g.csi('r', 1, g.rows)
		g.x, g.y = 0, 0
	}
}

// shift copies src to dst, and then sets each element of free to the value fill.
func shift(dst, src, free []int, fill int) {
	copy(dst, src)
	for i := range free {
		free[i] = fill
	}
}

func (g *screen) scrollPart(r grid.Rect, n int, s grid.StyleID) {
	width := r.Right - r.Left + 1
	for i := range r.Bottom - r.Top + 1 {
		to := r.Top + i
		if n < 0 {
			to = r.Bottom - i
		}
		if from := to + n; from >= r.Top && from <= r.Bottom {
			g.moved = g.read(g.moved[:0], r.Left, from, width)
			g.Put(r.Left, to, g.moved)
		} else {
			g.Erase(r.Left, to, width, s)
		}
	}
}
