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
	if machine := s.TargetMachine(); machine != s.MachineOf(near) {
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
	return s.MachineOf(s.tabs.CurrentPane())
}

// MachineOf returns the machine of a pane's session, which may still be starting.
func (s *Launcher) MachineOf(p *terminal.Pane) string { return s.starter.machineOf(p) }

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
	machine := s.MachineOf(near)
	if folder != "" {
		machine, folder = api.PathOf(folder)
	}
	start.Pane = s.openPane()
	return s.startIn(start, machine, near, folder)
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
	return s.startIn(sessionStart{Pane: s.openPane()}, machine, nil, "")
}

// StartInTree starts a command in a worktree, in a tab that is shown or not. It names the session after
// the worktree, unless that name is in use.
func (s *Launcher) StartInTree(command []string, folder string, show bool) tea.Cmd {
	name := s.freeName(filepath.Base(folder))
	var pane *terminal.Pane
	var say tea.Cmd
	if show {
		pane = s.openPane()
	} else {
		pane = s.tabs.New("")
		s.tabs.AddTab(pane)
		s.switcher.refreshList()
		say = s.env.Say("started a session in "+folder, false)
	}
	return tea.Batch(say, s.starter.start(sessionStart{ID: api.NewID(), Name: name, Command: command, Pane: pane,
		Where: func() (string, string) { return folder, "" }}))
}

// openPane shows an empty pane in a new tab.
func (s *Launcher) openPane() *terminal.Pane {
	p := s.tabs.New("")
	s.switcher.showTab(s.tabs.AddTab(p), nil)
	s.env.ShowSessions()
	return p
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
	p := s.tabs.New("")
	var created *layout.Node
	s.tabs.Current.Root, created = leaf.SplitLeaf(x, p)
	s.switcher.showTab(s.tabs.Current, created)
	return s.startIn(sessionStart{Pane: p}, s.MachineOf(leaf.Pane), leaf.Pane, "")
}

// startInPlace starts a shell in a pane whose program has exited.
func (s *Launcher) startInPlace(ended *terminal.Pane) tea.Cmd {
	_, leaf := s.tabs.FindPane(ended)
	if leaf == nil {
		return nil
	}
	s.attachments.release(ended)
	s.sessionTabs.hide(ended)
	leaf.Pane = s.tabs.New("")
	s.switcher.relayout()
	s.switcher.refreshList()
	return s.startIn(sessionStart{Pane: leaf.Pane}, s.MachineOf(ended), ended, "")
}

// startIn starts a session on a machine, in a pane that is already on the screen.
func (s *Launcher) startIn(start sessionStart, machine string, near *terminal.Pane, folder string) tea.Cmd {
	start.ID = api.OnMachine(machine, api.NewID())
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
			return api.PathOn(s.MachineOf(near), p.CWD)
		}
	}
	return s.env.Folder()
}

// handleStarted assigns a started session to its pane. If the start failed, it closes the
// pane and shows the error.
func (s *Launcher) handleStarted(started startResult) tea.Cmd {
	t, l := s.tabs.FindPane(started.Pane)
	if started.Err != nil {
		if t != nil {
			s.switcher.closeLeaf(t, l)
		}
		s.sessionTabs.adopt()
		s.switcher.refreshList()
		s.tabs.failure = panes.ErrorText(started.Err)
		return s.env.Say(s.tabs.failure, true)
	}
	s.tabs.failure = ""
	if t != nil {
		started.Pane.ID = started.Process.ID
		s.tabs.panes[started.Pane.ID] = started.Pane
		s.attachments.attach(started.Pane) // keys may wait for it although its tab is hidden by now
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
func (s *Launcher) askCancel(p *terminal.Pane) tea.Cmd {
	s.env.Ask(&dialog.Question{
		Title: "Kill the new session?",
		Lines: []string{"It is still being started."},
		Yes:   "kill it",
		Then:  func() tea.Cmd { return s.cancelStart(p) },
	})
	return nil
}

// cancelStart closes the pane of a starting session. The session is ended once it exists.
func (s *Launcher) cancelStart(p *terminal.Pane) tea.Cmd {
	if p.ID != "" {
		return s.list.KillSession(p.ID)
	}
	start := s.starter.findPane(p)
	if start == nil {
		return nil
	}
	cmd := s.starter.cancel(start)
	if t, l := s.tabs.FindPane(p); t != nil {
		s.switcher.closeLeaf(t, l)
	}
	s.switcher.refreshList()
	return cmd
}

// finishStarts waits until ctx is done for the sessions still starting, and assigns them
// to their panes. It runs after the program has stopped.
func (s *Launcher) finishStarts(ctx context.Context, task func(func())) {
	for _, started := range s.starter.finish(ctx, task) {
		s.env.News().Learn(started.Process)
		started.Pane.ID = started.Process.ID
	}
}
