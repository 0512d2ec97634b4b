package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/sessions"
	"tandem/panes/states"
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

	open  []visit
	ended map[string]bool // ids of the sessions of earlier visits
}

// A visit is a session that has not ended.
type visit struct {
	pane *terminal.Pane
	from view           // the view that was left
	then func() tea.Cmd // called after its program has exited; may be nil
}

// start starts a command in a session, and records the current view.
func (v *visits) start(name string, command []string, folder string, then func() tea.Cmd) tea.Cmd {
	before, from := v.sessions.Tabs.CurrentPane(), v.views.all[v.views.shown]
	cmd := v.sessions.Launcher.StartNamed(name, command, folder)
	if now := v.sessions.Tabs.CurrentPane(); v.views.action() == keymap.ViewSessions && now != nil && now != before {
		v.open = append(v.open, visit{now, from, then})
	}
	return cmd
}

// has reports whether a session was started for a visit.
func (v *visits) has(id string) bool {
	return v.ended[id] || slices.ContainsFunc(v.open, func(one visit) bool { return one.pane.ID == id })
}

// endFinished ends the visits of sessions whose program has exited, or whose pane is closed. A note of
// success does not replace an error that is shown.
func (v *visits) endFinished(errorShown bool) (cmd tea.Cmd) {
	for _, one := range slices.Clone(v.open) {
		ended := v.finalState(one.pane)
		if tab, _ := v.sessions.Tabs.FindPane(one.pane); tab != nil && ended == nil {
			continue
		}
		v.open = slices.DeleteFunc(v.open, func(other visit) bool { return other.pane == one.pane })
		if one.pane.ID == "" { // its start failed or was cancelled
			continue
		}
		if v.ended == nil {
			v.ended = map[string]bool{}
		}
		v.ended[one.pane.ID] = true
		failed := ended != nil && ended.Failed()
		if text := v.endText(one, ended); text != "" && (failed || !errorShown) {
			cmd = tea.Batch(cmd, v.note(text, failed))
		}
		if one.then != nil {
			cmd = tea.Batch(cmd, one.then())
		}
	}
	return cmd
}

// finalState returns the state of an exited session; nil if it runs or is unknown. Its pane may know it
// before the engine's event has arrived.
func (v *visits) finalState(pane *terminal.Pane) *api.Process {
	if ended := pane.FinalState(); ended != nil {
		return ended
	}
	if p, known := v.news.Process(pane.ID); known && p.State.Ended() {
		return &p
	}
	return nil
}

// endText says how a visit's program exited, unless it was stopped, and names the key that goes back.
func (v *visits) endText(one visit, ended *api.Process) string {
	var parts []string
	if ended != nil && ended.State != api.StateStopped {
		parts = append(parts, states.FullName(ended)+" "+states.HowEnded(ended))
	}
	if one.from.Action != v.views.action() {
		parts = append(parts, v.bindings().KeyOrName(one.from.Action, keymap.ScopeGlobal)+" goes back to "+one.from.Name)
	}
	return strings.Join(parts, "; ")
}
