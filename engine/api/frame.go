package api

import (
	"tandem/engine/styled"
	"tandem/keys"
)

// What a screen shows.
type (
	Color        = styled.Color
	Attr         = styled.Attr
	Underline    = styled.Underline
	Style        = styled.Style
	Run          = styled.Run
	Line         = styled.Line
	LineSize     = styled.LineSize
	NumberedLine = styled.NumberedLine
	Cursor       = styled.Cursor
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
