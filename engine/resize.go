package engine

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/vt"
	"tandem/persist/store"
)

// maxSide bounds both sides of a terminal.
const maxSide = 1000

// resize sets the size of terminal and screen.
func (s *session) resize(ctx context.Context, cols, rows int) error {
	if s.o.master == nil || s.isOver() {
		return api.Errorf(api.CodeEnded, "resize session: it has ended")
	}
	var resizeErr error
	err := s.onScreen(ctx, func(t terminal) {
		cols, rows := clampSide(cols), clampSide(rows)
		if c, r := t.Size(); s.isOver() || c == cols && r == rows {
			return
		}
		s.catchUp()
		s.setScreenSize(cols, rows)
		resizeErr = setPTYSize(s.o.master, cols, rows)
	})
	if err == nil && resizeErr != nil {
		return api.Errorf(api.CodeEnded, "resize session: %v", resizeErr)
	}
	return err
}

func (s *session) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

func clampSide(n int) int { return min(max(n, 1), maxSide) }

// setScreenSize gives the screen a size from the present offset on; a replay
// does the same. Runs on the screen goroutine.
func (s *session) setScreenSize(cols, rows int) {
	at := store.Resize{Offset: s.parsed.Load(), Cols: cols, Rows: rows}
	if err := s.o.journal.AppendResize(s.o.id, at); err != nil {
		s.o.log.Warn("write sizes", "id", s.o.id, "error", err)
	}
	s.viewers.keepPlaces(func(keep []*vt.Place) {
		s.guard("resize screen", func() { s.term.Resize(cols, rows, keep...) })
	})
	s.mu.Lock()
	s.known.cols, s.known.rows = cols, rows
	s.mu.Unlock()
	s.viewers.repaint()
	s.viewers.frameChanged()
	s.pace.touch()
}
