package ui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/widget"
)

// toggleKeyboard takes the session's keyboard away from agents, or gives it back.
func (m *model) toggleKeyboard() tea.Cmd {
	return m.setKeyboard(func(t *api.Terminal) api.SessionKeyboardInput {
		return api.SessionKeyboardInput{Take: t.Keyboard == ""}
	})
}

// toggleOpen lets agents type into a session outside the sandbox that they are
// held to, or stops that.
func (m *model) toggleOpen() tea.Cmd {
	return m.setKeyboard(func(t *api.Terminal) api.SessionKeyboardInput {
		return api.SessionKeyboardInput{Open: !t.Open}
	})
}

// setKeyboard says who may type into the session that is meant.
func (m *model) setKeyboard(next func(t *api.Terminal) api.SessionKeyboardInput) tea.Cmd {
	p, ok := m.target()
	if !ok || p.Terminal == nil || p.State.Ended() {
		return nil
	}
	in := next(p.Terminal)
	in.ID = p.ID
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		_, err := e.Keyboard(ctx, in)
		return panes.DoneMsg{Err: err}
	}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} })
}

// keyboardNote says who may type into the session, and that an agent typed last.
func (m *model) keyboardNote() string {
	p, ok := m.target()
	if !ok || p.Terminal == nil || p.State.Ended() {
		return ""
	}
	var parts []string
	if name, agent := strings.CutPrefix(p.Terminal.Typist, "agent:"); agent {
		name, _, _ = strings.Cut(name, "/")
		parts = append(parts, "agent "+widget.Clean(name)+" typed last")
	}
	if p.Terminal.Keyboard != "" {
		parts = append(parts, "keyboard: yours")
	}
	if p.Terminal.Open {
		parts = append(parts, "open to sandboxed agents")
	}
	return strings.Join(parts, " · ")
}
