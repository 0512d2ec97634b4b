package dialog

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Question asks for confirmation before an irreversible action, or for one of several
// replies.
type Question struct {
	Title string
	Lines []string
	Yes   string
	No    string // default "cancel"
	Then  func() tea.Cmd

	Replies   []Reply // instead of Yes and Then
	Cancelled func()  // called when the question is cancelled; may be nil
}

// A Reply is one of the answers that a Question offers. Key selects it, and Does describes it in
// the status bar.
type Reply struct {
	Key, Does string
	Then      func() tea.Cmd
}

func (q *Question) Traits() Traits { return Traits{} }

func (q *Question) Scopes() []keymap.Scope {
	// This scope binds no character.
	if len(q.Replies) > 0 {
		return []keymap.Scope{keymap.ScopePrompt}
	}
	return []keymap.Scope{keymap.ScopeDialog}
}

func (q *Question) Do(h Host, a keymap.Action) tea.Cmd {
	switch {
	case a != keymap.Accept:
		h.Close()
		if q.Cancelled != nil {
			q.Cancelled()
		}
	case len(q.Replies) == 0:
		h.Close()
		return q.Then()
	}
	return nil
}

func (q *Question) Type(h Host, k tea.KeyPressMsg) tea.Cmd {
	for _, r := range q.Replies {
		if k.Text == r.Key {
			h.Close()
			return r.Then()
		}
	}
	return nil
}

func (q *Question) Paste(Host, string) tea.Cmd { return nil }

// Hints returns the keys of the question.
func (q *Question) Hints(h Host) []keymap.Hint {
	no := cmp.Or(q.No, "cancel")
	if len(q.Replies) > 0 {
		var hints []keymap.Hint
		for _, r := range q.Replies {
			hints = append(hints, keymap.Hint{Key: r.Key, Does: r.Does})
		}
		return append(hints, h.Bindings().Hint(keymap.Cancel, no, keymap.ScopePrompt))
	}
	return []keymap.Hint{
		h.Bindings().Hint(keymap.Accept, q.Yes, keymap.ScopeDialog),
		h.Bindings().Hint(keymap.Cancel, no, keymap.ScopeDialog),
	}
}

func (q *Question) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	width = 34
	for _, l := range append([]string{q.Title}, q.Lines...) {
		width = max(width, text.Width(l))
	}
	width = min(width, w-8)
	title, lines := text.WrapLines([]string{q.Title}, width), text.WrapLines(q.Lines, width)
	if room := max(height-6-len(title), 1); len(lines) > room {
		lines[room-1] = text.Clip(strings.Join(lines[room-1:], " "), width)
		lines = lines[:room]
	}
	return append(inkLines(title, look.Strong, width), inkLines(lines, look.Dim, width)...), width, -1, 0
}

// inkLines draws lines in rows of width cells.
func inkLines(lines []string, ink look.Ink, width int) (rows []string) {
	for _, line := range lines {
		rows = append(rows, ink.Text(text.Fit(line, width)))
	}
	return rows
}
