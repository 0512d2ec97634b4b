package dialog

import (
	"regexp"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/kit/field"
	"tandem/panes/kit/text"
)

// A Find is the line in which the user types what to search for in a text. It is drawn at the
// bottom, and its owner shows the match above it while the user types.
type Find struct {
	Backward bool
	Problem  string // an error in the pattern, or "no match"

	Search  func(*regexp.Regexp) tea.Cmd // shows the nearest match; nil removes the highlights
	Restore func()                       // returns to the view before
	Repeat  func() tea.Cmd               // searches for the last pattern, after an empty line
	Say     func(text string, bad bool) tea.Cmd
	Closed  func(accept bool) // called first when the line is closed; may be nil

	last    *api.Pattern
	exact   bool   // match case even if the text has no capitals
	regexp  bool   // the text is a regular expression
	invalid bool   // the pattern is invalid
	count   string // number of the current match and of all, as in "2/7"
	field   field.Field
}

// NewFind returns a search line with the switches of *last. An accepted pattern is stored in *last.
func NewFind(last *api.Pattern) *Find {
	return &Find{last: last, regexp: last.Regexp, exact: last.Exact}
}

// FindRows is the height of a Find, including its frame.
const FindRows = 3

// CoveredRows returns how many rows the line covers at the bottom; f may be nil.
func (f *Find) CoveredRows(on interface{ Shows(Overlay) bool }) int {
	if f != nil && on.Shows(f) {
		return FindRows
	}
	return 0
}

func (f *Find) Traits() Traits         { return Traits{Low: true, Live: true} }
func (f *Find) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

// Pattern returns the pattern to search for.
func (f *Find) Pattern() api.Pattern {
	return api.Pattern{Text: f.field.Text(), Regexp: f.regexp, Exact: f.exact}
}

// Tell shows the number of the current match; total 0 means no match.
func (f *Find) Tell(number, total int) {
	f.Problem, f.count = "", ""
	if total == 0 {
		f.Problem = "no match"
	} else {
		f.count = text.Itoa(number) + "/" + text.Itoa(total)
	}
}

func (f *Find) Do(h Host, a keymap.Action) tea.Cmd {
	h.Close()
	accept := a == keymap.Accept
	if f.Closed != nil {
		f.Closed(accept)
	}
	switch {
	case !accept:
		f.Restore()
		return nil
	case f.field.Text() == "":
		return f.Repeat()
	case !f.invalid:
		*f.last = f.Pattern()
	}
	if f.Problem != "" {
		return f.Say(f.Problem, true)
	}
	return nil
}

func (f *Find) Type(_ Host, k tea.KeyPressMsg) tea.Cmd {
	switch k.Keystroke() {
	case "alt+r":
		f.regexp = !f.regexp
	case "alt+c":
		f.exact = !f.exact
	default:
		f.field.Type(k)
	}
	return f.patternChanged()
}

func (f *Find) Paste(_ Host, text string) tea.Cmd {
	f.field.Paste(text)
	return f.patternChanged()
}

// patternChanged searches for the typed pattern again, from where the search began.
func (f *Find) patternChanged() tea.Cmd {
	f.Problem, f.count, f.invalid = "", "", false
	f.Restore()
	if f.field.Text() == "" {
		return f.Search(nil)
	}
	re, err := f.Pattern().Compile()
	if f.invalid = err != nil; f.invalid {
		f.Problem = api.AsError(err).Message
	}
	return f.Search(re)
}

// Hints returns the keys of the line.
func (f *Find) Hints(h Host) []keymap.Hint {
	regexp, exact := "regexp", "match case"
	if f.regexp {
		regexp = "plain text"
	}
	if f.exact {
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
	if f.exact {
		label = "case " + label
	}
	if f.regexp {
		label = "regexp " + label
	}
	at := text.Width(label)
	note, ink := f.count, look.Dim
	if f.Problem != "" {
		note, ink = text.Clip(text.Clean(f.Problem), width/2), look.Bad
	}
	if note != "" {
		note = " " + note
	}
	field, x := f.field.Draw(max(width-at-text.Width(note), 1))
	return []string{
		look.Strong.Text(label) + look.Text.Text(field) + ink.Text(note),
	}, width, at + x, 0
}
