package screen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/keys"
)

func newInput() *Input { return &Input{Notify: func() {}} }

func eventNames(events []Event) (out []string) {
	for _, e := range events {
		switch e.Kind {
		case keys.EventKey:
			out = append(out, e.Key.String())
		case keys.EventPaste:
			out = append(out, "paste "+e.Paste)
		case keys.EventMouse:
			out = append(out, "mouse")
		case keys.EventFocusIn:
			out = append(out, "focus in")
		}
	}
	return out
}

func TestInputSeparatesKeysFromReplies(t *testing.T) {
	in := newInput()
	in.Feed([]byte("a\x1b]11;rgb:0000/0000/0000\x1b\\\x1bx\x1b[A\x1b[?2026;2$y\x1b[I\x1b[<0;3;4M\x1b[200~é\x1b[201~z"))
	replies := string(in.takeReplies())
	if want := "\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?2026;2$y"; replies != want {
		t.Errorf("passed on %q, want %q", replies, want)
	}
	want := []string{"a", "alt+x", "up", "focus in", "mouse", "paste é", "z"}
	if d := cmp.Diff(want, eventNames(in.Drain())); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestPlainCharactersOfOneReadBecomeOneEvent(t *testing.T) {
	in := newInput()
	text := strings.Repeat("ä\r\tb", minTyped)
	in.Feed([]byte(text + "\x03" + text + "\x1b[Aab"))
	var got []string
	for _, e := range in.Drain() {
		if e.Typed == "" {
			got = append(got, e.Key.String())
			continue
		}
		got = append(got, e.Typed)
		if n := len(e.Split()); n != 4*minTyped {
			t.Errorf("%d keys, want %d", n, 4*minTyped)
		}
	}
	if d := cmp.Diff([]string{text, "ctrl+c", text, "up", "a", "b"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestHugePasteIsSplitBetweenCharacters(t *testing.T) {
	in := newInput()
	text := "x" + strings.Repeat("漢", maxPaste/2)
	in.Feed([]byte("\x1b[200~" + text + "\x1b[201~"))
	var got strings.Builder
	events := in.Drain()
	for _, e := range events {
		if strings.ContainsRune(e.Paste, '\uFFFD') || len(e.Paste) > maxPaste {
			t.Errorf("a piece of %d bytes", len(e.Paste))
		}
		got.WriteString(e.Paste)
	}
	if got.String() != text || len(events) < 2 {
		t.Errorf("%d pieces, %d bytes of %d", len(events), got.Len(), len(text))
	}
}

func FuzzInputClaimsEveryByteOnce(f *testing.F) {
	f.Add([]byte("a\x1b[A\x1b]11;?\x07\x1b[200~x\x1b[201~"), 3)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		in := newInput()
		step = max(step, 1)
		for rest := data; len(rest) > 0; {
			n := min(step, len(rest))
			in.Feed(rest[:n])
			rest = rest[n:]
		}
		in.decoder.Flush(in.sortEvent)
		if len(in.raw) != in.decoder.Pending() {
			t.Errorf("%d bytes are left of which %d are unfinished", len(in.raw), in.decoder.Pending())
		}
	})
}

func TestKeyAfterUnreadEventsIsNotified(t *testing.T) {
	in, told := &Input{}, 0
	in.Notify = func() { told++ }
	in.Add(Event{Kind: keys.EventKey, Key: keys.Key{Code: 'a'}})
	in.Unread(in.Drain())
	in.Add(Event{Kind: keys.EventKey, Key: keys.Key{Code: keys.Escape}})
	if got := len(in.Drain()); told != 2 || got != 2 {
		t.Errorf("told %d times of %d keys", told, got)
	}
}

func TestShortcutTypesKeysOnlyWhileNothingIsQueued(t *testing.T) {
	in, typed := newInput(), ""
	shortcut := func(k keys.Key) bool {
		if k.Text == "q" {
			return false
		}
		typed += k.Text
		return true
	}
	in.SetShortcut(shortcut)
	in.Feed([]byte("abqc"))
	in.SetShortcut(shortcut) // q and c are still queued
	in.Feed([]byte("d"))
	if d := cmp.Diff([]string{"q", "c", "d"}, eventNames(in.Drain())); d != "" || typed != "ab" {
		t.Errorf("typed %q; queued (-want +got)\n%s", typed, d)
	}
	in.Feed([]byte("e"))
	events := in.Drain()
	in.SetShortcut(shortcut)
	in.Feed([]byte("f"))
	in.Unread(events)
	in.Feed([]byte("g"))
	if d := cmp.Diff([]string{"e", "g"}, eventNames(in.Drain())); d != "" || typed != "abf" {
		t.Errorf("typed %q; queued (-want +got)\n%s", typed, d)
	}
	in.SetShortcut(shortcut)
	in.Feed([]byte("\x1b[200~paste\x1b[201~h"))
	if d := cmp.Diff([]string{"paste paste", "h"}, eventNames(in.Drain())); d != "" || typed != "abf" {
		t.Errorf("typed %q; queued (-want +got)\n%s", typed, d)
	}
}
