package overlay

import (
	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// A Find asks what to look for in a text. What it leads to is shown while it is
// typed; it is low, so that its owner can keep what was found out from under it.
type Find struct {
	Backward bool
	Exact    bool   // capitals count, though there are none in the text
	Regexp   bool   // the text is a regular expression
	Problem  string // with what was typed; "no match" is one
	Count    string // which match is shown, of how many

	Changed func() tea.Cmd            // something else is to be looked for
	Done    func(accept bool) tea.Cmd // it was closed

	field widget.Field
}

// FindRows is how high a Find is with its frame.
const FindRows = 3

func (f *Find) Low() bool              { return true }
func (f *Find) Live() bool             { return true }
func (f *Find) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

// Pattern is what is to be looked for.
func (f *Find) Pattern() api.Pattern {
	return api.Pattern{Text: f.field.Text(), Regexp: f.Regexp, Exact: f.Exact}
}

// Tell says which match is shown, of how many; with total 0 that there is none.
func (f *Find) Tell(number, total int) {
	f.Problem, f.Count = "", ""
	if total == 0 {
		f.Problem = "no match"
	} else {
		f.Count = widget.Itoa(number) + "/" + widget.Itoa(total)
	}
}

func (f *Find) Do(h Host, a keymap.Action) tea.Cmd {
	h.Close()
	return f.Done(a == keymap.Accept)
}

func (f *Find) Type(_ Host, k tea.KeyPressMsg) tea.Cmd {
	switch k.Keystroke() {
	case "alt+r":
		f.Regexp = !f.Regexp
	case "alt+c":
		f.Exact = !f.Exact
	default:
		f.field.Type(k)
	}
	return f.change()
}

func (f *Find) Paste(_ Host, text string) tea.Cmd {
	f.field.Paste(text)
	return f.change()
}

func (f *Find) change() tea.Cmd {
	f.Problem, f.Count = "", ""
	return f.Changed()
}

// Hints are the keys of the line.
func (f *Find) Hints(h Host) []widget.Hint {
	regexp, exact := "regexp", "match case"
	if f.Regexp {
		regexp = "plain text"
	}
	if f.Exact {
		exact = "any case"
	}
	return []widget.Hint{Hint(h.Bindings(), keymap.ScopePrompt, keymap.Accept, "stay here"), OwnKeys(h.Bindings(), keymap.ScopePrompt, regexp, "alt+r"),
		OwnKeys(h.Bindings(), keymap.ScopePrompt, exact, "alt+c"), Hint(h.Bindings(), keymap.ScopePrompt, keymap.Cancel, "go back")}
}

func (f *Find) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	width = w - 4
	label := "/ "
	if f.Backward {
		label = "? "
	}
	if f.Exact {
		label = "case " + label
	}
	if f.Regexp {
		label = "regexp " + label
	}
	at := widget.Width(label)
	told, ink := f.Count, look.Dim
	if f.Problem != "" {
		told, ink = widget.Clip(widget.Clean(f.Problem), width/2), look.Bad
	}
	if told != "" {
		told = " " + told
	}
	field, x := f.field.Draw(max(width-at-widget.Width(told), 1))
	return []string{
		look.Strong.Text(label) + look.Text.Text(field) + ink.Text(told),
	}, width, at + x, 0
}
