package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
)

func (m *model) showHelp() tea.Cmd {
	scopes := m.input.activeScopes()
	under := m.dialog.open
	if p := m.sessions.focusedPane(); p != nil && !p.Scroll.Active() && under == nil {
		scopes = append([]keymap.Scope{keymap.ScopePrefix}, scopes...)
	}
	sections := m.o.Bindings.Help(scopes...)
	if !m.showsTips() {
		for i := range sections {
			sections[i].Rows = slices.DeleteFunc(sections[i].Rows, func(r keymap.HelpRow) bool { return r.Action == keymap.TipsHide })
		}
	}
	m.dialog.open = &dialog.Help{Sections: sections, Prefix: m.o.Bindings.PrefixKeys()[0].Show(), Closed: func() { m.dialog.open = under }}
	return nil
}

// runAnswer runs the handler of an overlay's answer, unless another overlay is open by
// now.
func (d *openDialog) runAnswer(a dialog.Answer) tea.Cmd {
	if d.open != a.Of {
		return nil
	}
	return a.Do()
}
