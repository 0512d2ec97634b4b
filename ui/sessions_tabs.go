package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/terminal"
	"tandem/ui/layout"
)

// showTab shows t and focuses l, or the leaf focused last if l is nil.
func (v *sessionsView) showTab(t *layout.Tab, l *layout.Node) {
	v.reportFocus(false)
	if l != nil {
		t.SetFocus(l)
	}
	if v.zoomed && t != v.tabs.Current {
		v.zoomed = false
	}
	v.tabs.SetCurrent(t)
	v.navigator.numbers = nil
	v.showCount++
	t.Shown = v.showCount
	v.listFocused = false
	v.relayout()
	v.attachments.releaseIdle(&v.tabs)
	v.reportFocus(true)
}

// closeLeaf removes a leaf from its tab, and the tab with its last leaf. Its neighbour in
// the tab, else in the list, is shown next.
func (v *sessionsView) closeLeaf(t *layout.Tab, l *layout.Node) {
	v.attachments.release(l.Pane)
	v.zoomed = v.zoomed && t != v.tabs.Current
	at := v.tabs.IndexOf(t)
	shown := t == v.tabs.Current
	v.tabs.DetachLeaf(t, l)
	v.tabs.SettleFloat()
	switch {
	case slices.Contains(v.tabs.EveryTab(), t) || shown && v.tabs.Current != nil: // the tab below a floating pane stays
		v.relayout()
		v.reportFocus(true)
	case !shown || len(v.tabs.All) == 0:
		v.relayout()
	default:
		onList := v.listFocused
		v.showTab(v.tabs.All[min(at, len(v.tabs.All)-1)], nil)
		v.listFocused = onList
	}
}

// adoptSessions adds a tab for every running session of this machine that has none, except
// those being started here, which have a pane. It removes tabs that were never opened and
// whose session has exited.
func (v *sessionsView) adoptSessions() {
	if !v.env.News().Connected {
		return
	}
	live := map[string]bool{}
	for _, p := range v.env.News().Processes {
		if p.Kind != api.KindSession || p.State.Ended() {
			continue
		}
		live[p.ID] = true
		v.reviveSession(p)
		if machine, _ := api.MachineOf(p.ID); machine != "" {
			continue
		}
		if t, _ := v.tabs.FindSession(p.ID); t == nil && !v.launcher.starter.IsPending(p.ID) {
			v.tabs.AddTab(v.tabs.New(p.ID))
			v.layoutSync.changed = true
		}
	}
	for _, t := range slices.Clone(v.tabs.EveryTab()) {
		if t == v.tabs.Current {
			continue
		}
		for _, l := range t.Root.Leaves(nil) {
			if l.Pane.ID != "" && !live[l.Pane.ID] && !v.env.News().MayHave(l.Pane.ID) && v.attachments.cancels[l.Pane] == nil {
				v.closeLeaf(t, l)
			}
		}
	}
	v.showAnyTab()
}

// reviveSession replaces panes of an earlier run of a session by new ones, now that it
// runs again.
func (v *sessionsView) reviveSession(p api.Process) {
	for _, l := range v.tabs.Leaves() {
		if ended := l.Pane.FinalState(); l.Pane.ID == p.ID && ended != nil && !ended.StartedAt.Equal(p.StartedAt) {
			v.attachments.release(l.Pane)
			l.Pane = v.tabs.New(p.ID)
			v.relayout()
		}
	}
}

// showAnyTab shows the first tab if none is shown.
func (v *sessionsView) showAnyTab() {
	if v.isOpen && v.tabs.Current == nil && len(v.tabs.All) > 0 {
		onList := v.listFocused
		v.showTab(v.tabs.All[0], nil)
		v.listFocused = onList
	}
}

// openFirst shows the first session, or starts one, once the view's size and the sessions
// are known.
func (v *sessionsView) openFirst() tea.Cmd {
	if v.isOpen || !v.env.News().Connected || !v.layoutSync.restored || !v.sized {
		return nil
	}
	if !v.shown && v.deferStart && len(v.tabs.All) == 0 {
		// Start a session only once the user opens the view.
		return nil
	}
	v.isOpen = true
	if len(v.tabs.All) > 0 {
		v.showTab(v.layoutSync.initialTab(), nil)
		if v.layoutSync.saved.Floats && v.tabs.Float != nil {
			v.showTab(v.tabs.Float, nil)
		}
		v.refreshList()
		return nil
	}
	return v.launcher.newSession()
}

// closeFinished closes panes whose program exited successfully or was stopped. One that
// failed stays, so that its output can be read.
func (v *sessionsView) closeFinished() (told tea.Cmd) {
	for p := range v.attachments.cancels {
		ended := p.FinalState()
		if ended == nil {
			continue
		}
		t, l := v.tabs.FindPane(p)
		switch {
		case t == nil:
			v.attachments.release(p)
		case !ended.Failed():
			if slices.Contains(v.visibleLeaves(), l) {
				told = tea.Batch(told, v.list.ReportExit(ended))
			}
			if p == v.focusedPane() {
				told = tea.Batch(told, v.list.Trees.HandleExit(ended, true))
			}
			v.layoutSync.applyUnrequested(func() { v.closeLeaf(t, l) })
			v.refreshList()
		}
	}
	return told
}

// currentPane returns the pane focused last; nil without one.
func (v *sessionsView) currentPane() *terminal.Pane {
	if v.tabs.Current == nil {
		return nil
	}
	return v.tabs.Current.Focus.Pane
}

// openSession shows a session in its pane, or in a new one.
func (v *sessionsView) openSession(id string) tea.Cmd {
	if id == "" {
		return nil
	}
	t, l := v.tabs.FindSession(id)
	if t == nil {
		t = v.tabs.AddTab(v.tabs.New(id))
	}
	v.showTab(t, l)
	v.refreshList()
	return nil
}

// closePane closes the focused pane, or that of the session selected in the list. A
// running session moves to a tab of its own.
func (v *sessionsView) closePane() tea.Cmd {
	t, l := v.tabs.Current, (*layout.Node)(nil)
	switch {
	case v.focusedPane() != nil:
		l = t.Focus
	case v.shown && v.listFocused:
		t, l = v.tabs.FindSession(v.list.Selected())
	}
	if l == nil {
		return v.env.Say("no pane to close here", false)
	}
	p := l.Pane
	if p.FinalState() != nil || p.Err() != nil {
		v.hideSession(p)
		v.closeLeaf(t, l)
		v.refreshList()
		return nil
	}
	if t.Root.Pane != nil && t != v.tabs.Float {
		return v.env.Say("this is the session's only pane; kill the session to close it", false)
	}
	v.closeLeaf(t, l)
	v.adoptSessions()
	v.refreshList()
	return nil
}

// hideSession removes an exited session from the list, in future dashboards too. The pane
// may learn of the exit before the list does, so the list is told first.
func (v *sessionsView) hideSession(p *terminal.Pane) {
	if last := p.FinalState(); last != nil {
		v.env.Ended(*last)
	}
	v.list.HideSession(p.ID)
	v.layoutSync.changed = true
}

// askKill asks before a session is ended or its start cancelled. A pane whose program has
// exited is closed without a question.
func (v *sessionsView) askKill() tea.Cmd {
	if p := v.focusedPane(); p != nil {
		if p.ID == "" {
			return v.launcher.askCancel(p)
		}
		if session, ok := v.env.News().Process(p.ID); ok && session.State.Ended() {
			return v.closePane()
		}
	}
	return v.list.AskKill()
}
