package dialog

import (
	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/kit/field"
	"tandem/panes/kit/text"
)

// A Find is the search line of a text. Matches are shown while the user types. It is drawn
// at the bottom, and its owner scrolls to keep the match visible above it.
type Find struct {
	Backward bool
	Exact    bool   // match case even if the text has no capitals
	Regexp   bool   // the text is a regular expression
	Problem  string // an error in the pattern, or "no match"
	Count    string // number of the current match and of all, as in "2/7"

	Changed func() tea.Cmd            // called when the pattern changes
	Done    func(accept bool) tea.Cmd // called when the line is closed

	field field.Field
}

// FindRows is the height of a Find, including its frame.
const FindRows = 3

func (f *Find) Traits() Traits         { return Traits{Low: true, Live: true} }
func (f *Find) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

// Pattern returns the pattern to search for.
func (f *Find) Pattern() api.Pattern {
	return api.Pattern{Text: f.field.Text(), Regexp: f.Regexp, Exact: f.Exact}
}

// Tell shows the number of the current match; total 0 means no match.
func (f *Find) Tell(number, total int) {
	f.Problem, f.Count = "", ""
	if total == 0 {
		f.Problem = "no match"
	} else {
		f.Count = text.Itoa(number) + "/" + text.Itoa(total)
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
	return f.patternChanged()
}

func (f *Find) Paste(_ Host, text string) tea.Cmd {
	f.field.Paste(text)
	return f.patternChanged()
}

func (f *Find) patternChanged() tea.Cmd {
	f.Problem, f.Count = "", ""
	return f.Changed()
}

// Hints returns the keys of the line.
func (f *Find) Hints(h Host) []keymap.Hint {
	regexp, exact := "regexp", "match case"
	if f.Regexp {
		regexp = "plain text"
	}
	if f.Exact {
		exact = "any case"
	}
	return []keymap.Hint{h.Bindings().Hint(keymap.Accept, "stay here", keymap.ScopePrompt), h.Bindings().OwnKeys(keymap.ScopePrompt, regexp, "alt+r"),
		h.Bindings().OwnKeys(keymap.ScopePrompt, exact, "alt+c"), h.Bindings().Hint(keymap.Cancel, "go back", keymap.ScopePrompt)}
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
	at := text.Width(label)
	told, ink := f.Count, look.Dim
	if f.Problem != "" {
		told, ink = text.Clip(text.Clean(f.Problem), width/2), look.Bad
	}
	if told != "" {
		told = " " + told
	}
	field, x := f.field.Draw(max(width-at-text.Width(told), 1))
	return []string{
		look.Strong.Text(label) + look.Text.Text(field) + ink.Text(told),
	}, width, at + x, 0
}
