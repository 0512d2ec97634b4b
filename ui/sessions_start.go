package ui

import (
	"context"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/sessions"
	"tandem/panes/terminal"
	"tandem/ui/layout"
	"tandem/ui/overlay"
)

// starts are the sessions that the person asks for, from the key to the session in
// its pane.
type starts struct {
	v        *sessionsView
	starter  *sessions.Starter
	starting map[string]*terminal.Pane // panes whose session is not there yet, by the id that it will have
}

// newSession starts a shell in a tab of its own and shows it at once; what is
// typed meanwhile waits in the pane.
func (s *starts) newSession() tea.Cmd {
	near := s.v.currentPane()
	if machine := s.target(); machine != s.machine(near) {
		return s.startOn(machine, nil, nil, "")
	}
	return s.startCommand(near, nil, "")
}

// target is the machine that something new is for: that of the cursor in the list, or
// of the pane that has the keyboard or had it last.
func (s *starts) target() string {
	if s.v.shown && s.v.listFocused {
		return s.v.list.Machine()
	}
	return s.machine(s.v.currentPane())
}

// machine is the one of a pane's session, which may be still to come.
func (s *starts) machine(p *terminal.Pane) string {
	id := ""
	if p != nil {
		id = p.ID
	}
	for to, pane := range s.starting {
		if pane == p {
			id = to
		}
	}
	machine, _ := api.MachineOf(id)
	return machine
}

// startCommand starts a command in a new session and shows it; without one a
// shell. Without a folder it is where the session near is.
func (s *starts) startCommand(near *terminal.Pane, command []string, folder string) tea.Cmd {
	machine := s.machine(near)
	if folder != "" {
		machine, folder = api.PathOf(folder)
	}
	return s.startOn(machine, near, command, folder)
}

// startOn does that on a machine.
func (s *starts) startOn(machine string, near *terminal.Pane, command []string, folder string) tea.Cmd {
	return s.start(s.newPane(), machine, near, command, folder)
}

// startInTree does that in a worktree, by whose name the session is called if no other is.
func (s *starts) startInTree(command []string, folder string) tea.Cmd {
	name := filepath.Base(folder)
	for _, p := range s.v.env.News().Processes {
		if p.Name == name && !p.State.Ended() {
			name = ""
		}
	}
	p, id := s.newPane(), api.NewID()
	s.starting[id] = p
	return s.starter.Start(sessions.Start{ID: id, Name: name, Command: command, Size: p.Feed.Size,
		Where: func() (string, string) { return folder, "" }})
}

// newPane is an empty pane in a tab of its own, shown at once.
func (s *starts) newPane() *terminal.Pane {
	p := s.v.tabs.New("")
	s.v.show(s.v.tabs.Add(p), nil)
	s.v.env.ShowSessions()
	return p
}

// split starts a shell beside or below the focused pane.
func (s *starts) split(x layout.Axis) tea.Cmd {
	if !s.v.shown || s.v.tabs.Current == nil {
		return s.newSession()
	}
	if s.v.zoomed {
		s.v.zoomed = false
		s.v.relayout()
	}
	leaf := s.v.tabs.Current.Focus
	if !leaf.CanSplit(x) {
		return s.v.env.Say("no room to split this pane", true)
	}
	p := s.v.tabs.New("")
	var created *layout.Node
	s.v.tabs.Current.Root, created = leaf.Split(x, p)
	s.v.show(s.v.tabs.Current, created)
	return s.start(p, s.machine(leaf.Pane), leaf.Pane, nil, "")
}

// startInPlace starts a shell in a pane after its program has ended.
func (s *starts) startInPlace(ended *terminal.Pane) tea.Cmd {
	_, leaf := s.v.tabs.Of(ended)
	if leaf == nil {
		return nil
	}
	s.v.feeds.release(ended)
	s.v.putAway(ended)
	leaf.Pane = s.v.tabs.New("")
	s.v.relayout()
	s.v.refreshList()
	return s.start(leaf.Pane, s.machine(ended), ended, nil, "")
}

// start starts the session of a pane that is on the screen already.
func (s *starts) start(p *terminal.Pane, machine string, near *terminal.Pane, command []string, folder string) tea.Cmd {
	id := api.OnMachine(machine, api.NewID())
	s.starting[id] = p
	return s.starter.Start(sessions.Start{ID: id, Command: command, Size: p.Feed.Size, Where: func() (string, string) {
		switch {
		case folder != "":
			return folder, ""
		case near != nil:
			if on, there := api.PathOf(s.folder(near)); on == machine {
				return there, near.ID
			}
			return "", near.ID
		case machine != "":
			return "", "" // its home
		}
		return s.folder(nil), ""
	}})
}

// folder is where a new session starts: where that of a pane is.
func (s *starts) folder(near *terminal.Pane) string {
	if near != nil {
		if p, ok := s.v.env.News().Process(near.ID); ok && p.CWD != "" {
			return api.PathOn(s.machine(near), p.CWD)
		}
	}
	return s.v.env.Folder()
}

// takeStarted gives a pane the session that was started for it, or closes it when
// there is none.
func (s *starts) takeStarted(started sessions.Started) tea.Cmd {
	pane := s.starting[started.ID]
	delete(s.starting, started.ID)
	t, l := s.v.tabs.Of(pane)
	if started.Err != nil {
		if t != nil {
			s.v.closeLeaf(t, l)
		}
		s.v.adopt()
		s.v.refreshList()
		return s.v.env.Say(panes.ErrorText(started.Err), true)
	}
	if t != nil {
		pane.ID = started.Process.ID
	}
	learn := s.v.env.Learn(started.Process) // or news that are older would take it away again
	if t == s.v.tabs.Current || t == s.v.tabs.Base() {
		s.v.relayout()
	}
	s.v.adopt()
	s.v.refreshList()
	return learn
}

// askCancel asks as if the session were there, because whoever presses the key
// answers without looking.
func (s *starts) askCancel(p *terminal.Pane) tea.Cmd {
	s.v.env.Ask(&overlay.Question{
		Title: "End the new session?",
		Lines: []string{"It is still being started."},
		Yes:   "end it",
		Then:  panes.Result(func() tea.Cmd { return s.cancel(p) }).Cmd,
	})
	return nil
}

// cancel closes the pane of a session that is not there yet, and ends it once it
// is.
func (s *starts) cancel(p *terminal.Pane) tea.Cmd {
	if p.ID != "" {
		return s.v.list.End(p.ID)
	}
	for id, pane := range s.starting {
		if pane != p {
			continue
		}
		delete(s.starting, id)
		cmd := s.starter.Cancel(id)
		if t, l := s.v.tabs.Of(p); t != nil {
			s.v.closeLeaf(t, l)
		}
		s.v.refreshList()
		return cmd
	}
	return nil
}

// finishStarts has the sessions that were asked for and are not there yet in
// their panes, if the engine gives them before ctx ends. Nothing else runs in the
// dashboard any more.
func (s *starts) finishStarts(ctx context.Context, task func(func())) {
	for _, started := range s.starter.Finish(ctx, task) {
		s.v.env.News().Learn(started.Process)
		s.starting[started.ID].ID = started.Process.ID
	}
}
