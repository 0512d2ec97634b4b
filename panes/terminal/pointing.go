package terminal

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes"
	"tandem/panes/kit/list"
)

// A drag selects text with the left button of the mouse.
type drag struct {
	pointer *Pointer
	copy    func(api.SessionTextInput) tea.Cmd

	clicks clickCounter
	active bool // the button is down and selects
	x, y   int  // position of the mouse
	block  bool
	timer  bool // a timer for scrolling runs
}

// dragInterval is the time between two lines scrolled while the mouse is dragged beyond the pane's
// edge.
const dragInterval = 40 * time.Millisecond

// handleMouse handles the left button, and moves of the mouse while the button is down.
func (d *drag) handleMouse(e keys.Mouse) tea.Cmd {
	d.x, d.y, d.block = e.X, e.Y, e.Mods&keys.Alt != 0
	switch {
	case e.IsLeftDown():
		d.active = true
		d.pointer.Press(e.X, e.Y, d.clicks.countClick(time.Now(), e.X, e.Y))
	case e.Kind == keys.MouseMove:
		return d.extend()
	case e.Kind == keys.MouseUp:
		d.active = false
		in, ok := d.pointer.Release()
		if !ok {
			return nil
		}
		return d.copy(in)
	}
	return nil
}

// extend extends the selection to the position of the mouse. If the mouse is beyond the pane's
// edge, a timer continues scrolling.
func (d *drag) extend() tea.Cmd {
	if !d.pointer.Drag(d.x, d.y, d.block) || d.timer {
		return nil
	}
	d.timer = true
	return panes.After(dragInterval, func() tea.Cmd {
		d.timer = false
		if !d.active {
			return nil
		}
		return d.extend()
	})
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
