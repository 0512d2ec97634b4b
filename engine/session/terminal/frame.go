package terminal

import (
	"tandem/engine/api"
	"tandem/engine/screen/vt"
)

// newFrame converts a terminal's diff to the API's type.
func newFrame(d vt.Diff) api.Frame {
	return api.Frame{
		Full:   d.Full,
		Cols:   d.Cols,
		Rows:   d.Rows,
		Alt:    d.Modes.Alt,
		Oldest: d.Oldest,
		First:  d.First,
		Lines:  d.Lines,
		Cursor: d.Cursor,
		Title:  d.Title,
		Mouse:  d.Modes.Mouse,
		Paste:  d.Modes.BracketedPaste,
		Bells:  d.Bells,
	}
}
