package api

import (
	"tandem/engine/screen/styled"
	"tandem/keys"
)

// The contents of a screen.
type (
	Color        = styled.Color
	Attr         = styled.Attr
	Underline    = styled.Underline
	Style        = styled.Style
	Rendition    = styled.Rendition
	Run          = styled.Run
	Line         = styled.Line
	LineSize     = styled.LineSize
	NumberedLine = styled.NumberedLine
	Cursor       = styled.Cursor
)

// A Frame updates a viewer from its previous state to the current one. Lines have absolute numbers.
// First is the number of the screen's top row, and smaller numbers are scrollback. A line keeps its
// number when it scrolls. The rows of the alternate screen are numbered from First too, but never
// become scrollback.
type Frame struct {
	Full   bool // Lines has the whole screen; discard all others
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

	// Anchors are the current positions of the viewer's Input.Anchors. Only full frames have them.
	Anchors []Place
}
