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
)

// visits follow sessions, such as an editor's, for which the dashboard left a view. When a session
// ends, its result is handled, but the view is shown again only when the user presses its key.
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
	id      string // of the session
	started bool
	from    view           // the view that was left
	then    func() tea.Cmd // called after its program has exited; may be nil
}

// start starts a command in a session, and records the current view. It calls onExit after the
// program has exited.
func (v *visits) start(name string, command []string, folder string, onExit func() tea.Cmd) tea.Cmd {
	before, from := v.sessions.Tabs.CurrentID(), v.views.all[v.views.shown]
	cmd := v.sessions.Launcher.StartNamed(name, command, folder)
	if now := v.sessions.Tabs.CurrentID(); v.views.action() == keymap.ViewSessions && now != "" && now != before {
		v.open = append(v.open, visit{id: now, from: from, then: onExit})
	}
	return cmd
}

// has reports whether a session was started for a visit.
func (v *visits) has(id string) bool {
	return v.ended[id] || slices.ContainsFunc(v.open, func(one visit) bool { return one.id == id })
}

// endFinished ends the visits of sessions whose program has exited, or whose pane is closed. A note of
// success does not replace an error that is shown.
func (v *visits) endFinished(errorShown bool) (cmd tea.Cmd) {
	// The clone is not affected by deletions, nor by visits that a call of then starts.
	for _, one := range slices.Clone(v.open) {
		isThis := func(other visit) bool { return other.id == one.id }
		tab, _ := v.sessions.Tabs.FindSession(one.id)
		final := v.finalState(one.id)
		hasStarted := one.started || final != nil || (tab != nil && !v.sessions.Panes.Pane(one.id).Starting)
		if tab != nil && final == nil {
			v.open[slices.IndexFunc(v.open, isThis)].started = hasStarted
			continue
		}
		v.open = slices.DeleteFunc(v.open, isThis)
		if !hasStarted { // its start failed or was cancelled
			continue
		}
		if v.ended == nil {
			v.ended = map[string]bool{}
		}
		v.ended[one.id] = true
		failed := final != nil && final.Failed()
		if text := v.endText(one, final); text != "" && (failed || !errorShown) {
			cmd = tea.Batch(cmd, v.note(text, failed))
		}
		if one.then != nil {
			cmd = tea.Batch(cmd, one.then())
		}
	}
	return cmd
}

// finalState returns the state of an exited session; nil if it runs or is unknown. The session's
// pane may know the state before the engine's event has arrived.
func (v *visits) finalState(id string) *api.Process {
	if final := v.sessions.Panes.FinalState(id); final != nil {
		return final
	}
	if p, known := v.news.Process(id); known && p.State.Ended() {
		return &p
	}
	return nil
}

// endText says how a visit's program exited, unless it was stopped, and names the key that goes back.
func (v *visits) endText(one visit, final *api.Process) string {
	var parts []string
	if final != nil && final.State != api.StateStopped {
		parts = append(parts, states.FullName(final)+" "+states.HowEnded(final))
	}
	if one.from.Action != v.views.action() {
		parts = append(parts, v.bindings().KeyOrName(one.from.Action, keymap.ScopeGlobal)+" goes back to "+one.from.Name)
	}
	return strings.Join(parts, "; ")
}
