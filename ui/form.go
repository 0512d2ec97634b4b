package ui

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/sessions"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// A processForm is the form that starts a process, or a session in a new worktree.
type processForm struct{ m *model }

// A formAnswer is the outcome of a form.
type formAnswer struct {
	process api.Process
	tree    api.Worktree
	field   int // that an error is about
}

func (s *processForm) show() tea.Cmd {
	f := overlay.NewStartForm(s.folder())
	f.Start = func(in overlay.StartInput) tea.Cmd { return s.start(f, in) }
	return s.open(f)
}

// showTree asks for a session in a new worktree.
func (s *processForm) showTree() tea.Cmd {
	starts := &s.m.sessions.starts
	if machine := starts.target(); machine != "" {
		return s.m.notices.say("the dashboard makes worktrees on this machine alone, not on "+machine, true)
	}
	f := overlay.NewTreeForm(widget.ShortPath(sessions.RepositoryNear(starts.folder(s.m.sessions.currentPane())), s.m.o.Home))
	f.Start = func(in overlay.StartInput) tea.Cmd { return s.startInTree(f, in) }
	return s.open(f)
}

func (s *processForm) open(f *overlay.StartForm) tea.Cmd {
	f.Home = s.m.o.Home
	f.InShell = func(line string) bool {
		words, err := panes.ParseCommand(line)
		return err == nil && words[0] == "/bin/sh"
	}
	s.m.dialog.open = f
	return nil
}

// folder is where a process begins unless somebody says otherwise: on the machine of
// what is under the cursor, or of the pane that has the keyboard or had it last.
func (s *processForm) folder() string {
	machine, pane := s.m.sessions.starts.target(), s.m.sessions.currentPane()
	if p, ok := s.m.processes.Selected(); ok && s.m.view == viewProcesses {
		machine, _ = api.MachineOf(p.ID)
	}
	switch {
	case machine == s.m.sessions.starts.machine(pane):
		return widget.ShortPath(s.m.sessions.starts.folder(pane), s.m.o.Home)
	case machine == "":
		return widget.ShortPath(s.m.o.CWD, s.m.o.Home)
	}
	return machine + ":" // its home
}

// place is the machine that a folder was typed for, as in box:/srv, and the folder
// there.
func (s *processForm) place(typed string) (machine, folder string) {
	if name, there, ok := strings.Cut(typed, ":"); ok && s.m.news.Machine(name) != nil {
		return name, there
	}
	return "", widget.ExpandHome(typed, s.m.o.Home)
}

// start reads what was typed into a form and asks the engine.
func (s *processForm) start(f *overlay.StartForm, typed overlay.StartInput) tea.Cmd {
	machine, folder := s.place(typed.Folder)
	wanted, field, err := panes.ParseStartForm(typed, folder, s.m.o.Home)
	if err == nil && machine != "" {
		wanted.Process.ID = api.OnMachine(machine, api.NewID())
		if wanted.Tree != nil {
			field, err = overlay.FieldWorktree, errors.New("the dashboard makes them on this machine alone")
		}
	}
	if err != nil {
		f.Fail(field, err.Error())
		return nil
	}
	return s.submit(f, func(ctx context.Context, e panes.Engine) (formAnswer, error) {
		p, field, err := wanted.Start(ctx, e)
		return formAnswer{process: p, field: field}, err
	}, func(a formAnswer) tea.Cmd {
		cmd := s.m.learn(a.process)
		s.m.processes.Select(a.process.ID)
		return tea.Batch(cmd, s.m.notices.say("started "+widget.FullName(&a.process), false))
	})
}

// startInTree does that for a session in a new worktree, which is started when that is
// there.
func (s *processForm) startInTree(f *overlay.StartForm, typed overlay.StartInput) tea.Cmd {
	in, command, field, err := panes.ParseTreeForm(typed, s.m.o.Home)
	if err != nil {
		f.Fail(field, err.Error())
		return nil
	}
	return s.submit(f, func(ctx context.Context, e panes.Engine) (formAnswer, error) {
		tree, err := api.WorktreeAdd.Call(ctx, e, in)
		return formAnswer{tree: tree, field: overlay.FieldWorktree}, err
	}, func(a formAnswer) tea.Cmd { return s.m.sessions.starts.startInTree(command, a.tree.Path) })
}

// submit asks the engine for what was typed into a form, and closes that with the answer.
// The user may cancel the waiting: the form is closed, and what it asked for goes on.
func (s *processForm) submit(f *overlay.StartForm, ask func(context.Context, panes.Engine) (formAnswer, error), then func(formAnswer) tea.Cmd) tea.Cmd {
	e := env{s.m}
	waiting := e.Await(panes.Pending{
		Ready:  func() bool { return !f.Busy() || !e.Shows(f) },
		Then:   func() tea.Cmd { return nil },
		Cancel: e.Close,
	})
	return tea.Batch(waiting, panes.Ask(s.m.ctx, e, ask, func(a formAnswer, err error) tea.Cmd {
		switch open := e.Shows(f); {
		case err != nil && open:
			s.m.input.queue.Drain() // what was typed was not for the form
			f.Fail(a.field, panes.ErrorText(err))
			return nil
		case err != nil:
			return s.m.notices.say(panes.ErrorText(err), true)
		case open:
			e.Close()
		}
		return then(a)
	}))
}
