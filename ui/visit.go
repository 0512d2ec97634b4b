package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/sessions"
	"tandem/panes/terminal"
)

// visits returns the user to a view that was left for a session, such as an editor.
type visits struct {
	sessions *sessions.View
	shown    func() keymap.Action // the view on the screen
	setView  func(keymap.Action)

	pane *terminal.Pane // nil unless a view was left
	from keymap.Action
	then func() tea.Cmd // called after the session is closed; may be nil
}

// start starts a command in a session, and records the current view to return to.
func (v *visits) start(command []string, folder string, then func() tea.Cmd) tea.Cmd {
	before, from := v.sessions.Tabs.CurrentPane(), v.shown()
	cmd := v.sessions.Launcher.StartNear(nil, command, folder)
	if now := v.sessions.Tabs.CurrentPane(); v.shown() == keymap.ViewSessions && now != nil && now != before {
		v.pane, v.from, v.then = now, from, then
	}
	return cmd
}

// end returns to the recorded view once the session's pane is closed.
func (v *visits) end() tea.Cmd {
	if v.pane == nil {
		return nil
	}
	if g, _ := v.sessions.Tabs.FindPane(v.pane); g != nil {
		return nil
	}
	then := v.then
	v.pane, v.then = nil, nil
	if v.shown() == keymap.ViewSessions {
		v.setView(v.from)
	}
	if then == nil {
		return nil
	}
	return then()
}
