package dialog

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/text"
)

// A Question asks for confirmation before an irreversible action, or for one of several
// replies.
type Question struct {
	Title string
	Lines []string
	Yes   string
	No    string // default "cancel"
	Then  tea.Cmd

	Replies   []Reply // instead of Yes and Then
	Cancelled func()  // called when the question is cancelled; may be nil

	// Unasked marks a question that opens by itself. The user's keys may be meant for the
	// view below, so a reply takes two: its key as the first one typed, and enter.
	Unasked bool
	typed   int
	chosen  *Reply
}

// A Reply is one of several replies, selected by its key.
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
		return q.Then
	case q.chosen != nil:
		h.Close()
		return q.chosen.Then()
	default:
		// Enter counts as a key, too: it may end a line typed ahead.
		q.typed++
	}
	return nil
}

func (q *Question) Type(h Host, k tea.KeyPressMsg) tea.Cmd {
	// Every further key revokes a reply, as it may belong to a longer word.
	q.typed, q.chosen = q.typed+1, nil
	if k.Code == tea.KeyBackspace {
		q.typed = 0
	}
	for i, r := range q.Replies {
		switch {
		case k.Text != r.Key:
		case !q.Unasked:
			h.Close()
			return r.Then()
		case q.typed == 1:
			q.chosen = &q.Replies[i]
		}
	}
	return nil
}

func (q *Question) Paste(Host, string) tea.Cmd { return nil }

// Hints returns the keys of the question.
func (q *Question) Hints(h Host) []keymap.Hint {
	cancel := h.Bindings().Hint(keymap.Cancel, "cancel", keymap.ScopePrompt)
	switch {
	case q.chosen != nil:
		return []keymap.Hint{h.Bindings().Hint(keymap.Accept, q.chosen.Does, keymap.ScopePrompt), {Key: "backspace", Does: "choose another"}, cancel}
	case q.Unasked && q.typed > 0:
		return []keymap.Hint{{Key: "backspace", Does: "choose"}, cancel}
	case len(q.Replies) > 0:
		var hints []keymap.Hint
		for _, r := range q.Replies {
			hints = append(hints, keymap.Hint{Key: r.Key, Does: r.Does})
		}
		return append(hints, cancel)
	}
	return []keymap.Hint{
		h.Bindings().Hint(keymap.Accept, q.Yes, keymap.ScopeDialog),
		h.Bindings().Hint(keymap.Cancel, cmp.Or(q.No, "cancel"), keymap.ScopeDialog),
	}
}

func (q *Question) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	width = 34
	for _, l := range append([]string{q.Title}, q.Lines...) {
		width = max(width, text.Width(l))
	}
	width = min(width, w-8)
	rows = []string{look.Strong.Text(text.Fit(q.Title, width))}
	for _, l := range q.Lines {
		rows = append(rows, look.Dim.Text(text.Fit(l, width)))
	}
	return rows, width, -1, 0
}
