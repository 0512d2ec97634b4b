package ui

import (
	"context"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/sessions"
	"tandem/panes/terminal"
	"tandem/ui/layout"
)

// A launcher starts sessions. The pane appears at once, and keeps what is typed until its
// session exists.
type launcher struct {
	v        *sessionsView
	starter  *sessions.Starter
	starting map[string]*terminal.Pane // panes without a session yet, by the id it will have
}

// newSession starts a shell in a new tab.
func (s *launcher) newSession() tea.Cmd {
	near := s.v.currentPane()
	if machine := s.targetMachine(); machine != s.machineOf(near) {
		return s.startOn(machine, nil, nil, "")
	}
	return s.startCommand(near, nil, "")
}

// targetMachine returns the machine for new sessions: that of the list's cursor, else of
// the focused pane. Empty is this machine.
func (s *launcher) targetMachine() string {
	if s.v.shown && s.v.listFocused {
		return s.v.list.Machine()
	}
	return s.machineOf(s.v.currentPane())
}

// machineOf returns the machine of a pane's session, which may still be starting.
func (s *launcher) machineOf(p *terminal.Pane) string {
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

// startCommand starts a command, by default a shell, in a new tab. Without a folder it
// starts in that of near.
func (s *launcher) startCommand(near *terminal.Pane, command []string, folder string) tea.Cmd {
	machine := s.machineOf(near)
	if folder != "" {
		machine, folder = api.PathOf(folder)
	}
	return s.startOn(machine, near, command, folder)
}

// startOn does so on a given machine.
func (s *launcher) startOn(machine string, near *terminal.Pane, command []string, folder string) tea.Cmd {
	return s.startIn(s.openPane(), machine, near, command, folder)
}

// startInTree starts a command in a worktree and names the session after it, unless that
// name is in use.
func (s *launcher) startInTree(command []string, folder string) tea.Cmd {
	name := filepath.Base(folder)
	for _, p := range s.v.env.News().Processes {
		if p.Name == name && !p.State.Ended() {
			name = ""
		}
	}
	p, id := s.openPane(), api.NewID()
	s.starting[id] = p
	return s.starter.Start(sessions.Start{ID: id, Name: name, Command: command, Size: p.Feed.Size,
		Where: func() (string, string) { return folder, "" }})
}

// openPane shows an empty pane in a new tab.
func (s *launcher) openPane() *terminal.Pane {
	p := s.v.tabs.New("")
	s.v.showTab(s.v.tabs.AddTab(p), nil)
	s.v.env.ShowSessions()
	return p
}

// splitPane starts a shell beside or below the focused pane.
func (s *launcher) splitPane(x layout.Axis) tea.Cmd {
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
	s.v.tabs.Current.Root, created = leaf.SplitLeaf(x, p)
	s.v.showTab(s.v.tabs.Current, created)
	return s.startIn(p, s.machineOf(leaf.Pane), leaf.Pane, nil, "")
}

// startInPlace starts a shell in a pane whose program has exited.
func (s *launcher) startInPlace(ended *terminal.Pane) tea.Cmd {
	_, leaf := s.v.tabs.FindPane(ended)
	if leaf == nil {
		return nil
	}
	s.v.attachments.release(ended)
	s.v.hideSession(ended)
	leaf.Pane = s.v.tabs.New("")
	s.v.relayout()
	s.v.refreshList()
	return s.startIn(leaf.Pane, s.machineOf(ended), ended, nil, "")
}

// startIn starts a session in a pane that is already on the screen.
func (s *launcher) startIn(p *terminal.Pane, machine string, near *terminal.Pane, command []string, folder string) tea.Cmd {
	id := api.OnMachine(machine, api.NewID())
	s.starting[id] = p
	return s.starter.Start(sessions.Start{ID: id, Command: command, Size: p.Feed.Size, Where: func() (string, string) {
		switch {
		case folder != "":
			return folder, ""
		case near != nil:
			if on, there := api.PathOf(s.startFolder(near)); on == machine {
				return there, near.ID
			}
			return "", near.ID
		case machine != "":
			// An empty folder stands for the machine's home directory.
			return "", ""
		}
		return s.startFolder(nil), ""
	}})
}

// startFolder returns the folder of near's session, the default for a new one.
func (s *launcher) startFolder(near *terminal.Pane) string {
	if near != nil {
		if p, ok := s.v.env.News().Process(near.ID); ok && p.CWD != "" {
			return api.PathOn(s.machineOf(near), p.CWD)
		}
	}
	return s.v.env.Folder()
}

// handleStarted assigns a started session to its pane. If the start failed, it closes the
// pane and shows the error.
func (s *launcher) handleStarted(started sessions.StartResult) tea.Cmd {
	pane := s.starting[started.ID]
	delete(s.starting, started.ID)
	t, l := s.v.tabs.FindPane(pane)
	if started.Err != nil {
		if t != nil {
			s.v.closeLeaf(t, l)
		}
		s.v.adoptSessions()
		s.v.refreshList()
		return s.v.env.Say(panes.ErrorText(started.Err), true)
	}
	if t != nil {
		pane.ID = started.Process.ID
	}
	// Without this, older news would remove the pane again.
	learn := s.v.env.Learn(started.Process)
	if t == s.v.tabs.Current || t == s.v.tabs.BaseTab() {
		s.v.relayout()
	}
	s.v.adoptSessions()
	s.v.refreshList()
	return learn
}

// askCancel asks before a starting session is cancelled, with the same dialog and keys as
// for a running one: the user may press both keys without looking.
func (s *launcher) askCancel(p *terminal.Pane) tea.Cmd {
	s.v.env.Ask(&dialog.Question{
		Title: "Kill the new session?",
		Lines: []string{"It is still being started."},
		Yes:   "kill it",
		Then:  panes.Result(func() tea.Cmd { return s.cancelStart(p) }).Cmd,
	})
	return nil
}

// cancelStart closes the pane of a starting session. The session is ended once it exists.
func (s *launcher) cancelStart(p *terminal.Pane) tea.Cmd {
	if p.ID != "" {
		return s.v.list.KillSession(p.ID)
	}
	for id, pane := range s.starting {
		if pane != p {
			continue
		}
		delete(s.starting, id)
		cmd := s.starter.Cancel(id)
		if t, l := s.v.tabs.FindPane(p); t != nil {
			s.v.closeLeaf(t, l)
		}
		s.v.refreshList()
		return cmd
	}
	return nil
}

// finishStarts waits until ctx is done for the sessions still starting, and assigns them
// to their panes. It runs after the program has stopped.
func (s *launcher) finishStarts(ctx context.Context, task func(func())) {
	for _, started := range s.starter.Finish(ctx, task) {
		s.v.env.News().Learn(started.Process)
		s.starting[started.ID].ID = started.Process.ID
	}
}
