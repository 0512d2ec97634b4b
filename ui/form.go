package ui

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
	"tandem/ui/screen"
)

// formMsg is the outcome of a form: the process, or what is wrong with a field.
type formMsg struct {
	form    *overlay.StartForm
	process api.Process
	field   int
	err     error
}

func (m *model) showStartForm() tea.Cmd {
	f := overlay.NewStartForm(widget.ShortPath(m.sessions.starts.folder(m.sessions.currentPane()), m.home))
	f.Home = m.home
	f.Start = func(in overlay.StartInput) tea.Cmd { return m.startProcess(f, in) }
	f.InShell = func(line string) bool {
		words, err := panes.CommandOf(line)
		return err == nil && words[0] == "/bin/sh"
	}
	m.overlay, m.ahead = f, nil
	return nil
}

// startProcess reads what was typed into a form and asks the engine.
func (m *model) startProcess(f *overlay.StartForm, typed overlay.StartInput) tea.Cmd {
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
	in := api.ProcessStartInput{
		Environ: api.Environ(os.Environ()),
		Command: command, Name: typed.Name, CWD: widget.ExpandHome(typed.Folder, m.home),
		Env: env, KeepAlive: typed.KeepAlive, Actor: "person",
	}
	sandbox := widget.ExpandHome(typed.Sandbox, m.home)
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		msg := startAsked(ctx, e, in, sandbox)
		msg.form = f
		return msg
	}, func(err error) tea.Msg { return formMsg{form: f, err: err} })
}

// startAsked does what takes a file or the engine.
func startAsked(ctx context.Context, e panes.Engine, in api.ProcessStartInput, sandbox string) formMsg {
	if in.CWD != "" {
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
	p, err := e.StartProcess(ctx, in)
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

// waitingForm is the form that waits for the engine; nil without one.
func (m *model) waitingForm() *overlay.StartForm {
	if f, ok := m.overlay.(*overlay.StartForm); ok && f.Busy() {
		return f
	}
	return nil
}

// holdForForm keeps back what is typed while a form waits for the engine: it is
// for what comes then. A single esc, two of them after something else, or one
// without an engine, close the form.
func (m *model) holdForForm(f *overlay.StartForm, events []screen.Event) (held bool) {
	esc := func(e screen.Event) bool {
		return e.Kind == keys.EventKey && m.o.Bindings.Is(e.Key, keymap.ScopeForm, keymap.Cancel)
	}
	for i, e := range events {
		n := len(m.ahead)
		closes := esc(e) && (n == 0 || esc(m.ahead[n-1]) || !m.news.Connected)
		if closes || e.Kind != keys.EventKey && e.Kind != keys.EventPaste {
			if i > 0 {
				m.in.Unread(events[i:])
				m.in.Notify()
			}
			return i > 0
		}
		m.ahead = append(m.ahead, e)
		f.Held = len(m.ahead)
	}
	return true
}

// formAnswered takes in the engine's answer, then what was typed before it came.
func (m *model) formAnswered(msg formMsg) tea.Cmd {
	m.dirty = true
	open := m.overlay == overlay.Overlay(msg.form)
	ahead := m.ahead
	if open {
		m.ahead, msg.form.Held = nil, 0
	}
	switch {
	case msg.err != nil && !open:
		return m.say(panes.ErrorText(msg.err), true)
	case msg.err != nil: // what was typed was not for the form
		msg.form.Fail(msg.field, panes.ErrorText(msg.err))
		return nil
	case open:
		m.overlay = nil
	}
	cmd := m.learn(msg.process)
	m.processes.Select(msg.process.ID)
	cmd = tea.Batch(cmd, m.say("started "+widget.Clean(msg.process.Name), false))
	if open {
		cmd = tea.Batch(cmd, m.handleInput(append(ahead, m.in.Drain()...)))
	}
	return cmd
}
