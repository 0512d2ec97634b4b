package ui

import tea "charm.land/bubbletea/v2"

// zoom lets the focused pane fill the screen, or go back to its place.
func (m *model) zoom() tea.Cmd {
	if m.view != viewSessions || m.current == nil {
		return nil
	}
	m.listFocused = false
	m.zoomed = !m.zoomed
	m.relayout()
	m.refreshList()
	return nil
}
