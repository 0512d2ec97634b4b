package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/outputs"
	"tandem/panes/processes"
	"tandem/panes/sessions"
)

// A lineViewer shows lines that the search of all output has found.
type lineViewer struct {
	env       panes.Env
	sessions  *sessions.View
	processes *processes.Pane
	setView   func(keymap.Action)
}

// showLine shows a line in the scrollback of its session or, if it is not there, in its log.
func (v *lineViewer) showLine(l outputs.Line) tea.Cmd {
	cmd := v.env.ShowSession(l.ID)
	p := v.sessions.FocusedPane()
	if p == nil || p.ID != l.ID {
		return tea.Batch(cmd, v.showLog(l))
	}
	return tea.Batch(cmd, p.ShowLine(l.Text, l.Nth, l.Pattern, func() tea.Cmd { return v.showLog(l) }))
}

func (v *lineViewer) showLog(l outputs.Line) tea.Cmd {
	v.setView(keymap.ViewProcesses)
	return v.processes.ShowLine(l.ID, l.Stream, l.Offset, l.Pattern)
}
