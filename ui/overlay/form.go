package overlay

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
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
	FieldMore // unfolds those below
	FieldRestart
	FieldReady
	FieldTerminal
	FieldWorktree
	fieldCount
)

// A formField is a row of the form.
type formField struct {
	label, note string // the note is shown while it is typed in
	formLine
}

// A formLine is what is typed into a field, or picked.
type formLine interface {
	Text() string
	Set(string)
	Type(tea.KeyPressMsg)
	Paste(string)
}

// A StartInput is what was typed into a StartForm.
type StartInput struct {
	Command, Name, Folder, Env, Sandbox string
	KeepAlive                           bool

	Restart  string // a policy
	Ready    string // when it is ready
	Terminal bool   // it gets one

	Worktree string // name of the one to be made, and where its branch begins
}

// A pick is a field of which one of several values is picked.
type pick struct {
	values []string
	at     int
}

func (p *pick) Text() string     { return p.values[p.at] }
func (p *pick) Set(value string) { p.at = slices.Index(p.values, value) }
func (p *pick) Paste(string)     {}

func (p *pick) Type(k tea.KeyPressMsg) {
	n := len(p.values)
	switch {
	case k.Code == tea.KeyLeft:
		p.at = (p.at + n - 1) % n
	case k.Text == " " || k.Code == tea.KeyRight:
		p.at = (p.at + 1) % n
	}
}

// The values of a pick that is yes or no.
const (
	unticked = "[ ] no"
	ticked   = "[x] yes"
)

func yesOrNo() *pick { return &pick{values: []string{unticked, ticked}} }

// The values of FieldMore.
const (
	foldedMore   = "[+] restart, readiness, terminal, worktree"
	unfoldedMore = "[-]"
)

// A StartForm asks for what a process needs to be started, or a session in a worktree.
type StartForm struct {
	Home string
	// Start begins to start the process. Fail tells the form what was wrong.
	Start   func(StartInput) tea.Cmd
	InShell func(command string) bool // reports whether a shell would run it

	session bool // in a worktree
	fields  [fieldCount]formField
	at      int
	bad     int    // the field that err is about
	err     string // what is wrong
	busy    bool   // the process is being started
	matches completion
}

// NewStartForm is a form for a process in a folder.
func NewStartForm(folder string) *StartForm {
	policies := []string{string(api.PolicyNo), string(api.PolicyOnFailure), string(api.PolicyAlways), string(api.PolicyUnlessStopped)}
	f := &StartForm{fields: [fieldCount]formField{
		FieldCommand:   {"command", "program and arguments, quoted as in a shell; alt+enter: another line", &widget.Area{}},
		FieldName:      {"name", "default: the program's name, of a shell's line that of its first program", &widget.Field{}},
		FieldFolder:    {"folder", "default: the home folder", &widget.Field{}},
		FieldEnv:       {"environment", "NAME=value, separated by spaces, commas or lines", &widget.Area{}},
		FieldKeepAlive: {"keep alive", "space switches; started again whenever it ends", yesOrNo()},
		FieldSandbox:   {"sandbox file", "JSON that says what it may read, write and reach", &widget.Field{}},
		FieldMore:      {"more", "space shows or hides when it is restarted and ready, terminal and worktree", &pick{values: []string{foldedMore, unfoldedMore}}},
		FieldRestart:   {"restart", "space switches; unless-stopped: after a reboot too, if nobody stopped it", &pick{values: policies}},
		FieldReady:     {"ready when", "port 8080, http://…, log REGEXP or command LINE; default: at once", &widget.Field{}},
		FieldTerminal:  {"terminal", "space switches; with a terminal it is a session that you can type into", yesOrNo()},
		FieldWorktree:  {"worktree", "new branch, and where it begins: fix main; default: none", &widget.Field{}},
	}}
	f.fields[FieldFolder].Set(folder)
	return f
}

// NewTreeForm is a form for a session in a new worktree of the repository in a folder.
func NewTreeForm(folder string) *StartForm {
	f := NewStartForm(folder)
	f.session, f.at = true, FieldWorktree
	f.fields[FieldWorktree].note = "new branch, and where it begins: fix-login main; default: work-1"
	f.fields[FieldFolder].note = "of the repository"
	return f
}

// Input is what was typed so far.
func (f *StartForm) Input() StartInput {
	text := func(i int) string { return strings.TrimSpace(f.fields[i].Text()) }
	return StartInput{Command: text(FieldCommand), Name: text(FieldName), Folder: text(FieldFolder), Env: text(FieldEnv), Sandbox: text(FieldSandbox),
		KeepAlive: text(FieldKeepAlive) == ticked, Restart: text(FieldRestart), Ready: text(FieldReady), Terminal: text(FieldTerminal) == ticked, Worktree: text(FieldWorktree)}
}

// shown are the fields that there are to see.
func (f *StartForm) shown() []int {
	if f.session {
		return []int{FieldWorktree, FieldCommand, FieldFolder}
	}
	all := []int{FieldCommand, FieldName, FieldFolder, FieldEnv, FieldKeepAlive, FieldSandbox, FieldMore}
	if f.fields[FieldMore].Text() == unfoldedMore {
		all = append(all, FieldRestart, FieldReady, FieldTerminal, FieldWorktree)
	}
	return all
}

// Busy reports whether the process is being started.
func (f *StartForm) Busy() bool { return f.busy }

// Fail shows what is wrong at its field.
func (f *StartForm) Fail(field int, why string) {
	f.at, f.bad, f.err, f.busy = field, field, widget.Clean(why), false
	if field > FieldMore {
		f.fields[FieldMore].Set(unfoldedMore)
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
		if f.complete() {
			return f.lookUp()
		}
		return f.focus(1)
	case keymap.FormDown:
		if area, ok := f.fields[f.at].formLine.(*widget.Area); !ok || !area.Down() {
			return f.focus(1)
		}
	case keymap.FormUp:
		if area, ok := f.fields[f.at].formLine.(*widget.Area); !ok || !area.Up() {
			return f.focus(-1)
		}
	case keymap.FormPrevious:
		return f.focus(-1)
	}
	return nil
}

func (f *StartForm) focus(by int) tea.Cmd {
	all := f.shown()
	f.at = all[(slices.Index(all, f.at)+by+len(all))%len(all)]
	return f.lookUp()
}

func (f *StartForm) Type(_ Host, k tea.KeyPressMsg) tea.Cmd {
	f.err = ""
	field, ok := f.fields[f.at].formLine.(*widget.Field)
	switch {
	case ok && field.Accepts(k) && field.Accept():
	case k.Code != tea.KeyTab: // which the fields would take for that too
		f.fields[f.at].Type(k)
	}
	return f.lookUp()
}

func (f *StartForm) Paste(_ Host, text string) tea.Cmd {
	f.err = ""
	f.fields[f.at].Paste(strings.TrimSpace(text))
	return f.lookUp()
}

// note is what is said under the field that is typed in.
func (f *StartForm) note(b keymap.Bindings) string {
	if c := f.matches; c.field == f.at && c.text == f.fields[f.at].Text() && len(c.lines) > 0 {
		names := strings.Join(lastParts(c.text, c.lines), "  ")
		if key := keyOf(b, keymap.ScopeForm, keymap.FormNext); key != "" {
			return key + ": " + names
		}
		return names
	}
	if command := f.fields[FieldCommand].Text(); f.at == FieldCommand {
		switch {
		case f.session && strings.TrimSpace(command) == "":
			return "an agent, for example; default: your shell"
		case f.InShell(command):
			return "runs in /bin/sh"
		}
	}
	return f.fields[f.at].note
}

// Hints are the keys of the form.
func (f *StartForm) Hints(h Host) []widget.Hint {
	b := h.Bindings()
	return []widget.Hint{Hint(b, keymap.ScopeForm, keymap.Accept, "start"), Hint(b, keymap.ScopeForm, keymap.FormNext, "next"), Hint(b, keymap.ScopeForm, keymap.Cancel, "cancel")}
}

func (f *StartForm) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	const label = 14
	look := h.Look()
	width = max(min(widestForm, w-8), label+16)
	title := "Start a process"
	if f.session {
		title = "Start a session in a new worktree"
	}
	if f.busy {
		title = h.Spinner() + "Starting…"
	}
	fields, at := f.drawFields(label, width, look)
	notes := f.notes(h.Bindings(), width, look)
	blank := []string{widget.Spaces(width)}
	if len(fields)+5+len(notes) > height { // with the frame
		blank = nil
	}
	rows = append([]string{look.Strong.Text(widget.Fit(title, width))}, blank...)
	room := max(height-2-len(notes)-len(rows)-len(blank), 1)
	first := max(min(at.y-room/2, len(fields)-room), 0)
	x, y = at.x, len(rows)+at.y-first
	rows = append(rows, fields[first:min(first+room, len(fields))]...)
	return append(append(rows, blank...), notes...), width, x, y
}

// widestForm is how wide a form is where there is room; no note is longer.
const widestForm = 74

// notes are the rows below the fields: what is wrong, or what the field is for. They are
// as many for every field.
func (f *StartForm) notes(b keymap.Bindings, width int, look *widget.Look) []string {
	text, ink := f.note(b), look.Dim
	if f.err != "" {
		text, ink = f.fields[f.bad].label+": "+f.err, look.Bad
	}
	rows := make([]string, (widestForm+width-1)/width)
	lines := []string{text}
	if widget.Width(text) > width {
		lines = widget.WrapWords(text, width)
	}
	for i := range rows {
		if i < len(lines) {
			rows[i] = widget.Clip(lines[i], width)
		}
		rows[i] = ink.Text(widget.Pad(rows[i], width))
	}
	return rows
}

// A place is where the cursor is.
type place struct{ x, y int }

// drawFields gives the rows of all fields that are shown.
func (f *StartForm) drawFields(label, width int, look *widget.Look) (rows []string, cursor place) {
	for _, i := range f.shown() {
		name := f.fields[i].label
		ink := look.Dim
		if i == f.at {
			ink = look.Title
		}
		lines, at, below := f.drawField(i, width-label, look)
		if i == f.at {
			cursor = place{label + at, len(rows) + below}
		}
		for n, line := range lines {
			if n > 0 {
				name = ""
			}
			rows = append(rows, ink.Text(widget.Pad(name, label))+line)
		}
	}
	return rows, cursor
}

// drawField gives the rows of a field and the cursor's place in them.
func (f *StartForm) drawField(i, w int, look *widget.Look) (rows []string, x, y int) {
	switch field := f.fields[i].formLine.(type) {
	case *pick:
		text := field.Text()
		if i == FieldRestart {
			text = "< " + text + " >"
		}
		return []string{look.Text.Text(widget.Fit(text, w))}, 1, 0
	case *widget.Area:
		rows, x, y = field.Draw(w)
		for i := range rows {
			rows[i] = look.Text.Text(rows[i])
		}
		return rows, x, y
	case *widget.Field:
		if i == f.at {
			row, x := field.DrawIn(w, look)
			return []string{row}, x, 0
		}
		row, x := field.Draw(w)
		return []string{look.Text.Text(row)}, x, 0
	}
	return nil, 0, 0
}
