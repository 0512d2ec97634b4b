package terminal

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes"
	"tandem/panes/kit/list"
)

// mouseState is the state of the mouse in a pane.
type mouseState struct {
	clicks    clickCounter
	selecting bool // the button is down and selects
	x, y      int  // position of the mouse
	block     bool
	dragTimer bool // a timer for scrolling runs
}

// dragInterval is the time between two lines scrolled while the mouse is dragged beyond the pane's
// edge.
const dragInterval = 40 * time.Millisecond

// Mouse handles a mouse event in the pane's cells, or outside of them during a drag. If the program
// does not take it, it selects or scrolls.
func (p *Pane) Mouse(e keys.Mouse) tea.Cmd {
	if p.mouse.selecting || !p.WantsMouse(e) && e.IsLeftDown() {
		return p.selectByMouse(e)
	}
	e.X, e.Y = min(max(e.X, 0), p.w-1), min(max(e.Y, 0), p.h-1)
	if p.Terminal.Mouse(e) && e.IsWheel() {
		p.changed = true
	}
	return nil
}

// Selecting reports whether the mouse is selecting.
func (p *Pane) Selecting() bool { return p.mouse.selecting }

// CancelDrag ends a drag whose release was lost.
func (p *Pane) CancelDrag() {
	if p.mouse.selecting {
		p.mouse.selecting = false
		p.Pointer.Release()
		p.ClearMarks()
		p.changed = true
	}
}

// ClearMarks removes the selection by mouse from the live screen.
func (p *Pane) ClearMarks() { p.changed = p.Scroll.ClearFlash() || p.changed }

// selectByMouse handles the left button if the program does not take it.
func (p *Pane) selectByMouse(e keys.Mouse) tea.Cmd {
	m := &p.mouse
	m.x, m.y, m.block = e.X, e.Y, e.Mods&keys.Alt != 0
	p.changed = true
	switch {
	case e.IsLeftDown():
		m.selecting = true
		p.Pointer.Press(e.X, e.Y, m.clicks.countClick(time.Now(), e.X, e.Y))
	case e.Kind == keys.MouseMove:
		return p.extendDrag()
	case e.Kind == keys.MouseUp:
		m.selecting = false
		in, ok := p.Pointer.Release()
		if !ok {
			return nil
		}
		return p.Copy(in)
	}
	return nil
}

// extendDrag extends the selection to the mouse. Beyond the edge it starts a timer to go on
// scrolling.
func (p *Pane) extendDrag() tea.Cmd {
	m := &p.mouse
	if !p.Pointer.Drag(m.x, m.y, m.block) || m.dragTimer {
		return nil
	}
	m.dragTimer = true
	return panes.After(dragInterval, p.continueDrag)
}

func (p *Pane) continueDrag() tea.Cmd {
	p.mouse.dragTimer = false
	if !p.mouse.selecting {
		return nil
	}
	return p.extendDrag()
}

// A clickCounter counts quick presses in one place.
type clickCounter struct {
	last time.Time
	x, y int
	n    int
}

// countClick counts a press; n is 1, 2 or 3.
func (c *clickCounter) countClick(now time.Time, x, y int) (n int) {
	if now.Sub(c.last) > list.DoubleClick || x != c.x || y != c.y {
		c.n = 0
	}
	c.last, c.x, c.y = now, x, y
	c.n = c.n%3 + 1
	return c.n
}
