package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/panes/terminal"
)

// A visit is a session for which the user left another view, such as an editor.
type visit struct {
	pane *terminal.Pane
	from viewKind
	then func() tea.Cmd // called after the session is closed; may be nil
}

// visitSession starts a command in a session, and records the current view to return to.
func (m *model) visitSession(command []string, folder string, then func() tea.Cmd) tea.Cmd {
	before, from := m.sessions.currentPane(), m.view
	cmd := m.sessions.launcher.startCommand(nil, command, folder)
	if now := m.sessions.currentPane(); m.sessions.shown && now != nil && now != before {
		m.visit = &visit{now, from, then}
	}
	return cmd
}

// endVisit returns to the recorded view once the session's pane is closed.
func (m *model) endVisit() tea.Cmd {
	v := m.visit
	if v == nil {
		return nil
	}
	if g, _ := m.sessions.tabs.FindPane(v.pane); g != nil {
		return nil
	}
	m.visit = nil
	var cmds []tea.Cmd
	if m.sessions.shown {
		cmds = append(cmds, m.setView(v.from))
	}
	if v.then != nil {
		cmds = append(cmds, v.then())
	}
	return tea.Batch(cmds...)
}
