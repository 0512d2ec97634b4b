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
		Lines:  newLines(d.Lines),
		Cursor: newCursor(d.Cursor),
		Title:  d.Title,
		Mouse:  d.Modes.Mouse,
		Paste:  d.Modes.BracketedPaste,
		Bells:  d.Bells,
	}
}

func newCursor(c vt.Cursor) api.Cursor {
	return api.Cursor{X: c.X, Y: c.Y, Visible: c.Visible, Shape: api.CursorShape(c.Shape), Blink: c.Blink}
}

func newLines(lines []vt.NumberedLine) []api.NumberedLine {
	out := make([]api.NumberedLine, len(lines))
	for i, l := range lines {
		out[i] = api.NumberedLine{N: l.N, Line: newLine(l.Line)}
	}
	return out
}

func newLine(l vt.Line) api.Line {
	runs := make([]api.Run, len(l.Runs))
	for i, r := range l.Runs {
		runs[i] = api.Run{Style: newStyle(r.Style), Text: r.Text, Cells: r.Cells}
	}
	return api.Line{
		Runs: runs, Wrapped: l.Wrapped, Size: api.LineSize(l.Size),
		Prompt: l.Mark&vt.MarkPrompt != 0, Output: l.Mark&vt.MarkOutput != 0,
	}
}

func newStyle(s vt.Style) api.Style {
	return api.Style{
		FG: api.Color(s.FG), BG: api.Color(s.BG), UL: api.Color(s.UL),
		Attrs: api.Attr(s.Attrs), Underline: api.Underline(s.Underline), Link: s.Link,
	}
}
