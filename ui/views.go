package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/ui/screen"
)

// pane is the view that is shown.
func (m *model) pane() panes.Pane { return m.views[m.view] }

// switchTo shows a view, in the place of another one.
func (m *model) switchTo(v viewKind) {
	before := m.pane()
	if before != nil && v != m.view {
		before.Hide()
		m.held = nil
	}
	m.view = v
	if p := m.pane(); p != nil {
		p.Show()
	}
}

// tellPanes tells every pane that there are news of the engine.
func (m *model) tellPanes(before *panes.News) {
	for _, p := range m.views {
		if p != nil {
			p.News(before)
		}
	}
	m.dirty = true
}

// fetch lets every pane ask for what it needs now.
func (m *model) fetch() tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.views {
		if p != nil {
			cmds = append(cmds, p.Fetch())
		}
	}
	if p := m.focused(); p != nil {
		cmds = append(cmds, p.Fetch())
	}
	return tea.Batch(cmds...)
}

// action is what an action does where the keyboard is; nil if it does nothing.
func (m *model) action(a keymap.Action) func() tea.Cmd {
	if p := m.pane(); p != nil {
		if act := p.Actions()[a]; act != nil {
			return act
		}
	}
	if p := m.focused(); p != nil {
		if act := p.Actions()[a]; act != nil {
			return act
		}
	}
	if act := m.actions[a]; act != nil {
		return func() tea.Cmd { return act(m) }
	}
	return nil
}

// typeIn gives a key to the pane that is shown.
func (m *model) typeIn(p panes.Pane, k keys.Key) tea.Cmd {
	press, ok := screen.Press(k)
	if !ok {
		return nil
	}
	m.dirty = true
	return p.Type(press)
}

// mouseIn gives an event of the mouse to a pane, in its own cells.
func (m *model) mouseIn(p panes.Pane, e keys.Mouse) tea.Cmd {
	m.dirty = true
	e.X, e.Y = e.X-m.layout.body.X, e.Y-m.layout.body.Y
	return p.Mouse(e)
}

// cursorIn is the cursor of a pane, on the screen.
func (m *model) cursorIn(p panes.Pane) *tea.Cursor {
	c := p.Cursor()
	if c == nil || m.layout.tooSmall() {
		return nil
	}
	c.X, c.Y = c.X+m.layout.body.X, c.Y+m.layout.body.Y
	return c
}
