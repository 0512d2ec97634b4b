package terminal

import (
	"fmt"
	"testing"

	"tandem/engine/api"
)

// An outputPane is a pane on a session printing numbered lines; its screen has h of them.
type outputPane struct {
	*Terminal
	first int64
	h     int
}

func newOutputPane(h int) *outputPane {
	s := &outputPane{first: 1000, h: h}
	s.Terminal, _ = livePane(20, h, s.frame(0))
	plainRows(s.Terminal, 20, h)
	return s
}

func (s *outputPane) frame(oldest int64) *api.Frame {
	var rows []string
	for y := range s.h {
		rows = append(rows, fmt.Sprint("line ", s.first+int64(y)))
	}
	f := screenOf(20, s.h, s.first, rows...)
	f.Oldest = oldest
	return f
}

// printLines prints lines, of which the session keeps only the last ones, as many as kept says.
// Then it draws the pane.
func (s *outputPane) printLines(lines, kept int64) {
	s.first += lines
	f := s.frame(max(s.first-kept, 0))
	f.Full = false
	s.Feed.Receive(api.Output{Frame: f})
	s.Sync()
	plainRows(s.Terminal, 20, s.h)
}

func TestDragCopiesItsFirstLinesDuringFastOutput(t *testing.T) {
	tests := []struct {
		name          string
		frames, lines int64
	}{{"a log", 60, 1}, {"more than the scrollback keeps", 400, 30_000}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newOutputPane(10)
			s.printLines(5, 10_000)
			s.Pointer.Press(0, 2, 1)
			for range tt.frames {
				s.printLines(tt.lines, 10_000)
			}
			s.Pointer.Drag(9, 4, false)
			compareRows(t, plainRows(s.Terminal, 20, 10)[2:5], []string{"line 1007           ", "line 1008           ", "line 1009           "})
			for range tt.frames {
				s.printLines(tt.lines, 10_000)
			}
			s.Pointer.Drag(8, 4, false)
			in, ok := s.Pointer.Release()
			if text, held := s.Feed.Screen.HeldText(in); !ok || !held || text != "line 1007\nline 1008\nline 1009" {
				t.Errorf("copied %v, held %v: %q", ok, held, text)
			}
			if s.Scroll.Active() {
				t.Error("the live screen is not shown")
			}
		})
	}
}

func TestDoubleClickSelectsADroppedLine(t *testing.T) {
	s := newOutputPane(10)
	s.first += 50_000
	f := s.frame(s.first)
	f.Full = false
	s.Feed.Receive(api.Output{Frame: f})
	s.Pointer.Press(6, 3, 2)
	in, _ := s.Pointer.Release()
	if text, held := s.Feed.Screen.HeldText(in); text != "1003" || !held {
		t.Errorf("held %v: %q", held, text)
	}
}

func TestDragAboveTheTopStopsAtHeldLines(t *testing.T) {
	s := newOutputPane(10)
	s.Pointer.Press(0, 2, 1)
	for range 100 {
		s.printLines(30_000, 10_000)
	}
	for range 5 {
		s.Pointer.Drag(0, -1, false)
		s.printLines(30_000, 10_000)
	}
	if in, _ := s.Pointer.Release(); in.From.Line != 1000 || in.To.Line != 1002 {
		t.Errorf("selected %+v", in)
	}
}

func TestDragSurvivesRenumberingAfterThePress(t *testing.T) {
	s := newOutputPane(10)
	s.Pointer.Press(0, 2, 1)
	s.first = 40
	s.Feed.Receive(api.Output{Frame: s.frame(0)})
	s.Sync()
	plainRows(s.Terminal, 20, 10)
	s.Pointer.Drag(6, 3, false)
	in, _ := s.Pointer.Release()
	if text, held := s.Feed.Screen.HeldText(in); text != "line 42\nline 43" || !held {
		t.Errorf("held %v: %q", held, text)
	}
}

func TestLostLinesAreNotCopiedAsBlanks(t *testing.T) {
	s := newOutputPane(10)
	s.printLines(50_000, 10_000)
	between := func(from, to int64) api.SessionTextInput {
		return api.SessionTextInput{From: cellAt(from, 0), To: cellAt(to, 20)}
	}
	if gone := between(2000, 3000); !s.Feed.Screen.HasLost(gone) {
		t.Error("dropped lines do not count as lost")
	}
	if text, held := s.Feed.Screen.HeldText(between(1008, 1500)); !held || text != "line 1008\nline 1009\n" {
		t.Errorf("held %v: %q", held, text)
	}
	for _, kept := range []api.SessionTextInput{between(1008, 1500), between(2000, s.first), between(s.first, s.first+2)} {
		if s.Feed.Screen.HasLost(kept) {
			t.Errorf("%+v is lost", kept)
		}
	}
	if _, held := s.Feed.Screen.HeldText(between(2000, s.first)); held {
		t.Error("lines the session still has are not requested")
	}
}
