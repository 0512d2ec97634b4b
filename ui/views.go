package ui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/outputs"
	"tandem/panes/web"
)

// A view fills the dashboard below the top bar, where its label is shown.
type view struct {
	keymap.View
	label string
	pane  panes.Pane
}

// views are the views of the dashboard, of which one is on the screen.
type views struct {
	all    []view // in the order of their numbers
	shown  int
	change func(func() tea.Cmd) tea.Cmd // see overlay
}

// listViews returns all views, with the first one on the screen.
func (m *model) listViews() (v views) {
	all := map[keymap.Action]panes.Pane{
		keymap.ViewSessions:  m.sessions,
		keymap.ViewProcesses: m.processes,
		keymap.ViewHistory:   m.history,
		keymap.ViewFiles:     m.files,
	}
	v.change = m.dialog.Change
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
	v.change(panes.ActionOf(func() {
		if a != v.action() {
			v.pane().Hide()
		}
		v.shown = slices.IndexFunc(v.all, func(other view) bool { return other.Action == a })
		v.pane().Show()
	}))
}

// showProcess shows a process and its log.
func (m *model) showProcess(id string) tea.Cmd {
	m.setView(keymap.ViewProcesses)
	return m.processes.SelectLog(id)
}

func (m *model) showFolder(path string) tea.Cmd {
	m.setView(keymap.ViewFiles)
	m.files.GoFolder(path, "")
	return nil
}

func (m *model) showEngineLog() tea.Cmd {
	m.setView(keymap.ViewFiles)
	m.files.ShowEngineLog()
	return nil
}

// setView shows a view in place of the current one.
func (m *model) setView(a keymap.Action) {
	// A toast about the previous view would hide the key hints of the new one.
	if a != m.views.action() && !m.notices.toast.news {
		m.notices.toast.ClearMessage()
	}
	m.views.show(a)
	m.relayout()
}

// detach closes the dashboard; sessions and processes keep running.
func (m *model) detach() tea.Cmd {
	m.input.detached = true
	return tea.Quit
}

// listActions returns the dashboard's own actions; each view adds its own.
func (m *model) listActions() panes.Actions {
	lines := &lineViewer{m.env, m.sessions, m.processes, m.setView}
	all := panes.Actions{
		keymap.ProcessNew:     m.form.showStart,
		keymap.SessionNewTree: m.form.showTree,
		keymap.HistoryInsert:  m.history.OpenRecall,
		keymap.OutputSearch:   outputs.New(outputs.Options{Env: m.env, ShowLine: lines.showLine, ShowLog: lines.showLog}).Show,
		keymap.PasteBuffer:    m.clip.pasteLast,

		keymap.QuestionOpen: func() tea.Cmd {
			m.notices.toast.ClearMessage() // it may announce this question
			return m.dialog.openWaiting()
		},

		keymap.Requests: func() tea.Cmd { return m.env.ShowRequest("") },
		keymap.Machines: m.machines.Show,
		keymap.Browser:  func() tea.Cmd { return web.ShowLink(m.env) },
		keymap.Help:     m.showHelp,
		keymap.Palette:  m.showPalette,

		keymap.ThemePick: m.theme.showPicker,
		keymap.TipsHide:  m.tips.hide,

		keymap.Detach: m.detach,
		keymap.Quit:   m.detach,
	}
	for _, v := range m.views.all {
		all[v.Action] = panes.ActionOf(func() { m.setView(v.Action) })
	}
	return all
}

// fetchViews lets every view request missing data.
func (m *model) fetchViews() tea.Cmd {
	var cmds []tea.Cmd
	for _, v := range m.views.all {
		cmds = append(cmds, v.pane.Fetch())
	}
	if open, ok := m.dialog.open.(*outputs.Search); ok {
		cmds = append(cmds, open.Fetch())
	}
	return tea.Batch(cmds...)
}

// screenCursor returns a view's cursor in screen coordinates.
func (m *model) screenCursor(p panes.Pane) *tea.Cursor {
	c := p.Cursor()
	if c == nil || m.areas.mode == modeTooSmall {
		return nil
	}
	c.X, c.Y = c.X+m.areas.body.X, c.Y+m.areas.body.Y
	return c
}
