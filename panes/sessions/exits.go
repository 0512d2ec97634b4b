package sessions

import (
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

// adopt updates the tabs after sessions have changed, to give each running or restorable session of
// this machine a pane.
func (v *View) adopt() {
	if !v.env.News().Connected {
		return
	}
	processes := v.env.News().ByID()
	for _, l := range v.Tabs.Leaves() {
		if p := processes[l.ID]; p != nil && p.IsOpen() {
			v.revive(p)
		}
	}
	v.focus.refresh()
	for id, p := range v.Panes.all {
		if p.Outbox.Waiting() > 0 && processes[id] != nil && processes[id].IsOpen() {
			v.Panes.attach(id)
		}
	}
	shown := map[string]bool{}
	for _, l := range v.Tabs.Leaves() {
		shown[l.ID] = true
	}
	for id := range v.Panes.cancels {
		if !shown[id] && v.Panes.FinalState(id) != nil {
			v.Panes.release(id)
		}
	}
	maps.DeleteFunc(v.Panes.all, func(id string, _ *terminal.Pane) bool {
		return !shown[id] && !v.Panes.isInUse(id) && (processes[id] == nil || !processes[id].IsOpen())
	})
}

// revive replaces the pane of an earlier run of a session, if the session runs again.
func (v *View) revive(now *api.Process) (again bool) {
	ended := v.Panes.FinalState(now.ID)
	if ended == nil || now.State.Ended() || ended.StartedAt.Equal(now.StartedAt) {
		return false
	}
	v.Panes.forget(now.ID)
	v.focus.relayout()
	return true
}

// noteDeleted remembers the sessions that were deleted or dismissed since the news in earlier.
// Their panes are closed later, because output still to be taken over may report why they exited.
func (v *View) noteDeleted(earlier *panes.News) {
	known := v.env.News().ByID()
	for _, p := range earlier.Processes {
		if now := known[p.ID]; now == nil || p.Interrupted != nil && !now.IsOpen() {
			v.deleted = append(v.deleted, p)
		}
	}
}

// closeFinished closes the panes of programs that exited successfully or were stopped, and of
// deleted sessions. The pane of a failed session stays until the session is deleted, so that its
// output can be read, and the pane of an interrupted one until it is restored or dismissed.
func (v *View) closeFinished() (cmd tea.Cmd) {
	for id := range v.Panes.cancels {
		ended := v.Panes.FinalState(id)
		if ended == nil {
			continue
		}
		_, l := v.Tabs.FindSession(id)
		now, known := v.env.News().Process(id)
		switch {
		case l == nil:
			v.Panes.release(id)
		case known && v.revive(&now):
			// The session runs again already. News of the restart arrived before the exit of the
			// earlier run.
		case !ended.Failed() && ended.Interrupted == nil:
			cmd = tea.Batch(cmd, v.closeExited(l, ended))
		}
	}
	for _, p := range v.deleted {
		if _, l := v.Tabs.FindSession(p.ID); l != nil {
			cmd = tea.Batch(cmd, v.closeExited(l, &p))
		}
	}
	v.deleted = nil
	return cmd
}

// closeExited closes the pane of a session in this dashboard, and reports the exit. The session
// keeps its place in the layout.
func (v *View) closeExited(l *layout.Node, ended *api.Process) (cmd tea.Cmd) {
	if slices.Contains(v.display.visibleLeaves(), l) {
		cmd = v.List.ReportExit(ended)
	}
	if p := v.FocusedPane(); p != nil && p.ID == l.ID {
		cmd = tea.Batch(cmd, v.List.Trees.HandleExit(ended, true))
	}
	v.Panes.release(l.ID)
	v.focus.refresh()
	return cmd
}

// closePane closes the focused pane or, in the list, the pane of the selected session. A running
// session moves to a tab of its own.
func (v *View) closePane() tea.Cmd {
	t, l := v.Tabs.Current, (*layout.Node)(nil)
	switch {
	case v.FocusedPane() != nil:
		l = t.Focus
	case v.focus.shown && v.focus.inList:
		t, l = v.Tabs.FindSession(v.List.Selected())
	}
	if l == nil {
		return v.env.Say("no pane to close here", false)
	}
	p := v.Panes.Pane(l.ID)
	switch {
	case v.List.Restorer.Offers(p.ID):
		return v.List.Restorer.Dismiss(p.ID)
	case p.FinalState() != nil || p.Err() != nil:
		v.hide(p.ID)
		v.focus.refresh()
		return nil
	case t.Root.IsLeaf() && t != v.Tabs.Float:
		return v.env.Say("this is the session's only pane; kill the session to close it", false)
	}
	v.focus.leave(t, l)
	if p.Starting {
		v.Tabs.change(api.LayoutChange{Do: api.LayoutClose, ID: p.ID})
	} else {
		v.Tabs.change(ownTab(p.ID, api.OwnEnd))
	}
	v.focus.refresh()
	return nil
}

// hide removes an exited session from the list, and its pane, in all dashboards. It first records
// the exit, because the news may not contain it yet.
func (v *View) hide(id string) {
	if last := v.Panes.FinalState(id); last != nil {
		v.env.RecordExit(*last)
	}
	v.Panes.release(id)
	v.Tabs.change(api.LayoutChange{Do: api.LayoutClose, ID: id, Hide: true})
}
