package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/ui/screen"
)

// allViews returns the views, indexed by viewKind.
func (m *model) allViews() [viewCount]panes.Pane {
	return [viewCount]panes.Pane{viewSessions: m.sessions, viewProcesses: m.processes, viewHistory: m.history, viewFiles: m.files}
}

// activeView returns the view on the screen.
func (m *model) activeView() panes.Pane { return m.allViews()[m.view] }

// switchView shows a view in place of the current one.
func (m *model) switchView(v viewKind) {
	if v != m.view {
		m.activeView().Hide()
	}
	m.view = v
	m.activeView().Show()
	if m.sessions.IsZoomed() {
		m.relayout()
	}
}

// showProcess shows a process and its log.
func (m *model) showProcess(id string) tea.Cmd {
	cmd := m.setView(viewProcesses)
	return tea.Batch(cmd, m.processes.SelectLog(id))
}

func (m *model) showFolder(path string) tea.Cmd {
	cmd := m.setView(viewFiles)
	m.files.GoFolder(path, "")
	return cmd
}

func (m *model) showEngineLog() tea.Cmd {
	cmd := m.setView(viewFiles)
	m.files.ShowEngineLog()
	return cmd
}

// notifyViews passes news of the engine to every view.
func (m *model) notifyViews(before *panes.News) {
	for _, p := range m.allViews() {
		p.HandleNews(before)
	}
	m.frame.redraw()
}

// fetchViews lets every view request missing data.
func (m *model) fetchViews() tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.allViews() {
		cmds = append(cmds, p.Fetch())
	}
	return tea.Batch(cmds...)
}

// findAction returns the handler of an action: of the active view, the dashboard, or the
// focused pane. It returns nil if there is none.
func (in *input) findAction(a keymap.Action) func() tea.Cmd {
	for _, actions := range []panes.Actions{in.m.activeView().Actions(), in.actions} {
		if act := actions[a]; act != nil {
			return act
		}
	}
	return in.m.sessions.Action(a)
}

// typeInto passes a key to a view.
func (in *input) typeInto(p panes.Pane, k keys.Key) tea.Cmd {
	press, ok := screen.Press(k)
	if !ok {
		return nil
	}
	in.m.frame.redraw()
	return p.Type(press)
}

// markDirty schedules a redraw after input to a view, unless the view tracks changes
// itself.
func (in *input) markDirty(p panes.Pane) {
	if _, ok := p.(panes.Redrawer); !ok {
		in.m.frame.redraw()
	}
}

// sendMouse passes a mouse event to a view, in the view's cells.
func (in *input) sendMouse(p panes.Pane, e keys.Mouse) tea.Cmd {
	in.markDirty(p)
	e.X, e.Y = e.X-in.m.areas.body.X, e.Y-in.m.areas.body.Y
	return p.Mouse(e)
}

// screenCursor returns a view's cursor in screen coordinates.
func (m *model) screenCursor(p panes.Pane) *tea.Cursor {
	c := p.Cursor()
	if c == nil || m.areas.small && !m.areas.tight {
		return nil
	}
	c.X, c.Y = c.X+m.areas.body.X, c.Y+m.areas.body.Y
	return c
}
