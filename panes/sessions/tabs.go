package sessions

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

// showTab shows t and focuses l, or the leaf focused last if l is nil.
func (v *View) showTab(t *layout.Tab, l *layout.Node) {
	v.reportFocus(false)
	if l != nil {
		t.SetFocus(l)
	}
	if v.zoomed && t != v.Tabs.Current {
		v.zoomed = false
	}
	v.Tabs.SetCurrent(t)
	v.navigator.numbers = nil
	v.showCount++
	t.Shown = v.showCount
	v.listFocused = false
	v.relayout()
	v.Attachments.releaseIdle(&v.Tabs)
	v.reportFocus(true)
}

// closeLeaf removes a leaf from its tab, and the tab with its last leaf. Its neighbour in
// the tab, else in the list, is shown next.
func (v *View) closeLeaf(t *layout.Tab, l *layout.Node) {
	v.Attachments.release(l.Pane)
	v.zoomed = v.zoomed && t != v.Tabs.Current
	at := v.Tabs.IndexOf(t)
	shown := t == v.Tabs.Current
	v.Tabs.DetachLeaf(t, l)
	v.Tabs.SettleFloat()
	switch {
	case slices.Contains(v.Tabs.EveryTab(), t) || shown && v.Tabs.Current != nil: // the tab below a floating pane stays
		v.relayout()
		v.reportFocus(true)
	case !shown || len(v.Tabs.All) == 0:
		v.relayout()
	default:
		onList := v.listFocused
		v.showTab(v.Tabs.All[min(at, len(v.Tabs.All)-1)], nil)
		v.listFocused = onList
	}
}

// adoptSessions adds a tab for every running session of this machine that has none, except
// those being started here, which have a pane. It removes tabs that were never opened and
// whose session has exited.
func (v *View) adoptSessions() {
	if !v.env.News().Connected {
		return
	}
	all, places := v.env.News().Processes, v.Tabs.Places()
	live := make(map[string]bool, len(all))
	for i := range all {
		p := &all[i]
		if p.Kind != api.KindSession || p.State.Ended() {
			continue
		}
		live[p.ID] = true
		if at, ok := places[p.ID]; ok {
			v.reviveSession(p, at.Leaf)
			continue
		}
		if machine, _ := api.MachineOf(p.ID); machine == "" && !v.Launcher.starter.isPending(p.ID) {
			v.Tabs.AddTab(v.Tabs.New(p.ID))
			v.layoutSync.changed = true
		}
	}
	var leaves []*layout.Node
	for _, t := range slices.Clone(v.Tabs.EveryTab()) {
		if t == v.Tabs.Current {
			continue
		}
		leaves = t.Root.Leaves(leaves[:0])
		for _, l := range leaves {
			if l.Pane.ID != "" && !live[l.Pane.ID] && !v.env.News().MayHave(l.Pane.ID) && v.Attachments.cancels[l.Pane] == nil {
				v.closeLeaf(t, l)
			}
		}
	}
	v.showAnyTab()
}

// reviveSession replaces the pane of an earlier run of a session by a new one, now that it
// runs again.
func (v *View) reviveSession(p *api.Process, l *layout.Node) {
	if ended := l.Pane.FinalState(); ended != nil && !ended.StartedAt.Equal(p.StartedAt) {
		v.Attachments.release(l.Pane)
		l.Pane = v.Tabs.New(p.ID)
		v.relayout()
	}
}

// showAnyTab shows the first tab if none is shown.
func (v *View) showAnyTab() {
	if v.isOpen && v.Tabs.Current == nil && len(v.Tabs.All) > 0 {
		onList := v.listFocused
		v.showTab(v.Tabs.All[0], nil)
		v.listFocused = onList
	}
}

// openFirst shows the first session, or starts one, once the view's size and the sessions
// are known.
func (v *View) openFirst() tea.Cmd {
	if v.isOpen || !v.env.News().Connected || !v.layoutSync.restored || !v.sized {
		return nil
	}
	if !v.shown && v.deferStart && len(v.Tabs.All) == 0 {
		// Start a session only once the user opens the view.
		return nil
	}
	v.isOpen = true
	if len(v.Tabs.All) > 0 {
		v.showTab(v.layoutSync.initialTab(), nil)
		if v.layoutSync.saved.Floats && v.Tabs.Float != nil {
			v.showTab(v.Tabs.Float, nil)
		}
		v.refreshList()
		return nil
	}
	return v.Launcher.NewSession()
}

// closeFinished closes panes whose program exited successfully or was stopped. One that
// failed stays, so that its output can be read.
func (v *View) closeFinished() (told tea.Cmd) {
	for p := range v.Attachments.cancels {
		ended := p.FinalState()
		if ended == nil {
			continue
		}
		t, l := v.Tabs.FindPane(p)
		switch {
		case t == nil:
			v.Attachments.release(p)
		case !ended.Failed():
			if slices.Contains(v.visibleLeaves(), l) {
				told = tea.Batch(told, v.List.ReportExit(ended))
			}
			if p == v.FocusedPane() {
				told = tea.Batch(told, v.List.Trees.HandleExit(ended, true))
			}
			v.layoutSync.applyUnrequested(func() { v.closeLeaf(t, l) })
			v.refreshList()
		}
	}
	return told
}

// CurrentPane returns the pane focused last; nil without one.
func (v *View) CurrentPane() *terminal.Pane {
	if v.Tabs.Current == nil {
		return nil
	}
	return v.Tabs.Current.Focus.Pane
}

// OpenSession shows a session in its pane, or in a new one.
func (v *View) OpenSession(id string) tea.Cmd {
	if id == "" {
		return nil
	}
	t, l := v.Tabs.FindSession(id)
	if t == nil {
		t = v.Tabs.AddTab(v.Tabs.New(id))
	}
	v.showTab(t, l)
	v.refreshList()
	return nil
}

// closePane closes the focused pane, or that of the session selected in the list. A
// running session moves to a tab of its own.
func (v *View) closePane() tea.Cmd {
	t, l := v.Tabs.Current, (*layout.Node)(nil)
	switch {
	case v.FocusedPane() != nil:
		l = t.Focus
	case v.shown && v.listFocused:
		t, l = v.Tabs.FindSession(v.List.Selected())
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
	if t.Root.Pane != nil && t != v.Tabs.Float {
		return v.env.Say("this is the session's only pane; kill the session to close it", false)
	}
	v.closeLeaf(t, l)
	v.adoptSessions()
	v.refreshList()
	return nil
}

// hideSession removes an exited session from the list, in future dashboards too. The pane
// may learn of the exit before the list does, so the list is told first.
func (v *View) hideSession(p *terminal.Pane) {
	if last := p.FinalState(); last != nil {
		v.env.RecordExit(*last)
	}
	v.List.HideSession(p.ID)
	v.layoutSync.changed = true
}

// askKill asks before a session is ended or its start cancelled. A pane whose program has
// exited is closed without a question.
func (v *View) askKill() tea.Cmd {
	if p := v.FocusedPane(); p != nil {
		if p.ID == "" {
			return v.Launcher.askCancel(p)
		}
		if session, ok := v.env.News().Process(p.ID); ok && session.State.Ended() {
			return v.closePane()
		}
	}
	return v.List.AskKill()
}
