package api

import "tandem/keys"

// A Color is the default colour (0), one of the palette, or a true colour. Its
// bits are those of vt.Color: kind in the top byte, value below.
type Color uint32

const (
	ColorIndexed Color = 1 << 24 // | 0…255
	ColorRGB     Color = 2 << 24 // | 0xRRGGBB
)

// Attr is a set of text attributes; the bits are those of vt.Attr.
type Attr uint16

const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Blink
	Reverse
	Conceal
	Strike
	Overline
)

// Underline is the style of an underline; the values are those of SGR 4:n.
type Underline uint8

const (
	UnderlineNone Underline = iota
	UnderlineSingle
	UnderlineDouble
	UnderlineCurly
	UnderlineDotted
	UnderlineDashed
)

// A Style is how a run of cells looks. Comparable.
type Style struct {
	FG, BG, UL Color
	Attrs      Attr
	Underline  Underline
	Link       string // target of an OSC 8 hyperlink, "" for none
}

// A Run is text in one style. Text holds no control characters; wide clusters
// count two cells.
type Run struct {
	Style Style
	Text  string
	Cells int
}

// A Line is one row of a screen: runs from the first cell on. Cells after the
// last run are blank in the default style.
type Line struct {
	Runs    []Run
	Wrapped bool // continues on the next line
	Prompt  bool // a shell told that a prompt begins here
	Output  bool // a shell told that a command's output begins here
	Size    LineSize
}

// LineSize is how large the characters of a line are drawn (DECDWL, DECDHL);
// the values are those of vt.LineSize. But for the first, a line shows half as
// many columns, each two cells wide.
type LineSize uint8

const (
	SingleSize LineSize = iota
	DoubleWidth
	DoubleTop
	DoubleBottom
)

// A Cursor is where the next character would go and how it is shown.
type Cursor struct {
	X       int         `json:"x" jsonschema:"column, from 0"`
	Y       int         `json:"y" jsonschema:"row of the screen, from 0"`
	Visible bool        `json:"visible" jsonschema:"whether it is shown"`
	Shape   CursorShape `json:"shape" jsonschema:"0 block, 1 underline, 2 bar"`
	Blink   bool        `json:"blink" jsonschema:"whether it blinks"`
}

// CursorShape is how a cursor is drawn.
type CursorShape uint8

const (
	CursorBlock CursorShape = iota
	CursorUnderline
	CursorBar
)

// A Frame takes a viewer from the state it has to the state now. Lines are
// known by absolute number: line First is the top row of the screen, smaller
// numbers are scrollback, and a line keeps its number as it scrolls. The
// alternate screen numbers its rows from First as well, and never scrolls off.
type Frame struct {
	Full   bool // forget all lines held; Lines has the whole screen
	Cols   int
	Rows   int
	Alt    bool  // the alternate screen is shown
	Oldest int64 // first line still in the scrollback
	First  int64 // line number of the screen's top row
	Lines  []NumberedLine
	Cursor Cursor
	Title  string
	Mouse  keys.MouseMode
	Paste  bool // bracketed paste is on
	Bells  uint32

	// Anchors are, in a full frame after the viewer has sent some, where these
	// places are now.
	Anchors []Place
}

// A NumberedLine is a line with its absolute number.
type NumberedLine struct {
	N    int64
	Line Line
}
