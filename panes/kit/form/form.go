// Package form holds the form: a dialog of labelled inputs below each other, with completions, a
// note on the focused input, and an error message. The caller decides what the fields mean.
package form

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/field"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Form asks for the text of its fields.
type Form struct {
	Title  string
	Submit func() tea.Cmd // handles the input; on an error it calls Fail, now or later

	fields  []*Field
	focused *Field
	wrong   *Field // the field with an error
	problem string // the error, until the user types
	busy    bool   // the input is being handled
}

// New returns a form with the first field focused.
func New(title string, fields ...*Field) *Form {
	return &Form{Title: title, fields: fields, focused: fields[0]}
}

// Fail shows an error about the text of a field, and focuses the field.
func (f *Form) Fail(field *Field, why string) {
	f.focused, f.wrong, f.problem, f.busy = field, field, text.Clean(why), false
	// The field may be folded away.
	if visible := f.visibleFields(); !slices.Contains(visible, field) {
		visible[len(visible)-1].Input.(*Choice).at = 1
	}
}

// visibleFields returns the fields that are not folded away, from top to bottom.
func (f *Form) visibleFields() []*Field {
	for i, field := range f.fields {
		if choice, ok := field.Input.(*Choice); ok && choice.Folds && choice.at == 0 {
			return f.fields[:i+1]
		}
	}
	return f.fields
}

// Traits shows that the input is being handled.
func (f *Form) Traits() dialog.Traits { return dialog.Traits{Busy: f.busy} }

func (f *Form) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeForm} }

func (f *Form) Do(h dialog.Host, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.Cancel:
		h.Close()
	case keymap.Accept:
		if fold, ok := f.focused.Input.(*Choice); ok && fold.Folds && fold.at == 0 {
			fold.at = 1
			return nil
		}
		if !f.busy {
			f.problem, f.busy = "", true
			return f.Submit()
		}
	case keymap.FormNext:
		// Text that was there before needs no completion.
		if typed := f.focused; typed.edited && len(typed.common) > len(typed.Text()) {
			typed.Set(typed.common)
			return f.findCompletions()
		}
		return f.moveFocus(1)
	// Inside a field of several lines, up and down move the cursor first.
	case keymap.FormDown:
		if area, ok := f.focused.Input.(*field.Area); !ok || !area.Down() {
			return f.moveFocus(1)
		}
	case keymap.FormUp:
		if area, ok := f.focused.Input.(*field.Area); !ok || !area.Up() {
			return f.moveFocus(-1)
		}
	case keymap.FormPrevious:
		return f.moveFocus(-1)
	}
	return nil
}

func (f *Form) moveFocus(by int) tea.Cmd {
	all := f.visibleFields()
	f.focused.edited = false
	f.focused = all[(slices.Index(all, f.focused)+by+len(all))%len(all)]
	return f.findCompletions()
}

func (f *Form) Type(_ dialog.Host, k tea.KeyPressMsg) tea.Cmd {
	f.problem, f.focused.edited = "", true
	line, ok := f.focused.Input.(*field.Field)
	switch {
	case ok && line.Accepts(k) && line.Accept():
	case k.Code != tea.KeyTab: // a line would accept a completion with tab, too
		f.focused.Type(k)
	}
	return f.findCompletions()
}

func (f *Form) Paste(_ dialog.Host, text string) tea.Cmd {
	f.problem, f.focused.edited = "", true
	f.focused.Paste(strings.TrimSpace(text))
	return f.findCompletions()
}

// findCompletions returns a command that looks up completions of the focused field; nil if it has
// none. Lookups run concurrently, so an outdated result may arrive last. Such a result is dropped.
func (f *Form) findCompletions() tea.Cmd {
	field, text := f.focused, f.focused.Text()
	field.common, field.lines = "", nil // of another text
	if field.Complete == nil {
		return nil
	}
	find := field.Complete(text)
	if find == nil {
		return nil
	}
	return func() tea.Msg {
		common, lines := find()
		return dialog.Answer{Of: f, Do: func() tea.Cmd {
			if field == f.focused && text == field.Text() {
				field.offer(common, lines)
			}
			return nil
		}}
	}
}

// Hints returns the keys of the form.
func (f *Form) Hints(h dialog.Host) []keymap.Hint {
	b := h.Bindings()
	return []keymap.Hint{b.Hint(keymap.Accept, "start", keymap.ScopeForm), b.Hint(keymap.FormNext, "next", keymap.ScopeForm), b.Hint(keymap.Cancel, "cancel", keymap.ScopeForm)}
}

const (
	// maxWidth is the maximum width of a form in cells. No note is longer.
	maxWidth = 74
	// labelWidth is the width of the labels in cells.
	labelWidth = 14
)

func (f *Form) Draw(h dialog.Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	width = max(min(maxWidth, w-8), labelWidth+16)
	title := f.Title
	if f.busy {
		title = h.Spinner() + "Starting…"
	}
	fields, x, y := f.drawFields(width, look)
	notes := f.drawNotes(h.Bindings(), width, height-5, look) // leaves the frame, the title and two rows of fields
	blank := []string{text.Spaces(width)}
	// A low screen has no room for the blank rows that set off the title and the notes.
	if len(fields)+5+len(notes) > height { // including the frame
		blank = nil
	}
	rows = append([]string{look.Strong.Text(text.Fit(title, width))}, blank...)
	room := max(height-2-len(notes)-len(rows)-len(blank), 1)
	first := max(min(y-room/2, len(fields)-room), 0)
	y += len(rows) - first
	rows = append(rows, fields[first:min(first+room, len(fields))]...)
	return append(append(rows, blank...), notes...), width, x, y
}

// drawNotes draws the error, or the note of the focused field. Every note has the same number of
// rows, so that the form does not jump. An error may have more, but at most maxRows.
func (f *Form) drawNotes(b keymap.Bindings, width, maxRows int, look *look.Look) []string {
	s, ink := f.focused.note(b), look.Dim
	if f.problem != "" {
		s, ink = f.wrong.Label+": "+f.problem, look.Bad
	}
	noteRows := (maxWidth + width - 1) / width
	lines := []string{s}
	if text.Width(s) > width {
		lines = text.WrapWordsIn(s, width, max(noteRows, maxRows))
	}
	rows := make([]string, max(noteRows, len(lines)))
	for i := range rows {
		if i < len(lines) {
			rows[i] = text.Clip(lines[i], width)
		}
		rows[i] = ink.Text(text.Pad(rows[i], width))
	}
	return rows
}

// drawFields draws the rows of the visible fields, and returns the position of the cursor in them.
func (f *Form) drawFields(width int, look *look.Look) (rows []string, x, y int) {
	for _, field := range f.visibleFields() {
		focused, label, ink := field == f.focused, field.Label, look.Dim
		if focused {
			ink = look.Title
		}
		lines, at, below := field.draw(width-labelWidth, look, focused)
		if focused {
			x, y = labelWidth+at, len(rows)+below
		}
		for _, line := range lines {
			rows = append(rows, ink.Text(text.Pad(label, labelWidth))+line)
			label = ""
		}
	}
	return rows, x, y
}
