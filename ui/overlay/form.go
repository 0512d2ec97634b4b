package overlay

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// The fields of the form that starts a process.
const (
	FieldCommand = iota
	FieldName
	FieldFolder
	FieldEnv
	FieldKeepAlive
	FieldSandbox
	fieldCount
)

// A formField is a field that text is typed into.
type formField interface {
	Text() string
	Set(string)
	Type(tea.KeyPressMsg)
	Paste(string)
}

// A StartInput is what was typed into a StartForm.
type StartInput struct {
	Command, Name, Folder, Env, Sandbox string
	KeepAlive                           bool
}

// A StartForm asks for what a process needs to be started.
type StartForm struct {
	Home string
	// Start begins to start the process. Fail tells the form what was wrong.
	Start   func(StartInput) tea.Cmd
	InShell func(command string) bool // reports whether a shell would run it
	Held    int                       // keys that wait until it is started

	fields    [fieldCount]formField // what is typed into that of FieldKeepAlive is left alone
	keepAlive bool
	at        int
	bad       int    // the field that err is about
	err       string // what is wrong
	busy      bool   // the process is being started
	matches   completion
}

// NewStartForm is a form for a process in a folder.
func NewStartForm(folder string) *StartForm {
	f := &StartForm{fields: [fieldCount]formField{
		FieldCommand: &widget.Area{}, FieldName: &widget.Field{}, FieldFolder: &widget.Field{},
		FieldEnv: &widget.Area{}, FieldKeepAlive: &widget.Field{}, FieldSandbox: &widget.Field{},
	}}
	f.fields[FieldFolder].Set(folder)
	return f
}

// Input is what was typed so far.
func (f *StartForm) Input() StartInput {
	text := func(i int) string { return strings.TrimSpace(f.fields[i].Text()) }
	return StartInput{text(FieldCommand), text(FieldName), text(FieldFolder), text(FieldEnv), text(FieldSandbox), f.keepAlive}
}

// Busy reports whether the process is being started.
func (f *StartForm) Busy() bool { return f.busy }

// Fail shows what is wrong at its field.
func (f *StartForm) Fail(field int, why string) {
	f.at, f.bad, f.err, f.busy = field, field, widget.Clean(why), false
}

func (f *StartForm) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeForm} }

func (f *StartForm) Do(h Host, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.Cancel:
		h.Close()
	case keymap.Accept:
		if !f.busy {
			f.err, f.busy = "", true
			return f.Start(f.Input())
		}
	case keymap.FormNext:
		if f.complete() {
			return f.lookUp()
		}
		return f.focus(1)
	case keymap.FormDown:
		if area, ok := f.fields[f.at].(*widget.Area); !ok || !area.Down() {
			return f.focus(1)
		}
	case keymap.FormUp:
		if area, ok := f.fields[f.at].(*widget.Area); !ok || !area.Up() {
			return f.focus(-1)
		}
	case keymap.FormPrevious:
		return f.focus(-1)
	}
	return nil
}

func (f *StartForm) focus(by int) tea.Cmd {
	f.at = (f.at + by + fieldCount) % fieldCount
	return f.lookUp()
}

func (f *StartForm) Type(_ Host, k tea.KeyPressMsg) tea.Cmd {
	f.err = ""
	if f.at == FieldKeepAlive {
		if k.Text == " " || k.Code == tea.KeyLeft || k.Code == tea.KeyRight {
			f.keepAlive = !f.keepAlive
		}
		return nil
	}
	field, ok := f.fields[f.at].(*widget.Field)
	switch {
	case ok && field.Accepts(k) && field.Accept():
	case k.Code != tea.KeyTab: // which the fields would take for that too
		f.fields[f.at].Type(k)
	}
	return f.lookUp()
}

func (f *StartForm) Paste(_ Host, text string) tea.Cmd {
	if f.at != FieldKeepAlive {
		f.err = ""
		f.fields[f.at].Paste(strings.TrimSpace(text))
	}
	return f.lookUp()
}

func fieldLabels() [fieldCount]string {
	return [fieldCount]string{"command", "name", "folder", "environment", "keep alive", "sandbox file"}
}

// note is what is said under the field that is typed in.
func (f *StartForm) note(b keymap.Bindings) string {
	if f.matches.field == f.at && f.matches.text == f.fields[f.at].Text() && len(f.matches.names) > 0 {
		names := strings.Join(f.matches.names, "  ")
		if key := keyOf(b, keymap.ScopeForm, keymap.FormNext); key != "" {
			return key + ": " + names
		}
		return names
	}
	switch f.at {
	case FieldCommand:
		if f.InShell(f.fields[FieldCommand].Text()) {
			return "runs in /bin/sh"
		}
		return "program and arguments, quoted as in a shell; alt+enter: another line"
	case FieldName:
		return "default: the program's name, of a shell's line that of its first program"
	case FieldFolder:
		return "default: the home folder"
	case FieldSandbox:
		return "JSON that says what it may read, write and reach"
	case FieldEnv:
		return "NAME=value, separated by spaces, commas or lines"
	}
	return "space switches; started again whenever it ends"
}

// Hints are the keys of the form.
func (f *StartForm) Hints(h Host) []widget.Hint {
	b := h.Bindings()
	return []widget.Hint{Hint(b, keymap.ScopeForm, keymap.Accept, "start"), Hint(b, keymap.ScopeForm, keymap.FormNext, "next"), Hint(b, keymap.ScopeForm, keymap.Cancel, "cancel")}
}

func (f *StartForm) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	const label = 14
	look := h.Look()
	width = max(min(74, w-8), label+16)
	title := "Start a process"
	if f.busy {
		title = h.Spinner() + "Starting…"
		switch {
		case f.Held == 1:
			title += " 1 key waits"
		case f.Held > 1:
			title += " " + strconv.Itoa(f.Held) + " keys wait"
		}
	}
	rows = []string{look.Strong.Text(widget.Fit(title, width)), widget.Spaces(width)}
	for i, name := range fieldLabels() {
		ink := look.Dim
		if i == f.at {
			ink = look.Title
		}
		lines, at, below := f.drawField(i, width-label, look)
		if i == f.at {
			x, y = label+at, len(rows)+below
		}
		for n, line := range lines {
			if n > 0 {
				name = ""
			}
			rows = append(rows, ink.Text(widget.Pad(name, label))+line)
		}
	}
	note, ink := widget.Clip(f.note(h.Bindings()), width), look.Dim
	if f.err != "" {
		note, ink = widget.Clip(fieldLabels()[f.bad]+": "+f.err, width), look.Bad
	}
	rows = append(rows, widget.Spaces(width), ink.Text(widget.Pad(note, width)))
	return rows, width, x, y
}

// drawField gives the rows of a field and the cursor's place in them.
func (f *StartForm) drawField(i, w int, look *widget.Look) (rows []string, x, y int) {
	switch field := f.fields[i].(type) {
	case *widget.Area:
		rows, x, y = field.Draw(w)
		for i := range rows {
			rows[i] = look.Text.Text(rows[i])
		}
		return rows, x, y
	case *widget.Field:
		if i == f.at && i != FieldKeepAlive {
			row, x := field.DrawIn(w, look)
			return []string{row}, x, 0
		}
		if i != FieldKeepAlive {
			row, x := field.Draw(w)
			return []string{look.Text.Text(row)}, x, 0
		}
	}
	return []string{look.Text.Text(widget.Pad(map[bool]string{true: "[x] yes", false: "[ ] no"}[f.keepAlive], w))}, 1, 0
}
