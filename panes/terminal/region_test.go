package terminal

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
)

// A fakeRegion records what is shown in it.
type fakeRegion struct {
	rows    []string
	cursor  *tea.Cursor
	refuses bool // another view was shown
}

func (r *fakeRegion) ReplaceRows(rows []string, cursor *tea.Cursor, _ bool) (ok bool) {
	for y, row := range rows {
		if row != "" && !r.refuses {
			r.rows[y] = row
		}
	}
	r.cursor = cursor
	return !r.refuses
}

// printDirectly prints lines, and reports whether they were shown in the region.
func (s *outputPane) printDirectly(lines int64) (shown bool) {
	s.first += lines
	f := s.frame(0)
	f.Full, f.Cursor = false, api.Cursor{X: 3, Y: 2, Visible: true}
	shown, _ = s.Feed.Receive(api.Output{Frame: f})
	return shown
}

func TestPressSelectsInLinesShownDirectly(t *testing.T) {
	s := newOutputPane(10)
	region := &fakeRegion{rows: make([]string, 10)}
	s.Feed.Screen.DrawIn(region)
	if !s.printDirectly(5) {
		t.Fatal("the lines were not shown directly")
	}
	compareRows(t, region.rows[:1], []string{"line 1005           "})
	if c := region.cursor; c == nil || c.X != 3 || c.Y != 2 {
		t.Errorf("the cursor is at %+v", c)
	}
	s.Pointer.Press(0, 2, 1)
	if s.printDirectly(5) {
		t.Error("lines were shown directly while the mouse selects")
	}
	s.Pointer.Drag(6, 3, false)
	in, _ := s.Pointer.Release()
	if text, held := s.Feed.Screen.HeldText(in); text != "line 1007\nline 10" || !held {
		t.Errorf("held %v: %q", held, text)
	}
}

func TestFrameOfAReplacedViewIsDrawnByTheDashboard(t *testing.T) {
	s := newOutputPane(10)
	s.Sync()
	s.NeedsRedraw()
	s.Feed.Screen.DrawIn(&fakeRegion{rows: make([]string, 10), refuses: true})
	if s.printDirectly(5) {
		t.Error("the refused lines count as shown")
	}
	if s.Sync(); !s.NeedsRedraw() {
		t.Error("the dashboard does not draw them either")
	}
}
