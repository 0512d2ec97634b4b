package terminal

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/pty"
	"tandem/engine/vt"
	"tandem/persist/store"
)

// MaxSide bounds both sides of a terminal.
const MaxSide = 1000

// Resize sets the size of terminal and screen.
func (s *Session) Resize(ctx context.Context, cols, rows int) error {
	if s.options.Master == nil || s.isOver() {
		return api.Errorf(api.CodeEnded, "resize session: it has ended")
	}
	var resizeErr error
	err := s.onScreen(ctx, func(t Emulator) {
		cols, rows := ClampSide(cols), ClampSide(rows)
		if c, r := t.Size(); s.isOver() || c == cols && r == rows {
			return
		}
		s.screen.catchUp()
		s.screen.setSize(cols, rows)
		resizeErr = pty.SetSize(s.options.Master, cols, rows)
	})
	if err == nil && resizeErr != nil {
		return api.Errorf(api.CodeEnded, "resize session: %v", resizeErr)
	}
	return err
}

func (s *Session) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

func ClampSide(n int) int { return min(max(n, 1), MaxSide) }

// setSize gives the screen a size from the present offset on; a replay
// does the same.
func (s *screen) setSize(cols, rows int) {
	at := store.Resize{Offset: s.shown.Load(), Cols: cols, Rows: rows}
	if err := s.o.Journal.AppendResize(s.o.ID, at); err != nil {
		s.o.Log.Warn("write sizes", "id", s.o.ID, "error", err)
	}
	s.viewers.keepPlaces(func(keep []*vt.Place) {
		s.guard("resize screen", func() { s.term.Resize(cols, rows, keep...) })
	})
	s.facts.setSize(cols, rows)
	s.viewers.repaint()
	s.viewers.frameChanged()
}
