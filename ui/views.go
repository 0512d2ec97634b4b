package ui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/ui/screen"
)

// listViews returns the pane of each view.
func (m *model) listViews() map[keymap.Action]panes.Pane {
	return map[keymap.Action]panes.Pane{
		keymap.ViewSessions:  m.sessions,
		keymap.ViewProcesses: m.processes,
		keymap.ViewHistory:   m.history,
		keymap.ViewFiles:     m.files,
	}
}

// A view is a view of the dashboard, with its label in the top bar.
type view struct {
	keymap.View
	label string
	pane  panes.Pane
}

// views are the views of the dashboard, of which one is on the screen.
type views struct {
	all   []view // in the order of their numbers
	shown int
}

func newViews(all map[keymap.Action]panes.Pane) (v views) {
	for i, kind := range keymap.Views() {
		v.all = append(v.all, view{kind, fmt.Sprintf(" %d %s ", i+1, kind.Name), all[kind.Action]})
	}
	return v
}

// pane returns the view on the screen.
func (v *views) pane() panes.Pane { return v.all[v.shown].pane }

// action returns the action that shows the view on the screen.
func (v *views) action() keymap.Action { return v.all[v.shown].Action }

// show shows a view in place of the current one.
func (v *views) show(a keymap.Action) {
	if a != v.action() {
		v.pane().Hide()
	}
	v.shown = slices.IndexFunc(v.all, func(other view) bool { return other.Action == a })
	v.pane().Show()
}

// switchView shows a view in place of the current one.
func (m *model) switchView(a keymap.Action) {
	m.views.show(a)
	if m.sessions.Display.IsZoomed() {
		m.relayout()
	}
}

// showProcess shows a process and its log.
func (m *model) showProcess(id string) tea.Cmd {
	cmd := m.setView(keymap.ViewProcesses)
	return tea.Batch(cmd, m.processes.SelectLog(id))
}

func (m *model) showFolder(path string) tea.Cmd {
	cmd := m.setView(keymap.ViewFiles)
	m.files.GoFolder(path, "")
	return cmd
}

func (m *model) showEngineLog() tea.Cmd {
	cmd := m.setView(keymap.ViewFiles)
	m.files.ShowEngineLog()
	return cmd
}

// notifyViews passes news of the engine to every view.
func (m *model) notifyViews(before *panes.News) {
	for _, v := range m.views.all {
		v.pane.HandleNews(before)
	}
	m.frame.redraw()
}

// fetchViews lets every view request missing data.
func (m *model) fetchViews() tea.Cmd {
	var cmds []tea.Cmd
	for _, v := range m.views.all {
		cmds = append(cmds, v.pane.Fetch())
	}
	return tea.Batch(cmds...)
}

// findAction returns the handler of an action: of the active view, the dashboard, or the
// focused pane. It returns nil if there is none.
func (in *input) findAction(a keymap.Action) func() tea.Cmd {
	for _, actions := range []panes.Actions{in.m.views.pane().Actions(), in.actions} {
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
