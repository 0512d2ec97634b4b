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
	"tandem/panes/sessions"
	"tandem/panes/states"
)

// A processForm opens the forms that start a process, or a session in a new worktree.
type processForm struct{ m *model }

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
	starts := &s.m.sessions.launcher
	if machine := starts.targetMachine(); machine != "" {
		return s.m.notices.showToast("the dashboard creates worktrees only on this machine, not on "+machine, true)
	}
	f := dialog.NewTreeForm(text.ShortPath(sessions.RepositoryNear(starts.startFolder(s.m.sessions.currentPane())), s.m.o.Home))
	f.Start = func(in dialog.StartInput) tea.Cmd { return s.startWorktree(f, in) }
	return s.showForm(f)
}

func (s *processForm) showForm(f *dialog.StartForm) tea.Cmd {
	f.Home = s.m.o.Home
	f.InShell = func(line string) bool {
		words, err := panes.ParseCommand(line)
		return err == nil && words[0] == "/bin/sh"
	}
	s.m.dialog.open = f
	return nil
}

// defaultFolder returns the folder proposed for a new process. It is on the machine of the
// selected process, or of the focused pane.
func (s *processForm) defaultFolder() string {
	machine, pane := s.m.sessions.launcher.targetMachine(), s.m.sessions.currentPane()
	if p, ok := s.m.processes.Selected(); ok && s.m.view == viewProcesses {
		machine, _ = api.MachineOf(p.ID)
	}
	switch {
	case machine == s.m.sessions.launcher.machineOf(pane):
		return text.ShortPath(s.m.sessions.launcher.startFolder(pane), s.m.o.Home)
	case machine == "":
		return text.ShortPath(s.m.o.CWD, s.m.o.Home)
	}
	// An empty folder stands for the machine's home directory.
	return machine + ":"
}

// splitMachine splits a typed folder such as box:/srv into a known machine and a path.
// machine is empty for this machine.
func (s *processForm) splitMachine(typed string) (machine, folder string) {
	if name, there, ok := strings.Cut(typed, ":"); ok && s.m.news.Machine(name) != nil {
		return name, there
	}
	return "", text.ExpandHome(typed, s.m.o.Home)
}

// startProcess validates the form's input and starts the process.
func (s *processForm) startProcess(f *dialog.StartForm, typed dialog.StartInput) tea.Cmd {
	machine, folder := s.splitMachine(typed.Folder)
	wanted, field, err := panes.ParseStartForm(typed, folder, s.m.o.Home)
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
		cmd := s.m.learnProcesses(a.process)
		s.m.processes.Select(a.process.ID)
		return tea.Batch(cmd, s.m.notices.showToast("started "+states.FullName(&a.process), false))
	})
}

// startWorktree validates the form's input, creates the worktree, and then starts a
// session in it.
func (s *processForm) startWorktree(f *dialog.StartForm, typed dialog.StartInput) tea.Cmd {
	in, command, field, err := panes.ParseTreeForm(typed, s.m.o.Home)
	if err != nil {
		f.Fail(field, err.Error())
		return nil
	}
	return s.submitForm(f, func(ctx context.Context, e panes.Engine) (formAnswer, error) {
		tree, err := api.WorktreeAdd.Call(ctx, e, in)
		return formAnswer{tree: tree, field: dialog.FieldWorktree}, err
	}, func(a formAnswer) tea.Cmd { return s.m.sessions.launcher.startInTree(command, a.tree.Path) })
}

// submitForm sends a form's input to the engine and closes the form on success. If the
// user cancels meanwhile, only the form is closed: the request continues, and its result
// is reported in the status bar.
func (s *processForm) submitForm(f *dialog.StartForm, ask func(context.Context, panes.Engine) (formAnswer, error), then func(formAnswer) tea.Cmd) tea.Cmd {
	e := env{s.m}
	waiting := e.Await(panes.Pending{
		Ready:  func() bool { return !f.Traits().Busy || !e.Shows(f) },
		Then:   func() tea.Cmd { return nil },
		Cancel: e.Close,
	})
	return tea.Batch(waiting, panes.Ask(s.m.ctx, e, ask, func(a formAnswer, err error) tea.Cmd {
		switch open := e.Shows(f); {
		case err != nil && open:
			// Keys typed during the request were meant for whatever follows the form, not for
			// a field with an error.
			s.m.input.queue.Drain()
			f.Fail(a.field, panes.ErrorText(err))
			return nil
		case err != nil:
			return s.m.notices.showToast(panes.ErrorText(err), true)
		case open:
			e.Close()
		}
		return then(a)
	}))
}
