package terminal

import (
	"image/color"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/panes/kit/look"
)

// A frame that changes only cells and the cursor of a live pane is drawn by the goroutine that
// receives it, without the dashboard's Update and View. After each view, the dashboard says which
// part of the terminal shows the pane (DrawIn). The part is forgotten when the pane is drawn for
// the next view, when its lines are needed for something else, and with the first frame that
// changes more than cells. The dashboard draws such a frame in its next view, and also all frames
// that arrive before that view.

// A Region is the part of the user's terminal that shows a pane, until the next view.
type Region interface {
	// ReplaceRows shows the cursor and new rows; "" leaves a row unchanged. urgent says that the
	// rows contain the echo of a key. If another view has been shown meanwhile, ReplaceRows does
	// nothing and ok is false.
	ReplaceRows(rows []string, cursor *tea.Cursor, urgent bool) (ok bool)
}

// DrawIn sets the region in which the next frames are drawn, if the last view shows the whole
// screen as it is now.
func (s *Screen) DrawIn(r Region) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, win := &s.state, s.drawn
	if win.version == st.version && win.Top == st.First && win.W == st.Cols && win.H == st.Rows {
		s.region = r
	}
}

// dropRegion leaves drawing to the dashboard until its next view.
func (s *Screen) dropRegion() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.region = nil
}

// isDrawn reports whether the user's terminal shows the screen as it is now.
func (s *Screen) isDrawn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawn.version == s.state.version
}

// Show applies a frame. If the frame changes only cells and the cursor, Show draws it on the user's
// terminal and returns true. urgent says that the frame contains the echo of a key.
func (s *Screen) Show(f *api.Frame, urgent bool) (shown bool) {
	region, cursor := s.applyInRegion(f)
	if region == nil || region.ReplaceRows(s.changes, cursor, urgent) {
		return region != nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// If a view that includes the frame has been drawn meanwhile, keep its region.
	if s.region == region {
		s.region, s.drawn.version = nil, 0
	}
	return false
}

// applyInRegion applies a frame and draws the changed rows into s.changes. It returns the region
// that can show them, or nil if the dashboard must draw the frame.
func (s *Screen) applyInRegion(f *api.Frame) (region Region, cursor *tea.Cursor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	moved := f.First != s.state.First
	if s.region == nil || !s.changesOnlyCells(f) {
		s.region = nil
		s.applyFrame(f)
		return nil, nil
	}
	s.applyFrame(f)
	if !s.drawChanges(f, moved) {
		s.region = nil
		return nil, nil
	}
	s.drawn.Top, s.drawn.version = f.First, s.state.version
	s.keepFrom, s.keepTo = f.First, f.First+int64(f.Rows)
	var line api.Line
	if l := s.lines[f.First+int64(f.Cursor.Y)]; l != nil {
		line = l.line
	}
	if c, ok := s.state.placeCursor(f.Cursor, line, api.Size{Cols: f.Cols, Rows: f.Rows}); ok {
		cursor = viewCursor(c)
	}
	return s.region, cursor
}

// changesOnlyCells reports whether a frame changes nothing but cells and the cursor since the
// screen was last drawn.
func (s *Screen) changesOnlyCells(f *api.Frame) bool {
	st := &s.state
	return !f.Full && s.drawn.version == st.version && f.Cols == st.Cols && f.Rows == st.Rows &&
		f.Alt == st.Alt && f.Title == st.Title && f.Mouse == st.Mouse && f.Bells == st.Bells
}

// drawChanges draws the changed rows into s.changes, or all rows if the lines have moved. ok is
// false if one of them has pictures, which the terminal may have to draw.
func (s *Screen) drawChanges(f *api.Frame, moved bool) (ok bool) {
	s.changes = append(s.changes[:0], make([]string, f.Rows)...)
	draw := func(n int64) bool {
		if l := s.lines[n]; l != nil && len(l.line.Pictures) > 0 {
			return false
		}
		s.changes[n-f.First] = s.drawLine(n, f.Cols, s.drawn.Pictures)
		return true
	}
	if moved {
		for y := range f.Rows {
			if !draw(f.First + int64(y)) {
				return false
			}
		}
		return true
	}
	for _, l := range f.Lines {
		if l.N >= f.First && l.N < f.First+int64(f.Rows) && !draw(l.N) {
			return false
		}
	}
	return true
}

// placeCursor converts the program's cursor c, which is in line l, to its position in a pane of a
// size. ok is false if the cursor is not visible in the pane.
func (st *ScreenState) placeCursor(c api.Cursor, l api.Line, size api.Size) (at api.Cursor, ok bool) {
	c.Y -= st.rowsAbove(size.Rows)
	c.X = min(c.X*cellScale(l), st.Cols-1)
	return c, st.Known && c.Visible && c.X >= 0 && c.Y >= 0 && c.X < size.Cols && c.Y < size.Rows
}

// viewCursor returns a cursor as the view has it.
func viewCursor(c api.Cursor) *tea.Cursor {
	shape := tea.CursorBlock
	switch c.Shape {
	case styled.CursorUnderline:
		shape = tea.CursorUnderline
	case styled.CursorBar:
		shape = tea.CursorBar
	}
	cursor := &tea.Cursor{Position: tea.Position{X: c.X, Y: c.Y}, Shape: shape, Blink: c.Blink}
	if c.Own {
		cursor.Shape, cursor.Blink = look.OwnCursor, false
	}
	if c.Color != 0 {
		cursor.Color = color.RGBA{uint8(c.Color >> 16), uint8(c.Color >> 8), uint8(c.Color), 255}
	}
	return cursor
}
