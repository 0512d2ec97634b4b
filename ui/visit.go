package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/sessions"
	"tandem/panes/terminal"
)

// visits follow sessions, such as an editor, for which a view was left. When one ends, its result is
// handled, but only the user's key shows that view again.
type visits struct {
	sessions *sessions.View
	news     *panes.News
	views    *views
	bindings func() keymap.Bindings
	note     func(text string, bad bool) tea.Cmd

	open []visit
}

// A visit is a session that has not ended.
type visit struct {
	pane *terminal.Pane
	from view           // the view that was left
	then func() tea.Cmd // called after its program has exited; may be nil
}

// start starts a command in a session, and records the current view.
func (v *visits) start(command []string, folder string, then func() tea.Cmd) tea.Cmd {
	before, from := v.sessions.Tabs.CurrentPane(), v.views.all[v.views.shown]
	cmd := v.sessions.Launcher.StartNear(nil, command, folder)
	if now := v.sessions.Tabs.CurrentPane(); v.views.action() == keymap.ViewSessions && now != nil && now != before {
		v.open = append(v.open, visit{now, from, then})
	}
	return cmd
}

// endFinished ends the visits of sessions whose program has exited, or whose pane is closed.
func (v *visits) endFinished() (cmd tea.Cmd) {
	for _, one := range slices.Clone(v.open) {
		p, known := v.news.Process(one.pane.ID)
		if tab, _ := v.sessions.Tabs.FindPane(one.pane); tab != nil && !(known && p.State.Ended()) {
			continue
		}
		v.open = slices.DeleteFunc(v.open, func(other visit) bool { return other.pane == one.pane })
		if one.from.Action != v.views.action() {
			cmd = tea.Batch(cmd, v.note(v.bindings().KeyOrName(one.from.Action, keymap.ScopeGlobal)+" goes back to "+one.from.Name, false))
		}
		if one.then != nil {
			cmd = tea.Batch(cmd, one.then())
		}
	}
	return cmd
}
