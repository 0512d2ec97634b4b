package ui

import tea "charm.land/bubbletea/v2"

func (msg savedMsg) applyTo(m *model) tea.Cmd { return m.reportSaved(msg) }

func (notifyDue) applyTo(m *model) tea.Cmd {
	m.notices.endGap()
	return nil
}

func (msg toastExpired) applyTo(m *model) tea.Cmd { return m.notices.expireToast(msg) }

func (msg paletteMsg) applyTo(m *model) tea.Cmd { return msg.palette.applyAnswer(m, msg) }

func (msg themeSaved) applyTo(m *model) tea.Cmd { return m.theme.reportSaved(msg) }

func (msg settingsMsg) applyTo(m *model) tea.Cmd { return m.applySettings(msg) }
