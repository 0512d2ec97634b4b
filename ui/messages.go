package ui

import tea "charm.land/bubbletea/v2"

func (msg zoomedOut) take(m *model) tea.Cmd { return m.zoomedOut(msg) }

func (msg savedMsg) take(m *model) tea.Cmd { return m.saved(msg) }

func (msg formMsg) take(m *model) tea.Cmd { return m.formAnswered(msg) }

func (notifyDue) take(m *model) tea.Cmd {
	m.notifyDue()
	return nil
}

func (msg toastOver) take(m *model) tea.Cmd { return m.endToast(msg) }

func (msg paletteMsg) take(m *model) tea.Cmd { return m.takePalette(msg) }

func (msg themeKept) take(m *model) tea.Cmd { return m.keptTheme(msg) }

func (msg settingsMsg) take(m *model) tea.Cmd { return m.takeSettings(msg) }
