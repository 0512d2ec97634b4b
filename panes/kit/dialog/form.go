package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/kit/field"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// The fields of the form that starts a process.
const (
	FieldCommand = iota
	FieldName
	FieldFolder
	FieldEnv
	FieldKeepAlive
	FieldSandbox
	FieldMore // unfolds the fields below
	FieldRestart
	FieldReady
	FieldTerminal
	FieldWorktree
	fieldCount
)

// A formField is a row of the form.
type formField struct {
	label, note string // note is shown while the field has the focus
	formInput
}

// A formInput is the editable part of a field.
type formInput interface {
	Text() string
	Set(string)
	Type(tea.KeyPressMsg)
	Paste(string)
}

// A StartInput is the content of a StartForm.
type StartInput struct {
	Command, Name, Folder, Env, Sandbox string
	KeepAlive                           bool

	Restart  string // restart policy
	Ready    string // readiness condition
	Terminal bool   // run it in a terminal

	Worktree string // name of the worktree to create, and its base branch
}

// A choiceField has one of several fixed values.
type choiceField struct {
	values []string
	at     int
}

func (p *choiceField) Text() string     { return p.values[p.at] }
func (p *choiceField) Set(value string) { p.at = slices.Index(p.values, value) }
func (p *choiceField) Paste(string)     {}

func (p *choiceField) Type(k tea.KeyPressMsg) {
	n := len(p.values)
	switch {
	case k.Code == tea.KeyLeft:
		p.at = (p.at + n - 1) % n
	case k.Text == " " || k.Code == tea.KeyRight:
		p.at = (p.at + 1) % n
	}
}

// The values of a yes-or-no field.
const (
	valueNo  = "[ ] no"
	valueYes = "[x] yes"
)

func newYesNo() *choiceField { return &choiceField{values: []string{valueNo, valueYes}} }

// The values of FieldMore.
const (
	valueFolded   = "[+] restart, readiness, terminal, worktree"
	valueUnfolded = "[-]"
)

// A StartForm asks for the parameters of a new process, or of a session in a worktree.
type StartForm struct {
	Home string
	// Start starts the process. On an error the caller calls Fail.
	Start   func(StartInput) tea.Cmd
	InShell func(command string) bool // reports whether a shell would run the command

	session    bool // the form starts a session in a worktree
	fields     [fieldCount]formField
	focused    int
	errField   int    // the field with an error
	err        string // the error
	busy       bool   // a start is running
	completion completion
}

// NewStartForm returns a form for a process in a folder.
func NewStartForm(folder string) *StartForm {
	policies := []string{string(api.PolicyNo), string(api.PolicyOnFailure), string(api.PolicyAlways), string(api.PolicyUnlessStopped)}
	f := &StartForm{fields: [fieldCount]formField{
		FieldCommand:   {"command", "program and arguments, quoted as in a shell; alt+enter: another line", &field.Area{}},
		FieldName:      {"name", "default: the program's name, or for a shell line that of its first program", &field.Field{}},
		FieldFolder:    {"folder", "default: the home folder", &field.Field{}},
		FieldEnv:       {"environment", "NAME=value, separated by spaces, commas or lines", &field.Area{}},
		FieldKeepAlive: {"keep alive", "space switches; restarted whenever it exits", newYesNo()},
		FieldSandbox:   {"sandbox file", "JSON that says what it may read, write and reach", &field.Field{}},
		FieldMore:      {"more", "space shows or hides when it is restarted and ready, terminal and worktree", &choiceField{values: []string{valueFolded, valueUnfolded}}},
		FieldRestart:   {"restart", "space switches; unless-stopped: after a reboot too, unless it was stopped", &choiceField{values: policies}},
		FieldReady:     {"ready when", "port 8080, http://…, log REGEXP or command LINE; default: at once", &field.Field{}},
		FieldTerminal:  {"terminal", "space switches; with a terminal it is a session that you can type into", newYesNo()},
		FieldWorktree:  {"worktree", "new branch and its starting point, such as fix main; default: none", &field.Field{}},
	}}
	f.fields[FieldFolder].Set(folder)
	return f
}

// NewTreeForm returns a form for a session in a new worktree of the repository in a
// folder.
func NewTreeForm(folder string) *StartForm {
	f := NewStartForm(folder)
	f.session, f.focused = true, FieldWorktree
	f.fields[FieldWorktree].note = "new branch and its starting point, such as fix-login main; default: work-1"
	f.fields[FieldFolder].note = "of the repository"
	return f
}

// Input returns the content of the form.
func (f *StartForm) Input() StartInput {
	text := func(i int) string { return strings.TrimSpace(f.fields[i].Text()) }
	return StartInput{Command: text(FieldCommand), Name: text(FieldName), Folder: text(FieldFolder), Env: text(FieldEnv), Sandbox: text(FieldSandbox),
		KeepAlive: text(FieldKeepAlive) == valueYes, Restart: text(FieldRestart), Ready: text(FieldReady), Terminal: text(FieldTerminal) == valueYes, Worktree: text(FieldWorktree)}
}

// visibleFields returns the fields on the screen, from the top.
func (f *StartForm) visibleFields() []int {
	if f.session {
		return []int{FieldWorktree, FieldCommand, FieldFolder}
	}
	all := []int{FieldCommand, FieldName, FieldFolder, FieldEnv, FieldKeepAlive, FieldSandbox, FieldMore}
	if f.fields[FieldMore].Text() == valueUnfolded {
		all = append(all, FieldRestart, FieldReady, FieldTerminal, FieldWorktree)
	}
	return all
}

// Traits shows that a start is running.
func (f *StartForm) Traits() Traits { return Traits{Busy: f.busy} }

// Fail focuses a field and shows its error.
func (f *StartForm) Fail(field int, why string) {
	f.focused, f.errField, f.err, f.busy = field, field, text.Clean(why), false
	// The field with the error may be folded away.
	if field > FieldMore {
		f.fields[FieldMore].Set(valueUnfolded)
	}
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
		if f.applyCompletion() {
			return f.findCompletions()
		}
		return f.moveFocus(1)
	// Inside a field of several lines, up and down move the cursor first.
	case keymap.FormDown:
		if area, ok := f.fields[f.focused].formInput.(*field.Area); !ok || !area.Down() {
			return f.moveFocus(1)
		}
	case keymap.FormUp:
		if area, ok := f.fields[f.focused].formInput.(*field.Area); !ok || !area.Up() {
			return f.moveFocus(-1)
		}
	case keymap.FormPrevious:
		return f.moveFocus(-1)
	}
	return nil
}

func (f *StartForm) moveFocus(by int) tea.Cmd {
	all := f.visibleFields()
	f.focused = all[(slices.Index(all, f.focused)+by+len(all))%len(all)]
	return f.findCompletions()
}

func (f *StartForm) Type(_ Host, k tea.KeyPressMsg) tea.Cmd {
	f.err = ""
	field, ok := f.fields[f.focused].formInput.(*field.Field)
	switch {
	case ok && field.Accepts(k) && field.Accept():
	case k.Code != tea.KeyTab: // a field would accept a completion with tab, too
		f.fields[f.focused].Type(k)
	}
	return f.findCompletions()
}

func (f *StartForm) Paste(_ Host, text string) tea.Cmd {
	f.err = ""
	f.fields[f.focused].Paste(strings.TrimSpace(text))
	return f.findCompletions()
}

// fieldNote returns the note below the focused field: its completions, else its
// description.
func (f *StartForm) fieldNote(b keymap.Bindings) string {
	if c := f.completion; c.field == f.focused && c.text == f.fields[f.focused].Text() && len(c.lines) > 0 {
		names := strings.Join(lastParts(c.text, c.lines), "  ")
		if key := b.KeyOf(keymap.FormNext, keymap.ScopeForm); key != "" {
			return key + ": " + names
		}
		return names
	}
	if command := f.fields[FieldCommand].Text(); f.focused == FieldCommand {
		switch {
		case f.session && strings.TrimSpace(command) == "":
			return "an agent, for example; default: your shell"
		case f.InShell(command):
			return "runs in /bin/sh"
		}
	}
	return f.fields[f.focused].note
}

// Hints returns the keys of the form.
func (f *StartForm) Hints(h Host) []keymap.Hint {
	b := h.Bindings()
	return []keymap.Hint{b.Hint(keymap.Accept, "start", keymap.ScopeForm), b.Hint(keymap.FormNext, "next", keymap.ScopeForm), b.Hint(keymap.Cancel, "cancel", keymap.ScopeForm)}
}

func (f *StartForm) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	const label = 14
	look := h.Look()
	width = max(min(maxFormWidth, w-8), label+16)
	title := "Start a process"
	if f.session {
		title = "Start a session in a new worktree"
	}
	if f.busy {
		title = h.Spinner() + "Starting…"
	}
	fields, at := f.drawFields(label, width, look)
	notes := f.drawNotes(h.Bindings(), width, look)
	blank := []string{text.Spaces(width)}
	// A low screen has no room for the blank rows that set off the title and the notes.
	if len(fields)+5+len(notes) > height { // including the frame
		blank = nil
	}
	rows = append([]string{look.Strong.Text(text.Fit(title, width))}, blank...)
	room := max(height-2-len(notes)-len(rows)-len(blank), 1)
	first := max(min(at.y-room/2, len(fields)-room), 0)
	x, y = at.x, len(rows)+at.y-first
	rows = append(rows, fields[first:min(first+room, len(fields))]...)
	return append(append(rows, blank...), notes...), width, x, y
}

// maxFormWidth is the maximum width of a form in cells. No note is longer.
const maxFormWidth = 74

// drawNotes draws the error, or the note of the focused field. Every field has the same
// number of rows, so that the form does not jump.
func (f *StartForm) drawNotes(b keymap.Bindings, width int, look *look.Look) []string {
	s, ink := f.fieldNote(b), look.Dim
	if f.err != "" {
		s, ink = f.fields[f.errField].label+": "+f.err, look.Bad
	}
	rows := make([]string, (maxFormWidth+width-1)/width)
	lines := []string{s}
	if text.Width(s) > width {
		lines = text.WrapWords(s, width)
	}
	for i := range rows {
		if i < len(lines) {
			rows[i] = text.Clip(lines[i], width)
		}
		rows[i] = ink.Text(text.Pad(rows[i], width))
	}
	return rows
}

// A cursorPosition is a cell in the form.
type cursorPosition struct{ x, y int }

// drawFields draws the rows of the visible fields.
func (f *StartForm) drawFields(label, width int, look *look.Look) (rows []string, cursor cursorPosition) {
	for _, i := range f.visibleFields() {
		name := f.fields[i].label
		ink := look.Dim
		if i == f.focused {
			ink = look.Title
		}
		lines, at, below := f.drawField(i, width-label, look)
		if i == f.focused {
			cursor = cursorPosition{label + at, len(rows) + below}
		}
		for n, line := range lines {
			if n > 0 {
				name = ""
			}
			rows = append(rows, ink.Text(text.Pad(name, label))+line)
		}
	}
	return rows, cursor
}

// drawField draws the rows of a field, and returns the position of the cursor in them.
func (f *StartForm) drawField(i, w int, look *look.Look) (rows []string, x, y int) {
	switch input := f.fields[i].formInput.(type) {
	case *choiceField:
		s := input.Text()
		if i == FieldRestart {
			s = "< " + s + " >"
		}
		return []string{look.Text.Text(text.Fit(s, w))}, 1, 0
	case *field.Area:
		rows, x, y = input.Draw(w)
		for i := range rows {
			rows[i] = look.Text.Text(rows[i])
		}
		return rows, x, y
	case *field.Field:
		if i == f.focused {
			row, x := input.DrawIn(w, look)
			return []string{row}, x, 0
		}
		row, x := input.Draw(w)
		return []string{look.Text.Text(row)}, x, 0
	}
	return nil, 0, 0
}
