package ui

import tea "charm.land/bubbletea/v2"

func (msg savedMsg) take(m *model) tea.Cmd { return m.saved(msg) }

func (notifyDue) take(m *model) tea.Cmd {
	m.notices.due()
	return nil
}

func (msg toastOver) take(m *model) tea.Cmd { return m.notices.endToast(msg) }

func (msg paletteMsg) take(m *model) tea.Cmd { return msg.palette.take(m, msg) }

func (msg themeKept) take(m *model) tea.Cmd { return m.theme.wasKept(msg) }

func (msg settingsMsg) take(m *model) tea.Cmd { return m.takeSettings(msg) }
