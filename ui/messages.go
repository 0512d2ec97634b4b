package ui

import tea "charm.land/bubbletea/v2"

func (msg startedMsg) take(m *model) tea.Cmd { return m.started(msg) }

func (msg endMsg) take(m *model) tea.Cmd { return m.end(string(msg)) }

func (msg zoomedOut) take(m *model) tea.Cmd { return m.zoomedOut(msg) }

func (msg savedMsg) take(m *model) tea.Cmd { return m.saved(msg) }

func (msg formMsg) take(m *model) tea.Cmd { return m.formAnswered(msg) }

func (msg keptMsg) take(m *model) tea.Cmd { return m.layoutKept(msg) }

func (msg layoutSavedMsg) take(m *model) tea.Cmd { return m.layoutSaved(msg) }

func (msg layoutsMsg) take(m *model) tea.Cmd { return m.takeLayouts(msg) }

func (deskDue) take(m *model) tea.Cmd {
	m.deskDue()
	return nil
}

func (msg toastOver) take(m *model) tea.Cmd { return m.endToast(msg) }

func (msg paletteMsg) take(m *model) tea.Cmd { return m.takePalette(msg) }

func (msg themeKept) take(m *model) tea.Cmd { return m.keptTheme(msg) }

func (msg settingsMsg) take(m *model) tea.Cmd { return m.takeSettings(msg) }

func (sizesDue) take(m *model) tea.Cmd {
	m.calm = false
	return nil
}

func (settled) take(m *model) tea.Cmd {
	m.settle()
	return nil
}
