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

// A Launcher starts sessions. The pane of a new session appears at once, and keeps what is typed
// until the session exists.
type Launcher struct {
	env     Env
	tabs    *SharedTabs
	panes   *Panes
	focus   *focus
	list    *list.Pane
	adopt   func() // keeps the tabs in step with the sessions
	starter starter

	failure string // the error of the last start; "" if it succeeded
}

// NewSession starts a shell in a new tab.
func (s *Launcher) NewSession() tea.Cmd {
	near := s.panes.Pane(s.tabs.CurrentID())
	if machine := s.TargetMachine(); machine != s.tabs.CurrentMachine() {
		return s.StartOn(machine)
	}
	return s.StartNear(near, nil, "")
}

// TargetMachine returns the machine for new sessions: the machine under the list's cursor if the
// list has the keyboard, and otherwise the machine of the focused pane. "" is this machine.
func (s *Launcher) TargetMachine() string {
	if s.focus.shown && s.focus.inList {
		return s.list.Machine()
	}
	return s.tabs.CurrentMachine()
}

// machineOf returns the machine of a pane's session; "" for this machine or if p is nil.
func machineOf(p *terminal.Pane) string {
	if p == nil {
		return ""
	}
	machine, _ := api.MachineOf(p.ID)
	return machine
}

// newStart chooses an id for a new session on machine and makes its pane. The returned start has no
// command, so it starts a shell.
func (s *Launcher) newStart(machine string) sessionStart {
	id := api.OnMachine(machine, api.NewID())
	s.panes.Pane(id).Starting = true
	return sessionStart{ID: id}
}

// StartNear starts a command, by default a shell, in a new tab. If folder is "", it starts in the
// folder of near's session.
func (s *Launcher) StartNear(near *terminal.Pane, command []string, folder string) tea.Cmd {
	return s.startInTab(sessionStart{Command: command}, near, folder)
}

// StartNamed starts one of Tandem's own commands in a new tab. name becomes the name of the session
// unless it is in use.
func (s *Launcher) StartNamed(name string, command []string, folder string) tea.Cmd {
	return s.startInTab(sessionStart{Name: s.freeName(name), Command: command, Actor: api.Tandem}, nil, folder)
}

// startInTab starts a session in a new tab. If folder is "", it starts in the folder of near's
// session.
func (s *Launcher) startInTab(start sessionStart, near *terminal.Pane, folder string) tea.Cmd {
	machine := machineOf(near)
	if folder != "" {
		machine, folder = api.PathOf(folder)
	}
	start.ID = s.newStart(machine).ID
	s.openPane(start.ID)
	return s.startIn(start, near, folder)
}

// freeName returns name, or "" if a running session or process has it.
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

// StartInTree starts a command in a worktree, in a new tab, and shows that tab if show is set. It
// names the session after the worktree, unless that name is in use.
func (s *Launcher) StartInTree(command []string, folder string, show bool) tea.Cmd {
	name := s.freeName(filepath.Base(folder))
	start := s.newStart("")
	start.Name, start.Command, start.Where = name, command, func() (string, string) { return folder, "" }
	var say tea.Cmd
	if show {
		s.openPane(start.ID)
	} else {
		s.tabs.change(ownTab(start.ID, api.OwnEnd))
		s.focus.refresh()
		say = s.env.Say("started a session in "+folder, false)
	}
	return tea.Batch(say, s.starter.start(start))
}

// openPane shows a new tab with the pane of a session about to be started.
func (s *Launcher) openPane(id string) {
	s.focus.change(id, ownTab(id, api.OwnEnd))
	s.env.ShowSessions()
}

// splitPane starts a shell beside or below the focused pane.
func (s *Launcher) splitPane(x layout.Axis) tea.Cmd {
	if !s.focus.shown || s.tabs.Current == nil {
		return s.NewSession()
	}
	s.focus.endZoom()
	leaf := s.tabs.Current.Focus
	if !leaf.CanSplit(x) {
		return s.env.Say("no room to split this pane", true)
	}
	near := s.panes.Pane(leaf.ID)
	start := s.newStart(machineOf(near))
	s.focus.change(start.ID, api.LayoutChange{Do: api.LayoutArrange, Nodes: leaf.SplitWith(x, start.ID), At: leaf.ID})
	return s.startIn(start, near, "")
}

// startIn starts a session whose pane is already in the layout. If folder is "", it starts in the
// folder of near's session; near may be nil.
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
			// An empty folder means the machine's home directory.
			return "", ""
		}
		return s.FolderOf(nil), ""
	}
	return s.starter.start(start)
}

// FolderOf returns the folder of near's session, the default for a new session. If near is nil or
// its folder is unknown, it returns the dashboard's.
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
	if started.Err != nil {
		s.dropPane(started.ID)
		s.failure = panes.ErrorText(started.Err)
		return s.env.Say(s.failure, true)
	}
	s.failure = ""
	s.panes.Pane(started.ID).Starting = false
	// Add the process of the reply to the news: otherwise older news, which does not have it, would remove
	// the pane.
	refresh := s.env.AddProcesses(started.Process)
	if t, _ := s.tabs.FindSession(started.ID); t != nil {
		s.panes.attach(started.ID) // keys may wait for it although its tab is hidden by now
		if t == s.tabs.Current || t == s.tabs.BaseTab() {
			s.focus.relayout()
		}
	}
	s.adopt()
	return refresh
}

// dropPane removes the pane of a session after its start has failed or was cancelled.
func (s *Launcher) dropPane(id string) {
	s.panes.forget(id)
	s.tabs.change(api.LayoutChange{Do: api.LayoutClose, ID: id})
	s.adopt()
}

// askCancel asks before it cancels a starting session. The dialog and the keys are those for a
// running session, because the user may press both keys without looking.
func (s *Launcher) askCancel(id string) tea.Cmd {
	s.env.Ask(&dialog.Question{
		Title: "Kill the new session?",
		Lines: []string{"It is still being started."},
		Yes:   "kill it",
		Then:  func() tea.Cmd { return s.cancelStart(id) },
	})
	return nil
}

// cancelStart closes the pane of a starting session. If the session is started nevertheless, it is
// killed.
func (s *Launcher) cancelStart(id string) tea.Cmd {
	start := s.starter.find(id)
	if start == nil {
		if t, _ := s.tabs.FindSession(id); t != nil {
			return s.list.KillSession(id)
		}
		return nil
	}
	cmd := s.starter.cancel(start)
	s.dropPane(id)
	return cmd
}

// finishStarts waits for the sessions still starting, at most until ctx is done, and assigns them
// to their panes. It is called after the dashboard's event loop has stopped.
func (s *Launcher) finishStarts(ctx context.Context, task func(func())) {
	for _, started := range s.starter.finish(ctx, task) {
		s.env.News().AddProcess(started.Process)
		s.panes.Pane(started.ID).Starting = false
	}
}
