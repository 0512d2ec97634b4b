package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/terminal"
	"tandem/panes/widget"
	"tandem/ui/layout"
)

// show makes t the tab on the screen and leaf l, or the last one of it, the one
// with the keyboard.
func (v *sessionsView) show(t *layout.Tab, l *layout.Node) {
	v.tellFocus(false)
	if l != nil {
		t.Go(l)
	}
	if v.zoomed && t != v.tabs.Current {
		v.zoomed = false
	}
	v.tabs.Go(t)
	v.steps.numbers = nil
	v.shows++
	t.Shown = v.shows
	v.listFocused = false
	v.relayout()
	v.feeds.releaseIdle(&v.tabs)
	v.tellFocus(true)
}

// closeLeaf takes a leaf out of its tab, and the tab away with its last one. What
// is shown next is a neighbour: in the tab, else in the list.
func (v *sessionsView) closeLeaf(t *layout.Tab, l *layout.Node) {
	v.feeds.release(l.Pane)
	v.zoomed = v.zoomed && t != v.tabs.Current
	at := v.tabs.Index(t)
	shown := t == v.tabs.Current
	v.tabs.Detach(t, l)
	v.tabs.Settle()
	switch {
	case slices.Contains(v.tabs.Every(), t) || shown && v.tabs.Current != nil: // what it floated over is shown
		v.relayout()
		v.tellFocus(true)
	case !shown || len(v.tabs.All) == 0:
		v.relayout()
	default:
		onList := v.listFocused
		v.show(v.tabs.All[min(at, len(v.tabs.All)-1)], nil)
		v.listFocused = onList
	}
}

// adopt gives every live session of this machine that is in no tab one of its own,
// and drops tabs that were never opened when their session has ended. One that is
// being started here has its pane already.
func (v *sessionsView) adopt() {
	if !v.env.News().Connected {
		return
	}
	live := map[string]bool{}
	for _, p := range v.env.News().Processes {
		if p.Kind != api.KindSession || p.State.Ended() {
			continue
		}
		live[p.ID] = true
		v.revive(p)
		if machine, _ := api.MachineOf(p.ID); machine != "" {
			continue
		}
		if t, _ := v.tabs.Find(p.ID); t == nil && !v.starts.starter.Has(p.ID) {
			v.tabs.Add(v.tabs.New(p.ID))
			v.keeper.changed = true
		}
	}
	for _, t := range slices.Clone(v.tabs.Every()) {
		if t == v.tabs.Current {
			continue
		}
		for _, l := range t.Root.Leaves(nil) {
			if l.Pane.ID != "" && !live[l.Pane.ID] && !v.env.News().MayHave(l.Pane.ID) && v.feeds.stops[l.Pane] == nil {
				v.closeLeaf(t, l)
			}
		}
	}
	v.showSomething()
}

// revive gives panes that show how an earlier run of a session ended the one that
// runs now.
func (v *sessionsView) revive(p api.Process) {
	for _, l := range v.tabs.Leaves() {
		if ended := l.Pane.Ended(); l.Pane.ID == p.ID && ended != nil && !ended.StartedAt.Equal(p.StartedAt) {
			v.feeds.release(l.Pane)
			l.Pane = v.tabs.New(p.ID)
			v.relayout()
		}
	}
}

// showSomething shows the first session that there is, once none was shown
// because there was none.
func (v *sessionsView) showSomething() {
	if v.opened && v.tabs.Current == nil && len(v.tabs.All) > 0 {
		onList := v.listFocused
		v.show(v.tabs.All[0], nil)
		v.listFocused = onList
	}
}

// open shows the first session, or starts one, once both the view's size and the
// sessions are known.
func (v *sessionsView) open() tea.Cmd {
	if v.opened || !v.env.News().Connected || !v.keeper.restored || !v.sized {
		return nil
	}
	if !v.shown && v.unasked && len(v.tabs.All) == 0 {
		return nil // nobody has asked for a session yet
	}
	v.opened = true
	if len(v.tabs.All) > 0 {
		v.show(v.keeper.openingTab(), nil)
		if v.keeper.kept.Floats && v.tabs.Float != nil {
			v.show(v.tabs.Float, nil)
		}
		v.refreshList()
		return nil
	}
	return v.starts.newSession()
}

// closeFinished puts away the panes whose program has ended well, or was ended
// on purpose; one that failed stays to be read.
func (v *sessionsView) closeFinished() (told tea.Cmd) {
	for p := range v.feeds.stops {
		ended := p.Ended()
		if ended == nil {
			continue
		}
		t, l := v.tabs.Of(p)
		switch {
		case t == nil:
			v.feeds.release(p)
		case !widget.Failed(ended):
			if slices.Contains(v.visible(), l) {
				told = tea.Batch(told, v.list.TellEnded(ended))
			}
			if p == v.focused() {
				told = tea.Batch(told, v.list.Trees.Ended(ended, true))
			}
			v.keeper.unasked(func() { v.closeLeaf(t, l) })
			v.refreshList()
		}
	}
	return told
}

// currentPane is the pane that has the keyboard, or had it last.
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
	t, l := v.tabs.Find(id)
	if t == nil {
		t = v.tabs.Add(v.tabs.New(id))
	}
	v.show(t, l)
	v.refreshList()
	return nil
}

// closePane takes the focused pane, or that of the session under the cursor of the
// list, off the screen; its session goes on in a tab of its own.
func (v *sessionsView) closePane() tea.Cmd {
	t, l := v.tabs.Current, (*layout.Node)(nil)
	switch {
	case v.focused() != nil:
		l = t.Focus
	case v.shown && v.listFocused:
		t, l = v.tabs.Find(v.list.Selected())
	}
	if l == nil {
		return v.env.Say("no pane to close here", false)
	}
	p := l.Pane
	if p.Ended() != nil || p.Err() != nil {
		v.putAway(p)
		v.closeLeaf(t, l)
		v.refreshList()
		return nil
	}
	if t.Root.Pane != nil && t != v.tabs.Float {
		return v.env.Say("this is the session's only pane; end the session to close it", false)
	}
	v.closeLeaf(t, l)
	v.adopt()
	v.refreshList()
	return nil
}

// putAway takes the session of a pane, which has ended, out of the list, in the
// next dashboards too. The pane may know of the end before the list does.
func (v *sessionsView) putAway(p *terminal.Pane) {
	if last := p.Ended(); last != nil {
		v.env.Ended(*last)
	}
	v.list.PutAway(p.ID)
	v.keeper.changed = true
}

// askEnd asks before a session is ended, or the start of one cancelled. A pane
// whose program has ended is closed.
func (v *sessionsView) askEnd() tea.Cmd {
	if p := v.focused(); p != nil {
		if p.ID == "" {
			return v.starts.askCancel(p)
		}
		if session, ok := v.env.News().Process(p.ID); ok && session.State.Ended() {
			return v.closePane()
		}
	}
	return v.list.AskEnd()
}
