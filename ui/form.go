package ui

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/processes"
	"tandem/panes/sessions"
	"tandem/panes/states"
)

// A processForm opens the forms that start a process, or a session in a new worktree.
type processForm struct {
	env         panes.Env
	sessions    *sessionsView
	processes   *processes.Pane
	onProcesses func() bool // the Processes view is on the screen
	dropTyped   func()      // drops the queued input
}

// A formAnswer is the engine's answer to a submitted form.
type formAnswer struct {
	process api.Process
	tree    api.Worktree
	field   int // index of the invalid field, if the engine reported an error
}

func (s *processForm) showStart() tea.Cmd {
	f := dialog.NewStartForm(s.defaultFolder())
	f.Start = func(in dialog.StartInput) tea.Cmd { return s.startProcess(f, in) }
	return s.showForm(f)
}

// showTree opens the form for a session in a new worktree.
func (s *processForm) showTree() tea.Cmd {
	starts := &s.sessions.launcher
	if machine := starts.targetMachine(); machine != "" {
		return s.env.Say("the dashboard creates worktrees only on this machine, not on "+machine, true)
	}
	f := dialog.NewTreeForm(text.ShortPath(sessions.RepositoryNear(starts.startFolder(s.sessions.currentPane())), s.env.Home()))
	f.Start = func(in dialog.StartInput) tea.Cmd { return s.startWorktree(f, in) }
	return s.showForm(f)
}

func (s *processForm) showForm(f *dialog.StartForm) tea.Cmd {
	f.Home = s.env.Home()
	f.InShell = func(line string) bool {
		words, err := panes.ParseCommand(line)
		return err == nil && words[0] == "/bin/sh"
	}
	s.env.Ask(f)
	return nil
}

// defaultFolder returns the folder proposed for a new process. It is on the machine of the
// selected process, or of the focused pane.
func (s *processForm) defaultFolder() string {
	machine, pane := s.sessions.launcher.targetMachine(), s.sessions.currentPane()
	if p, ok := s.processes.Selected(); ok && s.onProcesses() {
		machine, _ = api.MachineOf(p.ID)
	}
	switch {
	case machine == s.sessions.launcher.machineOf(pane):
		return text.ShortPath(s.sessions.launcher.startFolder(pane), s.env.Home())
	case machine == "":
		return text.ShortPath(s.env.Folder(), s.env.Home())
	}
	// An empty folder stands for the machine's home directory.
	return machine + ":"
}

// splitMachine splits a typed folder such as box:/srv into a known machine and a path.
// machine is empty for this machine.
func (s *processForm) splitMachine(typed string) (machine, folder string) {
	if name, there, ok := strings.Cut(typed, ":"); ok && s.env.News().Machine(name) != nil {
		return name, there
	}
	return "", text.ExpandHome(typed, s.env.Home())
}

// startProcess validates the form's input and starts the process.
func (s *processForm) startProcess(f *dialog.StartForm, typed dialog.StartInput) tea.Cmd {
	machine, folder := s.splitMachine(typed.Folder)
	wanted, field, err := panes.ParseStartForm(typed, folder, s.env.Home())
	if err == nil && machine != "" {
		wanted.Process.ID = api.OnMachine(machine, api.NewID())
		if wanted.Tree != nil {
			field, err = dialog.FieldWorktree, errors.New("the dashboard creates them only on this machine")
		}
	}
	if err != nil {
		f.Fail(field, err.Error())
		return nil
	}
	return s.submitForm(f, func(ctx context.Context, e panes.Engine) (formAnswer, error) {
		p, field, err := wanted.Start(ctx, e)
		return formAnswer{process: p, field: field}, err
	}, func(a formAnswer) tea.Cmd {
		cmd := s.env.Learn(a.process)
		s.processes.Select(a.process.ID)
		return tea.Batch(cmd, s.env.Say("started "+states.FullName(&a.process), false))
	})
}

// startWorktree validates the form's input, creates the worktree, and then starts a
// session in it.
func (s *processForm) startWorktree(f *dialog.StartForm, typed dialog.StartInput) tea.Cmd {
	in, command, field, err := panes.ParseTreeForm(typed, s.env.Home())
	if err != nil {
		f.Fail(field, err.Error())
		return nil
	}
	return s.submitForm(f, func(ctx context.Context, e panes.Engine) (formAnswer, error) {
		tree, err := api.WorktreeAdd.Call(ctx, e, in)
		return formAnswer{tree: tree, field: dialog.FieldWorktree}, err
	}, func(a formAnswer) tea.Cmd { return s.sessions.launcher.startInTree(command, a.tree.Path) })
}

// submitForm sends a form's input to the engine and closes the form on success. If the
// user cancels meanwhile, only the form is closed: the request continues, and its result
// is reported in the status bar.
func (s *processForm) submitForm(f *dialog.StartForm, ask func(context.Context, panes.Engine) (formAnswer, error), then func(formAnswer) tea.Cmd) tea.Cmd {
	waiting := s.env.Await(panes.Pending{
		Ready:  func() bool { return !f.Traits().Busy || !s.env.Shows(f) },
		Then:   func() tea.Cmd { return nil },
		Cancel: s.env.Close,
	})
	return tea.Batch(waiting, panes.Ask(s.env.Context(), s.env, ask, func(a formAnswer, err error) tea.Cmd {
		switch open := s.env.Shows(f); {
		case err != nil && open:
			// Keys typed during the request were meant for whatever follows the form, not for
			// a field with an error.
			s.dropTyped()
			f.Fail(a.field, panes.ErrorText(err))
			return nil
		case err != nil:
			return s.env.Say(panes.ErrorText(err), true)
		case open:
			s.env.Close()
		}
		return then(a)
	}))
}
