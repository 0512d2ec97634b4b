package ui

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strconv"
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
	field   int
	err     error
}

func (s *processForm) show() tea.Cmd {
	f := overlay.NewStartForm(s.folder())
	f.Home = s.m.o.Home
	f.Start = func(in overlay.StartInput) tea.Cmd { return s.start(f, in) }
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
	command, err := panes.CommandOf(typed.Command)
	if err != nil {
		f.Fail(overlay.FieldCommand, err.Error())
		return nil
	}
	env, err := panes.ParseEnv(typed.Env)
	if err != nil {
		f.Fail(overlay.FieldEnv, err.Error())
		return nil
	}
	ready, err := readinessOf(typed.Ready)
	if err != nil {
		f.Fail(overlay.FieldReady, err.Error())
		return nil
	}
	machine, folder := s.place(typed.Folder)
	in := api.ProcessStartInput{
		Environ: api.Environ(os.Environ()),
		Command: command, Name: typed.Name, CWD: folder,
		Env: env, KeepAlive: typed.KeepAlive, Actor: "person", Ready: ready, TTY: typed.Terminal,
	}
	if machine != "" {
		in.ID = api.OnMachine(machine, sessions.NewID())
	}
	if policy := api.Policy(typed.Restart); policy != api.PolicyNo {
		if typed.KeepAlive && policy != api.PolicyAlways {
			f.Fail(overlay.FieldRestart, "what is kept alive is restarted always")
			return nil
		}
		in.Restart = &api.Restart{Policy: policy}
	}
	sandbox := widget.ExpandHome(typed.Sandbox, s.m.o.Home)
	return s.m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		msg := startAsked(ctx, e, in, sandbox)
		msg.form = f
		return msg
	}, func(err error) tea.Msg { return formMsg{form: f, err: err} })
}

// readinessOf reads when a process is ready: "port 8080", a URL, "log REGEXP" or
// "command LINE"; nil for nothing.
func readinessOf(text string) (*api.Readiness, error) {
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
			return nil, errors.New("want a port from 1 to 65535")
		}
		return &api.Readiness{Port: port}, nil
	case kind == "log":
		_, err := regexp.Compile(rest)
		return &api.Readiness{Log: rest}, err
	case kind == "command":
		command, err := panes.CommandOf(rest)
		return &api.Readiness{Command: command}, err
	}
	return nil, errors.New("want port NUMBER, http://…, log REGEXP or command LINE")
}

// startAsked does what takes a file or the engine.
func startAsked(ctx context.Context, e panes.Engine, in api.ProcessStartInput, sandbox string) formMsg {
	if machine, _ := api.MachineOf(in.ID); machine == "" && in.CWD != "" { // another one looks itself
		if info, err := os.Stat(in.CWD); err != nil {
			return formMsg{field: overlay.FieldFolder, err: errors.New("no such folder")}
		} else if !info.IsDir() {
			return formMsg{field: overlay.FieldFolder, err: errors.New("not a folder")}
		}
	}
	if sandbox != "" {
		profile, err := readSandbox(sandbox)
		if err != nil {
			return formMsg{field: overlay.FieldSandbox, err: err}
		}
		in.Sandbox = profile
	}
	p, err := api.ProcessStart.Call(ctx, e, in)
	return formMsg{process: p, field: overlay.FieldCommand, err: err}
}

// maxSandboxFile bounds what is read as a sandbox file.
const maxSandboxFile = 1 << 20

// readSandbox reads a sandbox file. What it says and nobody would enforce is an
// error.
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
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&profile); err != nil {
		return nil, err
	}
	return &profile, nil
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
	cmd := s.m.learn(msg.process)
	s.m.processes.Select(msg.process.ID)
	cmd = tea.Batch(cmd, s.m.notices.say("started "+widget.FullName(&msg.process), false))
	if open {
		cmd = tea.Batch(cmd, s.m.input.take(append(ahead, s.m.input.queue.Drain()...)))
	}
	return cmd
}
