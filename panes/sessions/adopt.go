package sessions

import (
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/sessions/layout"
	"tandem/panes/sessions/list"
	"tandem/panes/terminal"
)

// sessionTabs keeps the tabs in step with the sessions: each that runs on this machine, or can be
// restored, has a pane, and panes are closed after their sessions exited.
type sessionTabs struct {
	env interface {
		panes.NewsSource
		panes.Reporter
		Feeds
	}
	tabs        *Tabs
	display     *display
	list        *list.Pane
	switcher    *switcher
	attachments *attachments
	layoutSync  *layoutSync
	isPending   func(id string) bool // a session is being started here, and has a pane

	deleted []api.Process // or dismissed, since the last closeFinished
}

// adopt adds a tab for every open session of this machine that has none, except those
// being started here. It removes tabs that were never opened and whose session has exited.
func (s *sessionTabs) adopt() {
	if !s.env.News().Connected {
		return
	}
	all, places := s.env.News().Processes, s.tabs.Places()
	live := make(map[string]bool, len(all))
	for i := range all {
		p := &all[i]
		if p.Kind != api.KindSession || !p.IsOpen() {
			continue
		}
		live[p.ID] = true
		if at, ok := places[p.ID]; ok {
			s.revive(p, at.Leaf)
			continue
		}
		if machine, _ := api.MachineOf(p.ID); machine == "" && !s.isPending(p.ID) {
			s.tabs.AddTab(p.ID)
			if s.tabs.Pane(p.ID).Outbox.Waiting() > 0 {
				s.attachments.attach(p.ID)
			}
			s.layoutSync.noteChange()
		}
	}
	maps.DeleteFunc(s.tabs.panes, func(id string, _ *terminal.Pane) bool {
		return !live[id] && places[id].Tab == nil && !s.env.News().MayHave(id) && !s.isPending(id) && !s.attachments.has(id)
	})
	var leaves []*layout.Node
	for _, t := range slices.Clone(s.tabs.EveryTab()) {
		if t == s.tabs.Current {
			continue
		}
		leaves = t.Root.Leaves(leaves[:0])
		for _, l := range leaves {
			if !live[l.ID] && !s.env.News().MayHave(l.ID) && !s.isPending(l.ID) && !s.attachments.has(l.ID) {
				s.switcher.closeLeaf(t, l)
			}
		}
	}
	s.switcher.showAnyTab()
}

// revive replaces the pane of an earlier run of a session by a new one, if it runs again.
func (s *sessionTabs) revive(now *api.Process, l *layout.Node) (again bool) {
	ended := s.tabs.Pane(l.ID).FinalState()
	if ended == nil || now.State.Ended() || ended.StartedAt.Equal(now.StartedAt) {
		return false
	}
	s.attachments.release(l.ID)
	delete(s.tabs.panes, l.ID)
	s.switcher.relayout()
	return true
}

// noteDeleted notes the sessions whose records were deleted, and those dismissed. Their panes are
// closed after the output has been taken over, which may report their exit.
func (s *sessionTabs) noteDeleted(before *panes.News) {
	known := s.env.News().ByID()
	for _, p := range before.Processes {
		if now := known[p.ID]; now == nil || p.Interrupted != nil && !now.IsOpen() {
			s.deleted = append(s.deleted, p)
		}
	}
}

// closeFinished closes panes whose program exited successfully or was stopped, or whose session
// was deleted. One that failed stays until then, so that its output can be read, and one that was
// interrupted until it is restored or dismissed.
func (s *sessionTabs) closeFinished() (cmd tea.Cmd) {
	for id := range s.attachments.cancels {
		ended := s.tabs.Pane(id).FinalState()
		if ended == nil {
			continue
		}
		t, l := s.tabs.FindSession(id)
		now, known := s.env.News().Process(id)
		switch {
		case t == nil:
			s.attachments.release(id)
		case known && s.revive(&now, l):
			// News that it runs again has arrived before its exit.
		case !ended.Failed() && ended.Interrupted == nil:
			cmd = tea.Batch(cmd, s.closeExited(t, l, ended))
		}
	}
	for _, p := range s.deleted {
		if t, l := s.tabs.FindSession(p.ID); t != nil {
			cmd = tea.Batch(cmd, s.closeExited(t, l, &p))
		}
	}
	s.deleted = nil
	return cmd
}

// closeExited closes the pane of a session, and reports its exit.
func (s *sessionTabs) closeExited(t *layout.Tab, l *layout.Node, ended *api.Process) (cmd tea.Cmd) {
	if slices.Contains(s.display.visibleLeaves(), l) {
		cmd = s.list.ReportExit(ended)
	}
	if s.tabs.Pane(l.ID) == s.tabs.FocusedPane() {
		cmd = tea.Batch(cmd, s.list.Trees.HandleExit(ended, true))
	}
	s.layoutSync.applyUnrequested(func() { s.switcher.closeLeaf(t, l) })
	s.switcher.refreshList()
	return cmd
}

// closePane closes the focused pane, or that of the session selected in the list. A
// running session moves to a tab of its own.
func (s *sessionTabs) closePane() tea.Cmd {
	t, l := s.tabs.Current, (*layout.Node)(nil)
	switch {
	case s.tabs.FocusedPane() != nil:
		l = t.Focus
	case s.tabs.shown && s.tabs.inList:
		t, l = s.tabs.FindSession(s.list.Selected())
	}
	if l == nil {
		return s.env.Say("no pane to close here", false)
	}
	p := s.tabs.Pane(l.ID)
	if s.list.Restorer.Offers(p.ID) {
		return s.list.Restorer.Dismiss(p.ID)
	}
	if p.FinalState() != nil || p.Err() != nil {
		s.hide(p)
		s.switcher.closeLeaf(t, l)
		s.switcher.refreshList()
		return nil
	}
	if t.Root.IsLeaf() && t != s.tabs.Float {
		return s.env.Say("this is the session's only pane; kill the session to close it", false)
	}
	s.switcher.closeLeaf(t, l)
	s.adopt()
	s.switcher.refreshList()
	return nil
}

// hide removes an exited session from the list, in future dashboards too. The list
// may not know of the exit yet, so it is recorded first.
func (s *sessionTabs) hide(p *terminal.Pane) {
	if last := p.FinalState(); last != nil {
		s.env.RecordExit(*last)
	}
	s.list.HideSession(p.ID)
	s.layoutSync.noteChange()
}
