package sessions

import (
	"context"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/sessions/layout"
	"tandem/panes/sessions/list"
	"tandem/panes/terminal"
)

// A Launcher starts sessions. The pane appears at once, and keeps what is typed until its
// session exists.
type Launcher struct {
	env         Env
	tabs        *Tabs
	list        *list.Pane
	switcher    *switcher
	attachments *attachments
	sessionTabs *sessionTabs
	starter     *starter
}

// NewSession starts a shell in a new tab.
func (s *Launcher) NewSession() tea.Cmd {
	near := s.tabs.CurrentPane()
	if machine := s.TargetMachine(); machine != s.tabs.CurrentMachine() {
		return s.StartOn(machine)
	}
	return s.StartNear(near, nil, "")
}

// TargetMachine returns the machine for new sessions: that of the list's cursor, else of
// the focused pane. Empty is this machine.
func (s *Launcher) TargetMachine() string {
	if s.tabs.shown && s.tabs.inList {
		return s.list.Machine()
	}
	return s.tabs.CurrentMachine()
}

// machineOf returns the machine of a pane's session; "" is this machine, also without a pane.
func machineOf(p *terminal.Pane) string {
	if p == nil {
		return ""
	}
	machine, _ := api.MachineOf(p.ID)
	return machine
}

// newStart chooses the id of a shell to be started on a machine, and makes its pane.
func (s *Launcher) newStart(machine string) sessionStart {
	id := api.OnMachine(machine, api.NewID())
	s.tabs.Pane(id).Starting = true
	return sessionStart{ID: id}
}

// StartNear starts a command, by default a shell, in a new tab. Without a folder it
// starts in that of near.
func (s *Launcher) StartNear(near *terminal.Pane, command []string, folder string) tea.Cmd {
	return s.startInTab(sessionStart{Command: command}, near, folder)
}

// StartNamed starts a command of Tandem itself in a new tab, under a name unless that is in use or "".
func (s *Launcher) StartNamed(name string, command []string, folder string) tea.Cmd {
	return s.startInTab(sessionStart{Name: s.freeName(name), Command: command, Actor: api.Tandem}, nil, folder)
}

// startInTab starts a session in a new tab. Without a folder it starts in that of near.
func (s *Launcher) startInTab(start sessionStart, near *terminal.Pane, folder string) tea.Cmd {
	machine := machineOf(near)
	if folder != "" {
		machine, folder = api.PathOf(folder)
	}
	start.ID = s.newStart(machine).ID
	s.openPane(start.ID)
	return s.startIn(start, near, folder)
}

// freeName returns name, or "" if a session or process that has not ended is called that.
func (s *Launcher) freeName(name string) string {
	for _, p := range s.env.News().Processes {
		if p.Name == name && !p.State.Ended() {
			return ""
		}
	}
	return name
}

// StartOn starts a shell in a new tab, on a given machine.
func (s *Launcher) StartOn(machine string) tea.Cmd {
	start := s.newStart(machine)
	s.openPane(start.ID)
	return s.startIn(start, nil, "")
}

// StartInTree starts a command in a worktree, in a tab that is shown or not. It names the session after
// the worktree, unless that name is in use.
func (s *Launcher) StartInTree(command []string, folder string, show bool) tea.Cmd {
	name := s.freeName(filepath.Base(folder))
	start := s.newStart("")
	start.Name, start.Command, start.Where = name, command, func() (string, string) { return folder, "" }
	var say tea.Cmd
	if show {
		s.openPane(start.ID)
	} else {
		s.tabs.AddTab(start.ID)
		s.switcher.refreshList()
		say = s.env.Say("started a session in "+folder, false)
	}
	return tea.Batch(say, s.starter.start(start))
}

// openPane shows the pane of a session to be started in a new tab.
func (s *Launcher) openPane(id string) {
	s.switcher.showTab(s.tabs.AddTab(id), nil)
	s.env.ShowSessions()
}

// splitPane starts a shell beside or below the focused pane.
func (s *Launcher) splitPane(x layout.Axis) tea.Cmd {
	if !s.tabs.shown || s.tabs.Current == nil {
		return s.NewSession()
	}
	s.switcher.endZoom()
	leaf := s.tabs.Current.Focus
	if !leaf.CanSplit(x) {
		return s.env.Say("no room to split this pane", true)
	}
	near := s.tabs.Pane(leaf.ID)
	start := s.newStart(machineOf(near))
	var created *layout.Node
	s.tabs.Current.Root, created = leaf.SplitLeaf(x, start.ID)
	s.switcher.showTab(s.tabs.Current, created)
	return s.startIn(start, near, "")
}

// startInPlace starts a shell in a pane whose program has exited.
func (s *Launcher) startInPlace(ended *terminal.Pane) tea.Cmd {
	_, leaf := s.tabs.FindSession(ended.ID)
	if leaf == nil {
		return nil
	}
	s.attachments.release(ended.ID)
	s.sessionTabs.hide(ended)
	start := s.newStart(machineOf(ended))
	leaf.ID = start.ID
	s.switcher.relayout()
	s.switcher.refreshList()
	return s.startIn(start, ended, "")
}

// startIn starts a session in a pane that is already on the screen, without a folder in that of near.
func (s *Launcher) startIn(start sessionStart, near *terminal.Pane, folder string) tea.Cmd {
	machine := start.machine()
	start.Where = func() (string, string) {
		switch {
		case folder != "":
			return folder, ""
		case near != nil:
			if on, there := api.PathOf(s.FolderOf(near)); on == machine {
				return there, near.ID
			}
			return "", near.ID
		case machine != "":
			// An empty folder stands for the machine's home directory.
			return "", ""
		}
		return s.FolderOf(nil), ""
	}
	return s.starter.start(start)
}

// FolderOf returns the folder of near's session, the default for a new one.
func (s *Launcher) FolderOf(near *terminal.Pane) string {
	if near != nil {
		if p, ok := s.env.News().Process(near.ID); ok && p.CWD != "" {
			return api.PathOn(machineOf(near), p.CWD)
		}
	}
	return s.env.Folder()
}

// handleStarted assigns a started session to its pane. If the start failed, it closes the
// pane and shows the error.
func (s *Launcher) handleStarted(started startResult) tea.Cmd {
	t, l := s.tabs.FindSession(started.ID)
	if started.Err != nil {
		if t != nil {
			s.switcher.closeLeaf(t, l)
		}
		delete(s.tabs.panes, started.ID)
		s.sessionTabs.adopt()
		s.switcher.refreshList()
		s.tabs.failure = panes.ErrorText(started.Err)
		return s.env.Say(s.tabs.failure, true)
	}
	s.tabs.failure = ""
	s.tabs.Pane(started.ID).Starting = false
	if t != nil {
		s.attachments.attach(started.ID) // keys may wait for it although its tab is hidden by now
	}
	// Without this, older news would remove the pane again.
	learn := s.env.Learn(started.Process)
	if t == s.tabs.Current || t == s.tabs.BaseTab() {
		s.switcher.relayout()
	}
	s.sessionTabs.adopt()
	s.switcher.refreshList()
	s.sessionTabs.layoutSync.finishOpening()
	return learn
}

// askCancel asks before a starting session is cancelled, with the same dialog and keys as
// for a running one: the user may press both keys without looking.
func (s *Launcher) askCancel(id string) tea.Cmd {
	s.env.Ask(&dialog.Question{
		Title: "Kill the new session?",
		Lines: []string{"It is still being started."},
		Yes:   "kill it",
		Then:  func() tea.Cmd { return s.cancelStart(id) },
	})
	return nil
}

// cancelStart closes the pane of a starting session. The session is ended once it exists.
func (s *Launcher) cancelStart(id string) tea.Cmd {
	t, l := s.tabs.FindSession(id)
	start := s.starter.find(id)
	switch {
	case start == nil && t != nil:
		return s.list.KillSession(id)
	case start == nil:
		return nil
	}
	cmd := s.starter.cancel(start)
	if t != nil {
		s.switcher.closeLeaf(t, l)
	}
	delete(s.tabs.panes, id)
	s.switcher.refreshList()
	return cmd
}

// finishStarts waits until ctx is done for the sessions still starting, and assigns them
// to their panes. It runs after the program has stopped.
func (s *Launcher) finishStarts(ctx context.Context, task func(func())) {
	for _, started := range s.starter.finish(ctx, task) {
		s.env.News().Learn(started.Process)
		s.tabs.Pane(started.ID).Starting = false
	}
}
