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

// The fields of the form that starts a process.
const (
	fieldCommand = iota
	fieldName
	fieldFolder
	fieldEnv
	fieldKeepAlive
	fieldSandbox
	fieldCount
)

// A formField is a field that text is typed into.
type formField interface {
	Text() string
	Set(string)
	Type(tea.KeyPressMsg)
	Paste(string)
}

// A startForm asks for what a process needs to be started.
type startForm struct {
	m         *model
	fields    [fieldCount]formField // none for keepAlive
	keepAlive bool
	at        int
	bad       int            // the field that err is about
	err       string         // what is wrong
	busy      bool           // the engine has been asked
	ahead     []screen.Event // meanwhile, for what comes then
	matches   completion
}

func newStartForm(m *model) *startForm {
	return &startForm{m: m, fields: [fieldCount]formField{
		fieldCommand: &widget.Area{}, fieldName: &widget.Field{}, fieldFolder: &widget.Field{},
		fieldEnv: &widget.Area{}, fieldKeepAlive: &widget.Field{}, fieldSandbox: &widget.Field{},
	}}
}

// formMsg is the outcome of a form: the process, or what is wrong with a field.
type formMsg struct {
	form    *startForm
	process api.Process
	field   int
	err     error
}

func (m *model) showStartForm() tea.Cmd {
	f := newStartForm(m)
	f.fields[fieldFolder].Set(widget.ShortPath(m.cwd(m.currentPane()), m.list.Home))
	m.overlay = f
	return nil
}

func (f *startForm) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeForm} }

func (f *startForm) Do(h overlay.Host, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.Cancel:
		h.Close()
	case keymap.Accept:
		return f.start(f.m)
	case keymap.FormNext:
		if f.complete() {
			return f.lookUp(f.m)
		}
		return f.focus(f.m, 1)
	case keymap.FormDown:
		if area, ok := f.fields[f.at].(*widget.Area); !ok || !area.Down() {
			return f.focus(f.m, 1)
		}
	case keymap.FormUp:
		if area, ok := f.fields[f.at].(*widget.Area); !ok || !area.Up() {
			return f.focus(f.m, -1)
		}
	case keymap.FormPrevious:
		return f.focus(f.m, -1)
	}
	return nil
}

func (f *startForm) focus(m *model, by int) tea.Cmd {
	f.at = (f.at + by + fieldCount) % fieldCount
	return f.lookUp(m)
}

func (f *startForm) Type(_ overlay.Host, k tea.KeyPressMsg) tea.Cmd {
	f.err = ""
	if f.at == fieldKeepAlive {
		if k.Text == " " || k.Code == tea.KeyLeft || k.Code == tea.KeyRight {
			f.keepAlive = !f.keepAlive
		}
		return nil
	}
	f.fields[f.at].Type(k)
	return f.lookUp(f.m)
}

func (f *startForm) Paste(_ overlay.Host, text string) tea.Cmd {
	if f.at != fieldKeepAlive {
		f.err = ""
		f.fields[f.at].Paste(strings.TrimSpace(text))
	}
	return f.lookUp(f.m)
}

// fail shows what is wrong at its field.
func (f *startForm) fail(field int, err error) {
	f.at, f.bad, f.err, f.busy = field, field, widget.Clean(panes.ErrorText(err)), false
}

// start reads the fields and asks the engine.
func (f *startForm) start(m *model) tea.Cmd {
	if f.busy {
		return nil
	}
	f.err = ""
	text := func(i int) string { return strings.TrimSpace(f.fields[i].Text()) }
	command, err := commandOf(text(fieldCommand))
	if err != nil {
		f.fail(fieldCommand, err)
		return nil
	}
	env, err := parseEnv(text(fieldEnv))
	if err != nil {
		f.fail(fieldEnv, err)
		return nil
	}
	in := api.ProcessStartInput{
		Environ: api.Environ(os.Environ()),
		Command: command, Name: text(fieldName), CWD: widget.ExpandHome(text(fieldFolder), m.list.Home),
		Env: env, KeepAlive: f.keepAlive, Actor: "person",
	}
	sandbox := widget.ExpandHome(text(fieldSandbox), m.list.Home)
	f.busy = true
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		return f.ask(ctx, e, in, sandbox)
	}, func(err error) tea.Msg { return formMsg{form: f, err: err} })
}

// ask does what takes a file or the engine.
func (f *startForm) ask(ctx context.Context, e panes.Engine, in api.ProcessStartInput, sandbox string) formMsg {
	if in.CWD != "" {
		if info, err := os.Stat(in.CWD); err != nil {
			return formMsg{form: f, field: fieldFolder, err: errors.New("there is no such folder")}
		} else if !info.IsDir() {
			return formMsg{form: f, field: fieldFolder, err: errors.New("this is no folder")}
		}
	}
	if sandbox != "" {
		profile, err := readSandbox(sandbox)
		if err != nil {
			return formMsg{form: f, field: fieldSandbox, err: err}
		}
		in.Sandbox = profile
	}
	p, err := e.StartProcess(ctx, in)
	return formMsg{form: f, process: p, field: fieldCommand, err: err}
}

// maxSandboxFile bounds what is read as a sandbox file.
const maxSandboxFile = 1 << 20

// readSandbox reads a sandbox file. What it says and nobody would enforce is an
// error.
func readSandbox(path string) (*api.Sandbox, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, errors.New("there is no such file")
	case !info.Mode().IsRegular() || info.Size() > maxSandboxFile:
		return nil, errors.New("this is no sandbox file")
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
func (m *model) waitingForm() *startForm {
	if f, ok := m.overlay.(*startForm); ok && f.busy {
		return f
	}
	return nil
}

// Busy reports whether the engine has been asked.
func (f *startForm) Busy() bool { return f.busy }

// hold keeps back what is typed while a form waits for the engine: it is
// for what comes then. A single esc, two of them after something else, or one
// without an engine, close the form.
func (f *startForm) hold(m *model, events []screen.Event) (held bool) {
	esc := func(e screen.Event) bool {
		return e.Kind == keys.EventKey && m.o.Bindings.Is(e.Key, keymap.ScopeForm, keymap.Cancel)
	}
	for i, e := range events {
		n := len(f.ahead)
		closes := esc(e) && (n == 0 || esc(f.ahead[n-1]) || !m.news.Connected)
		if closes || e.Kind != keys.EventKey && e.Kind != keys.EventPaste {
			if i > 0 {
				m.in.Unread(events[i:])
				m.in.Notify()
			}
			return i > 0
		}
		f.ahead = append(f.ahead, e)
	}
	return true
}

// formAnswered takes in the engine's answer, then what was typed before it came.
func (m *model) formAnswered(msg formMsg) tea.Cmd {
	m.dirty = true
	open := m.overlay == overlay.Overlay(msg.form)
	ahead := msg.form.ahead
	msg.form.ahead = nil
	switch {
	case msg.err != nil && !open:
		return m.say(panes.ErrorText(msg.err), true)
	case msg.err != nil: // what was typed was not for the form
		msg.form.fail(msg.field, msg.err)
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

// learn takes in processes that were started here, before their events come.
func (m *model) learn(started ...api.Process) tea.Cmd {
	m.link.Learn(started...)
	return m.sync()
}

func fieldLabels() [fieldCount]string {
	return [fieldCount]string{"command", "name", "folder", "environment", "keep alive", "sandbox file"}
}

// note is what is said under the field that is typed in.
func (f *startForm) note(m *model) string {
	if f.matches.field == f.at && f.matches.text == f.fields[f.at].Text() && len(f.matches.names) > 0 {
		return m.withKey("", keymap.FormNext, ": ", keymap.ScopeForm) + strings.Join(f.matches.names, "  ")
	}
	switch f.at {
	case fieldCommand:
		if words, err := commandOf(f.fields[fieldCommand].Text()); err == nil && words[0] == "/bin/sh" {
			return "runs in /bin/sh"
		}
		return "program and arguments, quoted as in a shell; alt+enter: another line"
	case fieldName:
		return "default: the program's name, of a shell's line that of its first program"
	case fieldFolder:
		return "default: the home folder"
	case fieldSandbox:
		return "JSON that says what it may read, write and reach"
	case fieldEnv:
		return "NAME=value, separated by blanks, commas or lines"
	}
	return "space switches; started again whenever it ends"
}

// hints are the keys of the form.
func (f *startForm) Hints(_ overlay.Host) []widget.Hint {
	return []widget.Hint{f.m.hint(keymap.ScopeForm, keymap.Accept, "start"), f.m.hint(keymap.ScopeForm, keymap.FormNext, "next"), f.m.hint(keymap.ScopeForm, keymap.Cancel, "cancel")}
}

func (f *startForm) Draw(h overlay.Host, w, height int) (rows []string, width, x, y int) {
	const label = 14
	look := &f.m.look
	width = max(min(74, w-8), label+16)
	title := "Start a process"
	if f.busy {
		title = h.Spinner() + "Starting…"
		if n := len(f.ahead); n > 0 {
			title += " " + itoa(n) + " keys wait"
		}
	}
	rows = []string{look.Strong.Text(widget.Fit(title, width)), widget.Spaces(width)}
	for i, name := range fieldLabels() {
		ink := look.Dim
		if i == f.at {
			ink = look.Title
		}
		lines, at, below := f.drawField(i, width-label)
		if i == f.at {
			x, y = label+at, len(rows)+below
		}
		for n, line := range lines {
			if n > 0 {
				name = ""
			}
			rows = append(rows, ink.Text(widget.Pad(name, label))+look.Text.Text(line))
		}
	}
	note, ink := widget.Clip(f.note(f.m), width), look.Dim
	if f.err != "" {
		note, ink = widget.Clip(fieldLabels()[f.bad]+": "+f.err, width), look.Bad
	}
	line, used := widget.Hints(f.Hints(h), width, 0, look.Key, look.Dim)
	rows = append(rows, widget.Spaces(width), ink.Text(widget.Pad(note, width)), widget.Spaces(width), line+widget.Spaces(width-used))
	return rows, width, x, y
}

// drawField gives the rows of a field and the cursor's place in them.
func (f *startForm) drawField(i, w int) (rows []string, x, y int) {
	switch field := f.fields[i].(type) {
	case *widget.Area:
		return field.Draw(w)
	case *widget.Field:
		if i != fieldKeepAlive {
			row, x := field.Draw(w)
			return []string{row}, x, 0
		}
	}
	return []string{widget.Pad(map[bool]string{true: "[x] yes", false: "[ ] no"}[f.keepAlive], w)}, 1, 0
}
