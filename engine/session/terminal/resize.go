package terminal

import (
	"context"
	"image"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/engine/system/pty"
	"tandem/persist/store"
)

// A resizer is a terminal whose size and colours can be set to those of a display.
type resizer interface {
	Size() (cols, rows int)
	Resize(cols, rows int, keep ...*vt.Position)
	SetColors(colors styled.Palette)
	SetCell(pixels image.Point)
}

// MaxSide bounds both sides of a terminal.
const MaxSide = 1000

// Resize sets the size of the PTY and the screen.
func (s *Session) Resize(ctx context.Context, cols, rows int) error {
	return s.fitViewer(ctx, api.Size{Cols: cols, Rows: rows}, nil)
}

// fitViewer applies the size of a viewer to the PTY and the screen, and its display if that is not
// nil.
func (s *Session) fitViewer(ctx context.Context, size api.Size, display *api.Display) error {
	if s.options.Master == nil || s.isOver() {
		return api.Errorf(api.CodeEnded, "resize session: it has exited")
	}
	var resizeErr error
	err := s.onScreen(ctx, func(Emulator) {
		before := s.screen.shape()
		now := shape{ClampSide(size.Cols), ClampSide(size.Rows), before.display}
		if display != nil {
			now.display = *display
		}
		if s.isOver() || now == before {
			return
		}
		s.screen.catchUp()
		resizeErr = s.screen.setShape(now)
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

// redrawPause is how long the terminal has another size, so that the program notices.
const redrawPause = 200 * time.Millisecond

// requestRedraw makes the program draw its screen: most do when the size of their terminal changes.
// The screen keeps its size meanwhile. The lock must not be held.
func (s *screen) requestRedraw() {
	s.use(func() { s.shrunk = true; s.setPTYSize(-1) })
	_ = sleep.For(s.ctx, redrawPause)
	s.use(s.endRedraw)
}

// endRedraw gives the terminal its size again. Otherwise the next engine would adopt the other one.
func (s *screen) endRedraw() {
	if s.shrunk {
		s.shrunk = false
		s.setPTYSize(0)
	}
}

// setPTYSize sets the size of the PTY to that of the screen with more rows.
func (s *screen) setPTYSize(more int) {
	now := s.shape()
	_ = pty.SetSize(s.o.Master, now.cols, max(now.rows+more, 1), now.cell()) // fails if the program has exited
}

// A shape is the size and display of a terminal. A viewer decides it.
type shape struct {
	cols, rows int
	display    api.Display
}

// cell returns the size of a cell in pixels. If it is unknown, it returns a typical size.
func (f shape) cell() image.Point {
	if f.display.CellWidth == 0 || f.display.CellHeight == 0 {
		return image.Pt(vt.CellWidth, vt.CellHeight)
	}
	return image.Pt(f.display.CellWidth, f.display.CellHeight)
}

// cell returns the current size of a cell in pixels.
func (s *screen) cell() image.Point { return shape{display: *s.display.Load()}.cell() }

func (s *screen) shape() shape {
	cols, rows := s.term.Size()
	return shape{cols, rows, *s.display.Load()}
}

// setShape applies a shape to the PTY and the screen. It takes effect at the current offset in the
// log.
func (s *screen) setShape(now shape) error {
	before := s.shape()
	s.display.Store(&now.display)
	s.runGuarded("set colours", func() { s.term.SetColors(now.display.Colors) })
	if now.cols == before.cols && now.rows == before.rows && now.cell() == before.cell() {
		return nil
	}
	s.setSize(now.cols, now.rows)
	if s.o.Master == nil {
		return nil
	}
	return pty.SetSize(s.o.Master, now.cols, now.rows, now.cell())
}

// setSize applies a size, and the cell size of the display, to the screen. It takes effect at the
// current offset in the log. A replay uses it too.
func (s *screen) setSize(cols, rows int) {
	display := s.display.Load()
	at := store.Resize{Offset: s.shown.Load(), Cols: cols, Rows: rows, CellWidth: display.CellWidth, CellHeight: display.CellHeight}
	if err := s.o.Journal.AppendResize(s.o.ID, at); err != nil {
		s.o.Log.Warn("write sizes", "id", s.o.ID, "error", err)
	}
	s.viewers.keepPlaces(func(keep []*vt.Position) {
		s.runGuarded("resize screen", func() {
			s.term.SetCell(s.cell())
			s.term.Resize(cols, rows, keep...)
		})
	})
	s.facts.setSize(cols, rows)
	s.viewers.repaint()
	s.viewers.frameChanged()
}
