package form

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/field"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Field is a row of a form.
type Field struct {
	Label string
	Note  string                   // shown while the field has the focus
	About func(text string) string // replaces the note, unless it returns ""; may be nil
	// Complete returns a lookup of completions for text, or nil if there is none. Complete itself
	// may be nil.
	Complete func(text string) Lookup
	Input

	lines  []string // completions of the text
	common string   // their common prefix
	edited bool     // since it got the focus
}

// A Lookup returns possible texts of a field and their common prefix. It may block.
type Lookup func() (common string, lines []string)

// An Input is the editable part of a field: a field.Field, a field.Area or a Choice.
type Input interface {
	Text() string
	Set(string)
	Type(tea.KeyPressMsg)
	Paste(string)
}

// Value returns the text without surrounding blanks.
func (f *Field) Value() string { return strings.TrimSpace(f.Text()) }

// offer sets the completions of the text.
func (f *Field) offer(common string, lines []string) {
	f.common, f.lines = common, lines
	if line, ok := f.Input.(*field.Field); ok {
		line.Suggest(lines)
	}
}

// note returns the note shown below the form while the field has the focus: its completions or, if
// there are none, its description.
func (f *Field) note(b keymap.Bindings) string {
	if len(f.lines) > 0 {
		names := strings.Join(field.LastParts(f.Text(), f.lines), "  ")
		if key := b.KeyOf(keymap.FormNext, keymap.ScopeForm); key != "" {
			return key + ": " + names
		}
		return names
	}
	if f.About != nil {
		if about := f.About(f.Text()); about != "" {
			return about
		}
	}
	return f.Note
}

// draw draws the rows of the input, and returns the position of the cursor in them.
func (f *Field) draw(w int, look *look.Look, focused bool) (rows []string, x, y int) {
	switch input := f.Input.(type) {
	case *field.Area:
		if rows, x, y = input.Draw(w); input.Text() == "" {
			return []string{emptyRow(w, look)}, x, y
		}
	case *field.Field:
		switch {
		case input.Text() == "" && len(f.lines) == 0:
			return []string{emptyRow(w, look)}, 0, 0
		case focused:
			row, x := input.DrawIn(w, look)
			return []string{row}, x, 0
		}
		row, _ := input.Draw(w)
		rows = []string{row}
	case *Choice:
		rows, x = []string{text.Fit(input.draw(), w)}, 1
	}
	for i := range rows {
		rows[i] = look.Text.Text(rows[i])
	}
	return rows, x, y
}

// emptyRow draws a field without text, so that it can be seen.
func emptyRow(w int, look *look.Look) string { return look.Faint.Text(strings.Repeat("_", w)) }

// A Choice has one of several fixed values. Space and the arrow keys change it.
type Choice struct {
	Values []string
	Folds  bool // hides the fields below it while it has its first value
	at     int
}

// The values of a yes-or-no field.
const (
	No  = "[ ] no"
	Yes = "[x] yes"
)

func NewYesNo() *Choice { return &Choice{Values: []string{No, Yes}} }

func (c *Choice) Text() string     { return c.Values[c.at] }
func (c *Choice) Set(value string) { c.at = slices.Index(c.Values, value) }
func (c *Choice) Paste(string)     {}

func (c *Choice) Type(k tea.KeyPressMsg) {
	n := len(c.Values)
	switch {
	case k.Code == tea.KeyLeft:
		c.at = (c.at + n - 1) % n
	case k.Text == " " || k.Code == tea.KeyRight:
		c.at = (c.at + 1) % n
	}
}

// draw returns the value, with arrows beside it if there are more than two values.
func (c *Choice) draw() string {
	if len(c.Values) > 2 {
		return "< " + c.Text() + " >"
	}
	return c.Text()
}
