package prompt

import (
	"strings"
	"testing"
	"time"

	"tandem/engine/screen/vt"
)

func FuzzShellMarks(f *testing.F) {
	f.Add([]byte("\x1b]133;A;aid=n\a\x1b]133;B;aid=n\a\x1b]633;E;ls;n\a\x1b]133;C;aid=n\ax\r\n\x1b]133;P;k=e;aid=n\a\x1b]133;D;0;aid=n\a"))
	f.Add([]byte("\x1b]133;A;c=0;aid=n\a$ \x1b]133;B;aid=n\als\r\nx\r\n\x1b]133;D;0;aid=n\a\x1b]633;E;;n;n=5\a"))
	f.Fuzz(func(t *testing.T, p []byte) {
		m := &marks{nonce: "n"}
		w := m.watchNext()
		at := int64(0)
		term := vt.New(vt.Options{Cols: 20, Rows: 5, Event: func(e vt.Event) {
			if e, ok := e.(vt.PromptEvent); ok {
				if ended := m.noteMark(markFound{PromptEvent: e, at: at, typed: func(from inputStart, to int64) (string, int64, bool) { return "x", from.at, false }}); ended != nil && ended.Duration < 0 {
					t.Error(ended)
				}
			}
		}})
		for i := range p {
			at++
			term.Write(p[i : i+1])
		}
		m.readWatch(w)
		before := m.snapshot().phase
		again := &marks{nonce: "n"}
		term = vt.New(vt.Options{Cols: 20, Rows: 5, Event: func(e vt.Event) {
			if e, ok := e.(vt.PromptEvent); ok {
				again.noteMark(markFound{PromptEvent: e, typed: func(from inputStart, to int64) (string, int64, bool) { return "x", from.at, false }})
			}
		}})
		term.SetReplies(false)
		term.Write(m.appendState(nil))
		if now := again.snapshot(); now.phase != before || now.prompt != m.snapshot().prompt && before == phaseReady {
			t.Errorf("%+v became %+v", m.snapshot(), now)
		}
	})
}

func FuzzPlainStream(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\r\nc\rd\x1b]0;t\ae\x1bPq\x1b\\f"), 3)
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		whole, parts := newPlainWindow(0), newPlainWindow(0)
		whole.addOutput(p)
		cut = min(max(cut, 0), len(p))
		parts.addOutput(p[:cut])
		parts.addOutput(p[cut:])
		if string(whole.text) != string(parts.text) || whole.at != parts.at {
			t.Errorf("%q cut at %d: %q, not %q", p, cut, parts.text, whole.text)
		}
		if strings.ContainsAny(string(whole.text), "\x1b\r\a") {
			t.Errorf("%q: %q", p, whole.text)
		}
	})
}

func TestSnapshotDoesNotWaitForALogRead(t *testing.T) {
	m := &marks{nonce: "n"}
	reads := 0
	typed := func(from inputStart, to int64) (string, int64, bool) {
		reads++
		if !m.mu.TryLock() {
			t.Error("the log is read while the state is locked")
			return "", from.at, false
		}
		m.mu.Unlock()
		return "make", from.at, false
	}
	term := vt.New(vt.Options{Cols: 20, Rows: 5, Event: func(e vt.Event) {
		if e, ok := e.(vt.PromptEvent); ok {
			m.noteMark(markFound{PromptEvent: e, typed: typed})
		}
	}})
	term.Write([]byte("\x1b]133;A;aid=n\a\x1b]133;B;aid=n\a\x1b]133;C;aid=n\a\x1b]133;D;0;aid=n\a"))
	term.Write([]byte("\x1b]133;A;c=0;aid=n\a\x1b]133;B;aid=n\a\x1b]133;D;0;aid=n\a"))
	term.Write([]byte("\x1b]133;A;c=0;aid=n\a\x1b]133;B;aid=n\a"))
	m.noteTyped([]byte("\r"), time.Now())
	m.endShell(markFound{PromptEvent: vt.PromptEvent{Mark: 'D'}, typed: typed}, nil)
	if reads != 3 {
		t.Errorf("the log was read %d times, not 3", reads)
	}
}

func TestPromptIsNotFreeWhileALineTypedAheadIsUnread(t *testing.T) {
	m := &marks{nonce: "n"}
	term := vt.New(vt.Options{Cols: 20, Rows: 5, Event: func(e vt.Event) {
		if e, ok := e.(vt.PromptEvent); ok {
			m.noteMark(markFound{PromptEvent: e, typed: func(from inputStart, to int64) (string, int64, bool) { return "make", from.at, false }})
		}
	}})
	const prompt, begins, ends = "\x1b]133;A;aid=n\a\x1b]133;B;aid=n\a", "\x1b]133;C;aid=n\a", "\x1b]133;D;0;aid=n\a"
	steps := []struct {
		typed, printed string
		waits          bool
	}{
		{"make\rmake test\r", prompt, false},
		{"", begins + ends + prompt, false},
		{"", begins + ends + prompt, true},
		{"sleep 1\r", begins, false},
		{"make\r\x03", ends + prompt, true}, // what an interrupt discards is not run
	}
	for _, s := range steps {
		m.noteTyped([]byte(s.typed), time.Now())
		term.Write([]byte(s.printed))
		if got := m.snapshot().atPrompt(); got != s.waits {
			t.Errorf("after %q was typed and %q printed it is at its prompt: %v", s.typed, s.printed, got)
		}
	}
}

func TestOutputIsNotMistakenForALineTypedAhead(t *testing.T) {
	m := &marks{nonce: "n"}
	var ended []Command
	term := vt.New(vt.Options{Cols: 20, Rows: 5, Event: func(e vt.Event) {
		if e, ok := e.(vt.PromptEvent); ok {
			c := m.noteMark(markFound{PromptEvent: e, typed: func(from inputStart, to int64) (string, int64, bool) { return "far-2", from.at, false }})
			if c != nil {
				ended = append(ended, *c)
			}
		}
	}})
	m.noteTyped([]byte("echo far-$((1+1))\r"), time.Now())
	term.Write([]byte("echo far-$((1+1))\r\n\x1b]133;A;c=0;aid=n\a$ \x1b]133;B;aid=n\afar-2\r\n\x1b]133;D;0;aid=n\a"))
	if len(ended) != 0 {
		t.Errorf("it counts as a command: %+v", ended)
	}
}
