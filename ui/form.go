package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/kit/text"
	"tandem/panes/processes"
	"tandem/panes/sessions"
	"tandem/panes/sessions/list"
	"tandem/panes/startform"
)

// A processForm opens the forms that start a process, or a session in a new worktree.
type processForm struct {
	starter     startform.Starter
	sessions    *sessions.View
	processes   *processes.Pane
	onProcesses func() bool // the Processes view is on the screen
}

func (s *processForm) showStart() tea.Cmd {
	s.starter.AskProcess(s.defaultFolder())
	return nil
}

// showTree opens the form for a session in a new worktree.
func (s *processForm) showTree() tea.Cmd {
	starts := &s.sessions.Launcher
	if machine := starts.TargetMachine(); machine != "" {
		return s.starter.Env.Say("the dashboard creates worktrees only on this machine, not on "+machine, true)
	}
	s.starter.AskWorktree(text.ShortPath(list.RepositoryNear(starts.FolderOf(s.sessions.CurrentPane())), s.starter.Env.Home()))
	return nil
}

// defaultFolder returns the folder proposed for a new process: one on the machine of the selected
// process, or of the focused pane.
func (s *processForm) defaultFolder() string {
	machine, pane := s.sessions.Launcher.TargetMachine(), s.sessions.CurrentPane()
	if p, ok := s.processes.Selected(); ok && s.onProcesses() {
		machine, _ = api.MachineOf(p.ID)
	}
	switch {
	case machine == s.sessions.Tabs.CurrentMachine():
		return text.ShortPath(s.sessions.Launcher.FolderOf(pane), s.starter.Env.Home())
	case machine == "":
		return text.ShortPath(s.starter.Env.Folder(), s.starter.Env.Home())
	}
	// An empty folder means the machine's home directory.
	return machine + ":"
}
