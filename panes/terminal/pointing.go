package terminal

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes/widget"
)

// pointing is what the mouse does in a pane.
type pointing struct {
	clicks   clicks
	selects  bool // it holds an end of what it selects
	x, y     int  // where it is then
	block    bool
	dragging bool // a timer runs that scrolls
}

// dragEvery is how often a pane scrolls by a line while the mouse drags beyond
// its edge.
const dragEvery = 40 * time.Millisecond

// dragDue says that the mouse may still be beyond the edge of a pane.
type dragDue struct{ pane *Pane }

func (msg dragDue) For() *Pane { return msg.pane }

// Mouse handles a mouse event in the pane's cells, or outside of them while a
// button is held that was pressed inside. What the program does not take
// selects and scrolls.
func (p *Pane) Mouse(e keys.Mouse) tea.Cmd {
	if p.mouse.selects || !p.WantsMouse(e) && widget.LeftDown(e) {
		return p.selectByMouse(e)
	}
	e.X, e.Y = min(max(e.X, 0), p.w-1), min(max(e.Y, 0), p.h-1)
	if p.Terminal.Mouse(e) && widget.IsWheel(e) {
		p.changed = true
	}
	return nil
}

// Selecting reports whether the mouse holds what it selects.
func (p *Pane) Selecting() bool { return p.mouse.selects }

// LetGo ends a drag of which the end has not been told.
func (p *Pane) LetGo() {
	if p.mouse.selects {
		p.mouse.selects = false
		p.Pointer.Release()
		p.Unmark()
		p.changed = true
	}
}

// Unmark takes the marks away that the mouse left on the live screen.
func (p *Pane) Unmark() { p.changed = p.Scroll.Unflash() || p.changed }

// selectByMouse handles the left button in a pane whose program does not take
// the mouse.
func (p *Pane) selectByMouse(e keys.Mouse) tea.Cmd {
	m := &p.mouse
	m.x, m.y, m.block = e.X, e.Y, e.Mods&keys.Alt != 0
	p.changed = true
	switch {
	case widget.LeftDown(e):
		m.selects = true
		p.Pointer.Press(e.X, e.Y, m.clicks.press(time.Now(), e.X, e.Y))
	case e.Kind == keys.MouseMove:
		return p.dragTo()
	case e.Kind == keys.MouseUp:
		m.selects = false
		in, ok := p.Pointer.Release()
		if !ok {
			return nil
		}
		return p.Copy(in)
	}
	return nil
}

// dragTo takes the selection to where the mouse is; beyond the edge a timer
// goes on with that.
func (p *Pane) dragTo() tea.Cmd {
	m := &p.mouse
	if !p.Pointer.Drag(m.x, m.y, m.block) || m.dragging {
		return nil
	}
	m.dragging = true
	return tea.Tick(dragEvery, func(time.Time) tea.Msg { return dragDue{p} })
}

func (p *Pane) dragOn() tea.Cmd {
	p.mouse.dragging = false
	if !p.mouse.selects {
		return nil
	}
	return p.dragTo()
}

// clicks counts presses that follow each other quickly in one place.
type clicks struct {
	last time.Time
	x, y int
	n    int
}

// press counts one more; n is 1, 2 or 3.
func (c *clicks) press(now time.Time, x, y int) (n int) {
	if now.Sub(c.last) > widget.DoubleClick || x != c.x || y != c.y {
		c.n = 0
	}
	c.last, c.x, c.y = now, x, y
	c.n = c.n%3 + 1
	return c.n
}
