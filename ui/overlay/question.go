package overlay

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// A Question asks for yes or no before something that cannot be taken back.
type Question struct {
	Title string
	Lines []string
	Yes   string
	No    string // default "cancel"
	Then  tea.Cmd
}

func (q *Question) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeDialog} }

func (q *Question) Do(h Host, a keymap.Action) tea.Cmd {
	h.Close()
	if a == keymap.Accept {
		return q.Then
	}
	return nil
}

func (q *Question) Type(Host, tea.KeyPressMsg) tea.Cmd { return nil }
func (q *Question) Paste(Host, string) tea.Cmd         { return nil }

// Hints are the keys of the question.
func (q *Question) Hints(h Host) []widget.Hint {
	return []widget.Hint{
		Hint(h.Bindings(), keymap.ScopeDialog, keymap.Accept, q.Yes),
		Hint(h.Bindings(), keymap.ScopeDialog, keymap.Cancel, cmp.Or(q.No, "cancel")),
	}
}

func (q *Question) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	width = 34
	for _, l := range append([]string{q.Title}, q.Lines...) {
		width = max(width, widget.Width(l))
	}
	width = min(width, w-8)
	rows = []string{look.Strong.Text(widget.Fit(q.Title, width))}
	for _, l := range q.Lines {
		rows = append(rows, look.Dim.Text(widget.Fit(l, width)))
	}
	return append(rows, widget.Spaces(width), hintRow(q.Hints(h), width, look.Key, look.Text)), width, -1, 0
}

// hintRow is a row of hints.
func hintRow(hints []widget.Hint, width int, key, does widget.Ink) string {
	line, used := widget.Hints(hints, width, 0, key, does)
	return line + widget.Spaces(width-used)
}
