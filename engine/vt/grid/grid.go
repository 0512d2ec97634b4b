// Package grid is the cells of a screen: what a cell holds, the interface of what keeps them, and a grid that does. It
// knows neither sequences nor cursors, and of styles and clusters only their numbers.
package grid

// StyleID is the number of an interned style. 0 is the default style. Numbers
// stay below 1<<23.
type StyleID uint32

// A Glyph is what stands in one cell: 0 for a blank, a code point, a number
// from FirstCluster on for a cluster of several code points (known to the front
// end only), or Tail.
type Glyph uint32

const (
	// FirstCluster is the number of the first cluster of several code points.
	FirstCluster Glyph = 0x110000

	// Tail is the second cell of a wide cluster, behind its first.
	Tail Glyph = 1 << 31
)

// A Cell is one place of the screen.
type Cell struct {
	Glyph Glyph
	Style StyleID
}

// Blank says that nothing is to be seen: a space in the default style.
func (c Cell) Blank() bool { return c.Style == 0 && (c.Glyph == 0 || c.Glyph == ' ') }

// Empty says that the cell holds a space, in whatever style.
func (c Cell) Empty() bool { return c.Glyph == 0 || c.Glyph == ' ' }

// Printed counts cells up to the last one that holds a character, a space or not.
func Printed(cells []Cell) int {
	n := len(cells)
	for n > 0 && cells[n-1].Glyph == 0 {
		n--
	}
	return n
}

// A Grid keeps the cells of one screen and nothing else. The front end gives
// it whole clusters, coordinates inside the grid and interned styles, and
// never splits a wide cluster: it blanks the other half first. Columns and
// rows count from 0; "right" and "bottom" are inside. New cells are blank in
// the style given.
type Grid interface {
	// PutASCII writes printable ASCII, one cell a byte.
	PutASCII(x, y int, text []byte, s StyleID)
	// Put writes cells; a wide cluster is its glyph followed by Tail.
	Put(x, y int, cells []Cell)
	// Cell reads one cell.
	Cell(x, y int) Cell
	// Row reads a row. The result is read only and valid until the next call.
	Row(y int) []Cell
	// Erase blanks n cells from x on.
	Erase(x, y, n int, s StyleID)
	// Insert moves the cells from x to right by n cells to the right; what
	// passes right is lost.
	Insert(x, y, right, n int, s StyleID)
	// Delete removes n cells at x; those up to right move left.
	Delete(x, y, right, n int, s StyleID)
	// Scroll moves the content of a rectangle up by n rows, down when n is
	// negative; n is at most the rectangle's height.
	Scroll(r Rect, n int, s StyleID)
	// Resize makes the grid cols × rows, all blank in the default style.
	Resize(cols, rows int)
}

// A Rect is a rectangle of cells, all sides inside.
type Rect struct{ Left, Top, Right, Bottom int }
