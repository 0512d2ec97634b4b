package ui

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/text"
	"tandem/persist/config/settings"
)

// Settings are the options that may change while the dashboard runs.
type Settings struct {
	settings.Dashboard
	Bindings     keymap.Bindings // default keymap.DefaultBindings
	PrefixChosen bool            // the user chose the prefix key

	// Fault is the error in the settings, on one line. If it is set, all other fields are ignored,
	// except at startup.
	Fault string
}

// settingsMsg carries changed settings.
type settingsMsg Settings

// applySettings applies changed settings at once. Invalid ones change nothing, and the
// status bar shows the mistake until it is corrected.
func (m *model) applySettings(next Settings) tea.Cmd {
	if next.Fault != "" {
		m.o.Fault = next.Fault
		return m.notices.toast.Say(text.Clean(next.Fault)+"; the previous settings stay in effect", true)
	}
	if len(next.Bindings.PrefixKeys()) == 0 {
		next.Bindings = keymap.DefaultBindings()
	}
	own := m.theme.acceptSetting(next.Theme)
	m.keyboard.rebind(next.Bindings)
	offers := m.o.Restore
	m.o.Settings = next
	m.theme.rebuildLook()
	m.relayout()
	var cmd tea.Cmd
	if offers != next.Restore {
		cmd = m.applyNews(m.link.Latest())
	}
	if own {
		return cmd
	}
	return tea.Batch(cmd, m.notices.toast.Say("config reloaded", false))
}

// acceptSetting takes over the theme of changed settings. own reports whether this dashboard wrote
// the setting itself. The theme is then in use already, or the user has chosen another one since.
func (t *themeState) acceptSetting(name string) (own bool) {
	if at := slices.Index(t.saving, name); at >= 0 {
		t.saving = t.saving[at+1:]
		if t.picked == name {
			t.picked = ""
		}
		return true
	}
	t.picked = ""
	return false
}

// faultNote returns the mistake in config.toml or policy.toml, if there is one.
func (m *model) faultNote() string {
	return text.Clean(cmp.Or(m.o.Fault, m.news.Policy))
}
