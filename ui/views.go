package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/ui/screen"
)

// views are the views by their number.
func (m *model) views() [viewCount]panes.Pane {
	return [viewCount]panes.Pane{viewSessions: m.sessions, viewProcesses: m.processes, viewHistory: m.history, viewFiles: m.files}
}

// pane is the view that is shown.
func (m *model) pane() panes.Pane { return m.views()[m.view] }

// switchTo shows a view, in place of another one.
func (m *model) switchTo(v viewKind) {
	if v != m.view {
		m.pane().Hide()
	}
	m.view = v
	m.pane().Show()
	if m.sessions.zoomed {
		m.relayout()
	}
}

// tellPanes tells every pane that there are news of the engine.
func (m *model) tellPanes(before *panes.News) {
	for _, p := range m.views() {
		p.HandleNews(before)
	}
	m.dirty = true
}

// fetch lets every pane ask for what it needs now.
func (m *model) fetch() tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.views() {
		cmds = append(cmds, p.Fetch())
	}
	return tea.Batch(cmds...)
}

// action is what an action does where the keyboard is; nil if it does nothing.
func (in *input) action(a keymap.Action) func() tea.Cmd {
	for _, actions := range []panes.Actions{in.m.pane().Actions(), in.actions} {
		if act := actions[a]; act != nil {
			return act
		}
	}
	return in.m.sessions.Action(a)
}

// typeIn gives a key to the pane that is shown.
func (in *input) typeIn(p panes.Pane, k keys.Key) tea.Cmd {
	press, ok := screen.Press(k)
	if !ok {
		return nil
	}
	in.m.dirty = true
	return p.Type(press)
}

// touch notes that something is given to a pane.
func (in *input) touch(p panes.Pane) {
	if _, ok := p.(panes.Redrawer); !ok {
		in.m.dirty = true
	}
}

// mouseIn gives an event of the mouse to a pane, in its own cells.
func (in *input) mouseIn(p panes.Pane, e keys.Mouse) tea.Cmd {
	in.touch(p)
	e.X, e.Y = e.X-in.m.areas.body.X, e.Y-in.m.areas.body.Y
	return p.Mouse(e)
}

// cursorIn is the cursor of a pane, on the screen.
func (m *model) cursorIn(p panes.Pane) *tea.Cursor {
	c := p.Cursor()
	if c == nil || m.areas.small && !m.areas.tight {
		return nil
	}
	c.X, c.Y = c.X+m.areas.body.X, c.Y+m.areas.body.Y
	return c
}
