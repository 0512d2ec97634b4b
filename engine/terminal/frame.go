package terminal

import (
	"tandem/engine/api"
	"tandem/engine/vt"
)

// newFrame says in the API's terms what a diff of a terminal says.
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
