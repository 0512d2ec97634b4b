package ui

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/sessions"
	"tandem/panes/widget"
	"tandem/ui/overlay"
	"tandem/ui/screen"
)

// A processForm is the form that starts a process, while it is open.
type processForm struct {
	m     *model
	ahead []screen.Event // typed while it waits, for what comes then
}

// formMsg is the outcome of a form: the process, or what is wrong with a field.
type formMsg struct {
	form    *overlay.StartForm
	process api.Process
	command []string      // of a session that is to be started in tree
	tree    *api.Worktree // nil for a process
	field   int
	err     error
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
		words, err := panes.CommandOf(line)
		return err == nil && words[0] == "/bin/sh"
	}
	s.m.dialog.open, s.ahead = f, nil
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
	wanted, field, err := panes.ReadStart(typed, folder, s.m.o.Home)
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
	return s.m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		p, field, err := wanted.Start(ctx, e)
		return formMsg{form: f, process: p, field: field, err: err}
	}, func(err error) tea.Msg { return formMsg{form: f, err: err} })
}

// startInTree does that for a session in a new worktree, which is started when that is
// there.
func (s *processForm) startInTree(f *overlay.StartForm, typed overlay.StartInput) tea.Cmd {
	in, command, field, err := panes.ReadTree(typed, s.m.o.Home)
	if err != nil {
		f.Fail(field, err.Error())
		return nil
	}
	return s.m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		tree, err := api.WorktreeAdd.Call(ctx, e, in)
		return formMsg{form: f, tree: &tree, command: command, field: overlay.FieldWorktree, err: err}
	}, func(err error) tea.Msg { return formMsg{form: f, err: err} })
}

// waiting is the form that waits for the engine; nil without one.
func (s *processForm) waiting() *overlay.StartForm {
	if f, ok := s.m.dialog.open.(*overlay.StartForm); ok && f.Busy() {
		return f
	}
	return nil
}

// hold keeps back what is typed while a form waits for the engine: it is
// for what comes then. A single esc, two of them after something else, or one
// without an engine, close the form.
func (s *processForm) hold(f *overlay.StartForm, events []screen.Event) (held bool) {
	esc := func(e screen.Event) bool {
		return e.Kind == keys.EventKey && s.m.o.Bindings.Is(e.Key, keymap.ScopeForm, keymap.Cancel)
	}
	for i, e := range events {
		n := len(s.ahead)
		closes := esc(e) && (n == 0 || esc(s.ahead[n-1]) || !s.m.news.Connected)
		if closes || e.Kind != keys.EventKey && e.Kind != keys.EventPaste {
			if i > 0 {
				s.m.input.queue.Unread(events[i:])
				s.m.input.queue.Notify()
			}
			return i > 0
		}
		s.ahead = append(s.ahead, e)
		f.Held = len(s.ahead)
	}
	return true
}

// answered takes in the engine's answer, then what was typed before it came.
func (s *processForm) answered(msg formMsg) tea.Cmd {
	open := s.m.dialog.open == overlay.Overlay(msg.form)
	ahead := s.ahead
	if open {
		s.ahead, msg.form.Held = nil, 0
	}
	switch {
	case msg.err != nil && !open:
		return s.m.notices.say(panes.ErrorText(msg.err), true)
	case msg.err != nil: // what was typed was not for the form
		msg.form.Fail(msg.field, panes.ErrorText(msg.err))
		return nil
	case open:
		s.m.dialog.open = nil
	}
	var cmd tea.Cmd
	if msg.tree != nil {
		cmd = s.m.sessions.starts.startInTree(msg.command, msg.tree.Path)
	} else {
		cmd = s.m.learn(msg.process)
		s.m.processes.Select(msg.process.ID)
		cmd = tea.Batch(cmd, s.m.notices.say("started "+widget.FullName(&msg.process), false))
	}
	if open {
		cmd = tea.Batch(cmd, s.m.input.take(append(ahead, s.m.input.queue.Drain()...)))
	}
	return cmd
}
