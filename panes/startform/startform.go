// Package startform has two forms: one for a new process, and one for a session in a new worktree.
// It parses their fields and starts the process or session described by them.
package startform

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/field"
	"tandem/panes/kit/form"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// A Starter opens the forms.
type Starter struct {
	Env         panes.Env
	DropTyped   func()                                                   // drops input typed but not handled yet
	Started     func(id string)                                          // called with a new process that the user waited for
	StartInTree func(command []string, folder string, show bool) tea.Cmd // starts a session; no command is a shell
}

// AskProcess opens the form for a new process. folder is the default directory of the process; on
// another machine it is machine:folder.
func (s *Starter) AskProcess(folder string) {
	f := newForm(s, folder)
	f.show("Start a process", f.command, f.name, f.folder, f.environ, f.keepAlive, f.sandbox, f.more, f.restart, f.ready, f.terminal, f.private, f.worktree)
}

// AskWorktree opens the form for a session in a new worktree of the repository in a folder.
func (s *Starter) AskWorktree(folder string) {
	f := newForm(s, folder)
	f.session = true
	f.worktree.Note = "new branch and its starting point, such as fix-login main; default: work-1"
	f.folder.Note = "of the repository"
	f.show("Start a session in a new worktree", f.worktree, f.command, f.folder)
}

// A startForm has the fields of both forms.
type startForm struct {
	*form.Form
	*Starter
	session bool // the form starts a session in a new worktree

	command, name, folder, environ, keepAlive, sandbox *form.Field
	more, restart, ready, terminal, private, worktree  *form.Field
}

// newForm returns a form with all fields, filled in for a start in folder.
func newForm(s *Starter, folder string) *startForm {
	policies := []string{string(api.PolicyNo), string(api.PolicyOnFailure), string(api.PolicyAlways)}
	f := &startForm{
		Starter:   s,
		command:   &form.Field{Label: "command", Note: "program and arguments, quoted as in a shell; alt+enter: another line", Input: &field.Area{}},
		name:      &form.Field{Label: "name", Note: "default: the name of the program, or of the first one in a shell line", Input: &field.Field{}},
		folder:    &form.Field{Label: "folder", Note: "default: the home folder", Input: &field.Field{}},
		environ:   &form.Field{Label: "environment", Note: "NAME=value, separated by spaces, commas or lines", Input: &field.Area{}},
		keepAlive: &form.Field{Label: "keep alive", Note: "space switches; restarted whenever it exits", Input: form.NewYesNo()},
		sandbox:   &form.Field{Label: "sandbox file", Note: "JSON that says what it may read, write and reach", Input: &field.Field{}},
		more: &form.Field{Label: "more", Note: "enter shows when it is restarted and ready, terminal and worktree",
			Input: &form.Choice{Values: []string{"[+] restart, readiness, terminal, worktree", "[-]"}, Folds: true}},
		restart:  &form.Field{Label: "restart", Note: "space switches; always: after a reboot too, unless it was stopped", Input: &form.Choice{Values: policies}},
		ready:    &form.Field{Label: "ready when", Note: "port 8080, http://…, log REGEXP or command LINE; default: at once", Input: &field.Field{}},
		terminal: &form.Field{Label: "terminal", Note: "space switches; with a terminal it is a session that you can type into", Input: form.NewYesNo()},
		private:  &form.Field{Label: "private", Note: "space switches; a session in no file, and closed to agents", Input: form.NewYesNo()},
		worktree: &form.Field{Label: "worktree", Note: "new branch and its starting point, such as fix main; default: none", Input: &field.Field{}},
	}
	f.folder.Set(folder)
	f.more.About = func(shown string) string {
		if shown == "[-]" {
			return "space hides them"
		}
		return ""
	}
	f.command.About, f.command.Complete = f.describeCommand, f.completeCommand
	f.folder.Complete = func(typed string) form.Lookup { return f.completePath(typed, true) }
	f.sandbox.Complete = func(typed string) form.Lookup { return f.completePath(typed, false) }
	return f
}

func (f *startForm) describeCommand(line string) string {
	words, err := panes.ParseCommand(line)
	switch {
	case f.session && strings.TrimSpace(line) == "":
		return "an agent, for example; default: your shell"
	case err == nil && words[0] == "/bin/sh":
		return "runs in /bin/sh"
	}
	return ""
}

func (f *startForm) completeCommand(line string) form.Lookup {
	folder, home := text.ExpandHome(f.folder.Text(), f.Env.Home()), f.Env.Home()
	return func() (string, []string) { return field.CompleteCommand(line, folder, home) }
}

func (f *startForm) completePath(typed string, onlyFolders bool) form.Lookup {
	if !strings.Contains(typed, "/") {
		return nil
	}
	home := f.Env.Home()
	return func() (string, []string) { return field.CompletePath(typed, "", home, onlyFolders) }
}

// show opens the form with some of its fields.
func (f *startForm) show(title string, fields ...*form.Field) {
	f.Form = form.New(title, fields...)
	f.Submit = f.submit
	f.Env.Ask(f.Form)
}

// submit starts what the form describes, and closes the form on success. If the user cancels while
// the start is running, only the form closes. The start continues and the status bar reports its
// result, but nothing else on the screen changes.
func (f *startForm) submit() tea.Cmd {
	w, wrong, err := f.read()
	if err != nil {
		f.Fail(wrong, err.Error())
		return nil
	}
	then := func() tea.Cmd { return nil }
	waiting := f.Env.Await(panes.Pending{
		Ready:  func() bool { return !f.Traits().Busy || !f.Env.Shows(f.Form) },
		Then:   func() tea.Cmd { return then() },
		Cancel: f.Env.Close,
	})
	return tea.Batch(waiting, panes.Call(f.Env.Context(), f.Env, func(ctx context.Context, e panes.Engine) (p api.Process, err error) {
		p, wrong, err = f.start(ctx, e, &w)
		return p, err
	}, func(p api.Process, err error) tea.Cmd {
		switch {
		case !f.Env.Shows(f.Form):
			return f.finish(&w, p, err, false)
		case err != nil:
			// Keys typed during the start were meant for whatever follows the form, not for a
			// field with an error.
			f.DropTyped()
			f.Fail(cmp.Or(wrong, f.command), panes.ErrorText(err))
			return nil
		}
		f.Env.Close() // ends the wait
		then = func() tea.Cmd { return f.finish(&w, p, nil, true) }
		return nil
	}))
}

// finish reports a started process, or starts the session in its new worktree. With awaited, the
// user has waited for the result and done nothing else, and the session may be shown.
func (f *startForm) finish(w *request, p api.Process, err error, awaited bool) tea.Cmd {
	switch {
	case err != nil:
		return f.Env.Say(panes.ErrorText(err), true)
	case f.session:
		return f.StartInTree(w.process.Command, w.process.CWD, awaited)
	}
	refresh := f.Env.AddProcesses(p)
	if awaited {
		f.Started(p.ID)
	}
	return tea.Batch(refresh, f.Env.Say("started "+states.FullName(&p), false))
}

// A request is what the form describes.
type request struct {
	process api.ProcessStartInput
	sandbox string                // path of the sandbox file, "" for none
	tree    *api.WorktreeAddInput // worktree to create; nil for none
}

// read parses the fields of the form. If err is not nil, wrong is the field that caused it.
func (f *startForm) read() (w request, wrong *form.Field, err error) {
	machine, folder, remote := strings.Cut(f.folder.Value(), ":")
	if remote = remote && !f.session && f.Env.News().Machine(machine) != nil; !remote {
		folder = text.ExpandHome(f.folder.Value(), f.Env.Home())
	}
	in := &w.process
	*in = api.ProcessStartInput{
		Environ: api.Environ(os.Environ()), Umask: api.Umask(), Name: f.name.Value(), CWD: folder,
		KeepAlive: f.keepAlive.Value() == form.Yes, Actor: "person", TTY: f.terminal.Value() == form.Yes, Private: f.private.Value() == form.Yes,
	}
	in.TTY = in.TTY || in.Private // only a session can be private
	if in.Private && remote {     // an older release there would ignore it
		return w, f.private, errors.New("only on this machine; elsewhere: tandem new --private --host")
	}
	if remote {
		in.ID = api.OnMachine(machine, api.NewID())
	}
	w.sandbox = text.ExpandHome(f.sandbox.Value(), f.Env.Home())
	if line := f.command.Value(); line != "" || !f.session {
		if in.Command, err = panes.ParseCommand(line); err != nil {
			return w, f.command, err
		}
	}
	if in.Env, err = panes.ParseEnv(f.environ.Value()); err != nil {
		return w, f.environ, err
	}
	if in.Ready, err = parseReadiness(f.ready.Value()); err != nil {
		return w, f.ready, err
	}
	if policy := api.Policy(f.restart.Value()); policy != api.PolicyNo {
		if in.KeepAlive && policy != api.PolicyAlways {
			return w, f.restart, errors.New("must be always if keep alive is on")
		}
		in.Restart = &api.Restart{Policy: policy}
	}
	words := strings.Fields(f.worktree.Value())
	switch {
	case len(words) == 0 && !f.session:
		return w, nil, nil
	case len(words) > 2:
		return w, f.worktree, errors.New("needs a name, and optionally the start of its branch")
	case remote:
		return w, f.worktree, errors.New("the dashboard creates worktrees only on this machine")
	}
	words = append(words, "", "")
	w.tree = &api.WorktreeAddInput{CWD: cmp.Or(folder, f.Env.Home()), Name: words[0], Base: words[1]}
	return w, nil, nil
}

// start creates the worktree, if one is wanted, and starts the process in it. It does not start a
// session; the caller does. If the process fails to start, the worktree is removed. If err is not
// nil, wrong is the field that caused it.
func (f *startForm) start(ctx context.Context, e panes.Engine, w *request) (p api.Process, wrong *form.Field, err error) {
	in := &w.process
	if in.ID == "" && in.CWD != "" && !f.session { // another machine checks it itself
		if info, err := os.Stat(in.CWD); err != nil {
			return p, f.folder, errors.New("no such folder")
		} else if !info.IsDir() {
			return p, f.folder, errors.New("not a folder")
		}
	}
	if w.sandbox != "" {
		if in.Sandbox, err = readSandbox(w.sandbox); err != nil {
			return p, f.sandbox, err
		}
	}
	if w.tree != nil {
		tree, err := api.WorktreeAdd.Call(ctx, e, *w.tree)
		if in.CWD = tree.Path; err != nil || f.session {
			return p, f.worktree, err
		}
	}
	if p, err = api.ProcessStart.Call(ctx, e, *in); err != nil && w.tree != nil {
		_ = api.WorktreeRemove.Run(ctx, e, api.WorktreeRemoveInput{Path: in.CWD}) // the error of the start matters more
	}
	return p, f.command, err
}

// parseReadiness parses a readiness check: "port 8080", a URL, "log REGEXP" or "command LINE". It
// returns nil for "".
func parseReadiness(text string) (*api.Readiness, error) {
	kind, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case text == "":
		return nil, nil
	case strings.HasPrefix(text, "http://"), strings.HasPrefix(text, "https://"):
		return &api.Readiness{HTTP: text}, nil
	case rest == "":
	case kind == "port":
		port, err := strconv.Atoi(rest)
		if err != nil || port < 1 || port > 65535 {
			return nil, errors.New("must be a port from 1 to 65535")
		}
		return &api.Readiness{Port: port}, nil
	case kind == "log":
		_, err := regexp.Compile(rest)
		return &api.Readiness{Log: rest}, err
	case kind == "command":
		command, err := panes.ParseCommand(rest)
		return &api.Readiness{Command: command}, err
	}
	return nil, errors.New("must be port NUMBER, http://…, log REGEXP or command LINE")
}

const maxSandboxFile = 1 << 20

// readSandbox reads a sandbox file. It rejects unknown fields, because nobody would enforce them.
func readSandbox(path string) (*api.Sandbox, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, errors.New("no such file")
	case !info.Mode().IsRegular() || info.Size() > maxSandboxFile:
		return nil, errors.New("not a sandbox file")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var profile api.Sandbox
	return &profile, json.Unmarshal(data, &profile)
}
