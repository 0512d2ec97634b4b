// Package grid defines the cells of a screen, the Grid interface for storing them, and an
// implementation. It knows neither control sequences nor cursors, and styles and clusters only by
// number.
package grid

// StyleID is the number of an interned style, below 1<<23. 0 is the default style.
type StyleID uint32

// A Glyph is the content of one cell: 0 for a blank, a code point, Tail, or a number from
// FirstCluster on for a cluster of several code points, known only to the front end.
type Glyph uint32

const (
	// FirstCluster is the number of the first cluster of several code points.
	FirstCluster Glyph = 0x110000

	// Tail marks the second cell of a wide cluster.
	Tail Glyph = 1 << 31
)

// A Cell is one cell of the screen.
type Cell struct {
	Glyph Glyph
	Style StyleID
}

// Blank reports whether the cell is invisible: a space in the default style.
func (c Cell) Blank() bool { return c.Style == 0 && (c.Glyph == 0 || c.Glyph == ' ') }

// Empty reports whether the cell holds a space, in any style.
func (c Cell) Empty() bool { return c.Glyph == 0 || c.Glyph == ' ' }

// CountPrinted counts cells up to the last one holding a character, which may be a space.
func CountPrinted(cells []Cell) int {
	n := len(cells)
	for n > 0 && cells[n-1].Glyph == 0 {
		n--
	}
	return n
}

// A Grid stores the cells of one screen and nothing else. The front end passes whole clusters,
// coordinates inside the grid and interned styles. It never splits a wide cluster: it blanks the
// other half first. Columns and rows count from 0; right and bottom are inclusive. New cells are
// blank in the given style.
type Grid interface {
	// PutASCII writes printable ASCII, one cell per byte.
	PutASCII(x, y int, text []byte, s StyleID)
	// Put writes cells. A wide cluster is its glyph followed by Tail.
	Put(x, y int, cells []Cell)
	// Cell returns one cell.
	Cell(x, y int) Cell
	// Row returns a row. The result is read-only and valid until the next call.
	Row(y int) []Cell
	// Erase blanks n cells starting at x.
	Erase(x, y, n int, s StyleID)
	// Insert moves the cells between the columns x and margin, both included, by n cells to the
	// right. Cells moved past the column margin are lost.
	Insert(x, y, margin, n int, s StyleID)
	// Delete removes n cells at x. The cells after them move left, up to the one in the column
	// margin.
	Delete(x, y, margin, n int, s StyleID)
	// Scroll moves the content of a rectangle up by n rows, or down if n is negative. n is at most
	// the rectangle's height.
	Scroll(r Rect, n int, s StyleID)
	// Resize makes the grid cols × rows, all blank in the default style.
	Resize(cols, rows int)
}

// A Rect is a rectangle of cells. All sides are inclusive.
type Rect struct{ Left, Top, Right, Bottom int }
