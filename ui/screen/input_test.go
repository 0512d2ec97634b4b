package screen

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/keys"
)

// pipeInput returns an input that reads what is written to the returned file.
func pipeInput(t *testing.T) (*Input, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return &Input{File: r, Notify: func() {}}, w
}

// readOnce has the input read once and returns the replies it passes on.
func readOnce(t *testing.T, in *Input) string {
	t.Helper()
	buf := make([]byte, 4096)
	n, err := in.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

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
	in, w := pipeInput(t)
	w.WriteString("a\x1b]11;rgb:0000/0000/0000\x1b\\\x1bx\x1b[A\x1b[?2026;2$y\x1b[I\x1b[<0;3;4M\x1b[200~é\x1b[201~z")
	replies := readOnce(t, in)
	if want := "\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?2026;2$y"; replies != want {
		t.Errorf("passed on %q, want %q", replies, want)
	}
	want := []string{"a", "alt+x", "up", "focus in", "mouse", "paste é", "z"}
	if d := cmp.Diff(want, eventNames(in.Drain())); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestPlainCharactersOfOneReadBecomeOneEvent(t *testing.T) {
	in, w := pipeInput(t)
	text := strings.Repeat("ä\r\tb", minTyped)
	w.WriteString(text + "\x03" + text + "\x1b[Aab")
	readOnce(t, in)
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

func TestLoneEscapeIsKeyButSplitSequenceIsNot(t *testing.T) {
	in, w := pipeInput(t)
	w.WriteString("\x1b")
	readOnce(t, in)
	if d := cmp.Diff([]string{"esc"}, eventNames(in.Drain())); d != "" {
		t.Errorf("a lone escape (-want +got)\n%s", d)
	}
	in.Feed([]byte("\x1b["))
	in.Feed([]byte("5~"))
	if d := cmp.Diff([]string{"pgup"}, eventNames(in.Drain())); d != "" {
		t.Errorf("a sequence in two pieces (-want +got)\n%s", d)
	}
}

func TestMouseReportAndCharacterSplitBySlowLinkAreJoined(t *testing.T) {
	in, w := pipeInput(t)
	for _, pieces := range [][2]string{{"\x1b[<0;3", ";4M"}, {"\xe6\xbc", "\xa2"}} {
		w.WriteString(pieces[0])
		slow := time.AfterFunc(2*escapeWait, func() { w.WriteString(pieces[1]) })
		defer slow.Stop()
		before := len(in.queue)
		for len(in.queue) == before {
			if replies := readOnce(t, in); replies != "" {
				t.Fatalf("passed on %q", replies)
			}
		}
	}
	if d := cmp.Diff([]string{"mouse", "漢"}, eventNames(in.Drain())); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestHugePasteIsSplitBetweenCharacters(t *testing.T) {
	in, _ := pipeInput(t)
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
		in := &Input{Notify: func() {}}
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
