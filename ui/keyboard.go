package ui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/panes"
)

// toggleKeyboard takes the session's keyboard away from agents, or gives it back.
func (m *model) toggleKeyboard() tea.Cmd {
	p, ok := m.target()
	if !ok || p.Terminal == nil || p.State.Ended() {
		return nil
	}
	take := p.Terminal.Keyboard == ""
	return m.call(func(ctx context.Context, e engine) tea.Msg {
		_, err := e.Keyboard(ctx, p.ID, take)
		return doneMsg{err}
	}, func(err error) tea.Msg { return doneMsg{err} })
}

// keyboardNote says whose the session's keyboard is, and that an agent typed
// last.
func (m *model) keyboardNote() string {
	p, ok := m.target()
	if !ok || p.Terminal == nil || p.State.Ended() {
		return ""
	}
	var parts []string
	if name, agent := strings.CutPrefix(p.Terminal.Typist, "agent:"); agent {
		name, _, _ = strings.Cut(name, "/")
		parts = append(parts, "agent "+panes.Clean(name)+" typed last")
	}
	if p.Terminal.Keyboard != "" {
		parts = append(parts, "keyboard: yours")
	}
	return strings.Join(parts, " · ")
}
