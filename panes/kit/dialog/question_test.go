package dialog

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
)

type closingHost struct {
	bareHost
	closed bool
}

func (h *closingHost) Close() { h.closed = true }

// Keys typed before the user can have seen a question must not answer it.
func TestUnaskedQuestionIgnoresTypedAheadKeys(t *testing.T) {
	for typed, want := range map[string]string{"r\r": "r", "rm\r": "", "make\r": "", "xr\r": "", "\rr\r": "", "r": "", "\r": "", "rm\br\r": "r"} {
		answered := ""
		reply := func(key string) Reply {
			return Reply{key, key, func() tea.Cmd { answered += key; return nil }}
		}
		q := &Question{Unasked: true, Replies: []Reply{reply("m"), reply("r")}}
		var h closingHost
		for _, key := range typed {
			switch key {
			case '\r':
				q.Do(&h, keymap.Accept)
			case '\b':
				q.Type(&h, tea.KeyPressMsg{Code: tea.KeyBackspace})
			default:
				q.Type(&h, tea.KeyPressMsg{Code: key, Text: string(key)})
			}
			if h.closed {
				break
			}
		}
		if answered != want || h.closed != (want != "") {
			t.Errorf("%q answers %q, want %q", typed, answered, want)
		}
	}
}
