package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes/terminal"
	"tandem/panes/widget"
)

// dragEvery is how often a pane scrolls by a line while the mouse drags beyond
// its edge.
const dragEvery = 40 * time.Millisecond

// dragDue says that the mouse may still be beyond the edge.
type dragDue struct{}

// selectByMouse handles the left button in a pane whose program does not take
// the mouse.
func (m *model) selectByMouse(p *terminal.Terminal, e keys.Mouse) tea.Cmd {
	c := &m.copying
	c.x, c.y, c.block = e.X, e.Y, e.Mods&keys.Alt != 0
	m.dirty = true
	switch {
	case widget.LeftDown(e):
		m.unflash()
		c.selects = p
		p.Press(e.X, e.Y, c.clicks.press(time.Now(), e.X, e.Y))
	case e.Kind == keys.MouseMove:
		return m.dragTo(p)
	case e.Kind == keys.MouseUp:
		c.selects = nil
		in, ok := p.Release()
		if !ok {
			return nil
		}
		if !p.Scrolling() {
			c.flashed = p
		}
		return m.copyText(p, in)
	}
	return nil
}

// dragTo takes the selection to where the mouse is; beyond the edge a timer
// goes on with that.
func (m *model) dragTo(p *terminal.Terminal) tea.Cmd {
	c := &m.copying
	if !p.Drag(c.x, c.y, c.block) || c.dragging {
		return nil
	}
	c.dragging = true
	return tea.Tick(dragEvery, func(time.Time) tea.Msg { return dragDue{} })
}

func (m *model) dragOn() tea.Cmd {
	c := &m.copying
	c.dragging = false
	if c.selects == nil {
		return nil
	}
	m.dirty = true
	return m.dragTo(c.selects)
}
