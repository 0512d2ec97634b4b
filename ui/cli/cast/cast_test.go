package cast

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/screen/vt"
)

// castOf writes events and returns the file's lines.
func castOf(t *testing.T, events ...Event) []string {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{Width: 80, Height: 24, Title: "a<b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// readCast reads a recording to its end, or to its first error.
func readCast(text string) (h Header, events []Event, err error) {
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		return h, nil, err
	}
	for {
		e, err := r.Next()
		if err == io.EOF {
			return r.Header, events, nil
		}
		if err != nil {
			return r.Header, events, err
		}
		events = append(events, e)
	}
}

func TestWriterWritesAsciicast(t *testing.T) {
	got := castOf(t,
		Event{0, "o", "\x1b[1mé"}, Event{2 * time.Second, "o", "a\xe6\xbc"}, Event{time.Second, "o", "\xa2b"},
		Event{3 * time.Second, "r", "100x30"}, Event{4500 * time.Millisecond, "o", "bad\xff."}, Event{5 * time.Second, "o", "\xe6"})
	want := []string{
		`{"version":2,"width":80,"height":24,"title":"a<b"}`,
		`[0.000000,"o","\u001b[1mé"]`,
		`[2.000000,"o","a"]`,
		`[2.000000,"o","漢b"]`,
		`[3.000000,"r","100x30"]`,
		`[4.500000,"o","bad` + "\uFFFD" + `."]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestReaderReadsVersionsTwoAndThree(t *testing.T) {
	const v2 = `{"version": 2, "width": 80, "height": 24, "idle_time_limit": 1.5, "theme": {}}
[0.5, "o", "one\r\n"]

[1, "i", "x"]
[1.25, "r", "90x20"]
[1.2, "o", "earlier"]
[2, "m", ""]
[2.5, "o", "cut o`
	h, events, err := readCast(v2)
	want := []Event{{500 * time.Millisecond, "o", "one\r\n"}, {1250 * time.Millisecond, "r", "90x20"}, {1250 * time.Millisecond, "o", "earlier"}}
	if diff := cmp.Diff(want, events, cmp.AllowUnexported(Event{})); err != nil || diff != "" || h.Width != 80 || h.IdleLimit != 1.5 {
		t.Errorf("%+v, %v (-want +got):\n%s", h, err, diff)
	}
	const v3 = "{\"version\": 3, \"term\": {\"cols\": 100, \"rows\": 40}}\n# a comment\n[0.5, \"o\", \"a\"]\n[0.5, \"x\", \"0\"]\n[1, \"o\", \"b\"]\n"
	h, events, err = readCast(v3)
	want = []Event{{500 * time.Millisecond, "o", "a"}, {2 * time.Second, "o", "b"}}
	if diff := cmp.Diff(want, events, cmp.AllowUnexported(Event{})); err != nil || diff != "" || h.Width != 100 {
		t.Errorf("version 3: %+v, %v (-want +got):\n%s", h, err, diff)
	}
}

func TestReaderReportsTheLineOfAnError(t *testing.T) {
	const head = `{"version":2,"width":80,"height":24}` + "\n"
	for text, says := range map[string]string{
		"":                                   "empty",
		"\n\n":                               "empty",
		"hello":                              "not an asciicast recording",
		`{"version":1}`:                      "version 1",
		`{"version":2,"width":-1}`:           "below 0",
		head + "[1]\n[2]":                    "line 2",
		head + `["1","o","x"]` + "\n":        "line 2",
		head + `[-1,"o","x"]` + "\n":         "line 2",
		head + `[1e300,"o","x"]` + "\n":      "line 2",
		head + `[1,"o",7]` + "\n":            "line 2",
		head + `[1,"o","x"]` + "\n{}\n" + "": "line 3",
	} {
		if _, _, err := readCast(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

func FuzzRecordings(f *testing.F) {
	f.Add("{\"version\":2,\"width\":80,\"height\":24}\n[0.5,\"o\",\"x\\u001b[0m\"]\n[1,\"r\",\"1x1\"]")
	f.Add("{\"version\":3,\"term\":{\"cols\":1,\"rows\":1}}\n[4e9,\"o\",\"\"]\n[4e9,\"o\",\"\"]\n")
	f.Add("{\"version\":2}\n[\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, events, _ := readCast(text)
		last := time.Duration(0)
		for _, e := range events {
			if e.At < last || e.Kind != Output && e.Kind != Resize {
				t.Fatalf("%+v after %v", e, last)
			}
			last = e.At
		}
		var b bytes.Buffer
		w, err := NewWriter(&b, Header{Width: 1, Height: 1})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for _, e := range events {
			if err := w.Add(e); err != nil {
				t.Fatal(err)
			}
			if e.Kind == Output {
				said.WriteString(e.Text)
			}
		}
		w.Flush()
		_, again, err := readCast(b.String())
		if err != nil {
			t.Fatalf("cannot read the written recording: %v", err)
		}
		var heard strings.Builder
		for _, e := range again {
			if e.Kind == Output {
				heard.WriteString(e.Text)
			}
		}
		if said.String() != heard.String() {
			t.Fatalf("%q became %q", said.String(), heard.String())
		}
	})
}

func TestTimelineUsesTheLogsTimes(t *testing.T) {
	began := time.Unix(1000, 0)
	at := func(offset int64, s float64) api.LogTime {
		return api.LogTime{Offset: offset, At: began.Add(time.Duration(s * float64(time.Second)))}
	}
	out := api.SessionRecordOutput{
		Data: []byte("aaaabbbbcccc"), Start: 10, NextCursor: 22,
		Times: []api.LogTime{at(10, 0), at(14, 2), at(18, 2.5)},
		Sizes: []api.LogSize{{Offset: 10, Cols: 80, Rows: 24}, {Offset: 16, Cols: 90, Rows: 24}},
	}
	var tl timeline
	got := tl.events(out)
	got = append(got, tl.events(api.SessionRecordOutput{Data: []byte("d"), Start: 22, Times: []api.LogTime{at(18, 2.5)},
		Sizes: []api.LogSize{{Offset: 22, Cols: 90, Rows: 24}}})...)
	want := []Event{
		{0, "o", "aaaa"}, {2 * time.Second, "o", "bb"}, {2 * time.Second, "r", "90x24"}, {2 * time.Second, "o", "bb"},
		{2500 * time.Millisecond, "o", "cccc"}, {2500 * time.Millisecond, "o", "d"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Event{})); diff != "" || tl.guessed != 0 {
		t.Errorf("guessed %d, differs (-want +got):\n%s", tl.guessed, diff)
	}
}

func TestTimelineSpreadsOutputWithoutTimes(t *testing.T) {
	var tl timeline
	got := tl.events(api.SessionRecordOutput{
		Data:  append(bytes.Repeat([]byte("x"), guessedPiece+1), "later"...),
		Times: []api.LogTime{{Offset: guessedPiece + 1, At: time.Unix(5000, 0)}},
	})
	if len(got) != 3 || got[0].At != guessedStep || got[1].At != 2*guessedStep || got[2].At != 3*guessedStep || got[2].Text != "later" {
		t.Errorf("%+v", got)
	}
	if tl.guessed != guessedPiece+1 {
		t.Errorf("guessed is %d bytes", tl.guessed)
	}
}

func TestShellMarksAreRemovedFromRecordings(t *testing.T) {
	const text = "a\x1b]133;A;aid=secret\x07$ \x1b]633;E;ls;secret\x1b\\b\x1b]0;title\x07\x1b[1mc\x1b\x1b]133;B\x07d\x1b]1"
	const want = "a$ b\x1b]0;title\x07\x1b[1mc\x1bd"
	for size := 1; size <= len(text); size++ {
		var f markFilter
		var got []byte
		for p := []byte(text); len(p) > 0; p = p[min(size, len(p)):] {
			got = append(got, f.strip(p[:min(size, len(p))])...)
		}
		if string(got) != want {
			t.Fatalf("in pieces of %d: %q, want %q", size, got, want)
		}
	}
}

// An eventList is a source in memory.
type eventList []Event

func (l *eventList) Next(context.Context) (Event, error) {
	if len(*l) == 0 {
		return Event{}, io.EOF
	}
	e := (*l)[0]
	*l = (*l)[1:]
	return e, nil
}

func TestPlayTakesAsLongAsTheRecording(t *testing.T) {
	list := func() *eventList {
		return &eventList{{0, "o", "a"}, {10 * time.Second, "o", "b"}, {10 * time.Second, "r", "1x1"}, {12 * time.Second, "o", "c"}}
	}
	for _, tc := range []struct {
		speed float64
		idle  time.Duration
		want  time.Duration
	}{{1, 0, 12 * time.Second}, {4, 0, 3 * time.Second}, {0.5, 0, 24 * time.Second}, {1, 3 * time.Second, 5 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			began := time.Now()
			p := player{out: &out, speed: tc.speed, idle: tc.idle}
			if err := p.play(t.Context(), list(), nil); err != nil || out.String() != "abc" {
				t.Errorf("%v, %q", err, out.String())
			}
			if took := time.Since(began); took != tc.want {
				t.Errorf("at speed %v with pauses of %v at most it took %v, want %v", tc.speed, tc.idle, took, tc.want)
			}
		})
	}
}

// A shownText collects output and can be read at the same time.
type shownText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *shownText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shownText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestKeysPauseStepAndQuitPlayback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out shownText
		keys, done := make(chan byte), make(chan error)
		p := player{out: &out, speed: 1}
		go func() {
			done <- p.play(t.Context(), &eventList{{time.Second, "o", "a"}, {2 * time.Second, "o", "b"}, {5 * time.Second, "o", "c"}, {9 * time.Second, "o", "d"}}, keys)
		}()
		check := func(after time.Duration, want string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if out.String() != want {
				t.Errorf("%q is shown, want %q", out.String(), want)
			}
		}
		check(1500*time.Millisecond, "a")
		keys <- ' '
		check(time.Hour, "a")
		keys <- '.'
		check(time.Hour, "ab")
		keys <- ' '
		check(2999*time.Millisecond, "ab")
		check(time.Millisecond, "abc")
		keys <- '+'
		check(2*time.Second, "abcd")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestQuitKeysEndPlayback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, done := make(chan byte), make(chan error)
		p := player{out: io.Discard, speed: 1}
		go func() { done <- p.play(t.Context(), &eventList{{time.Hour, "o", "a"}}, keys) }()
		keys <- 'q'
		if err := <-done; p.finish(err) != nil || err != errQuit {
			t.Errorf("playing ended with %v", err)
		}
	})
}

func TestPlayLeavesTheCursorAfterTheOutput(t *testing.T) {
	for name, shown := range map[string]string{
		"plain": "one\r\ntwo", "margins": "\x1b[2;3rone\r\ntwo", "red": "\x1b[31mone\r\ntwo", "another screen": "one\r\ntwo\x1b[?1049h\x1b[5;5Hx",
	} {
		screen := vt.New(vt.Options{Cols: 20, Rows: 6})
		p := player{out: screen, onTerminal: true, speed: 1}
		if err := p.play(t.Context(), &eventList{{0, "o", shown}}, nil); err != nil {
			t.Fatal(err)
		}
		p.restore()
		if _, err := screen.Write([]byte("$")); err != nil {
			t.Fatal(err)
		}
		if text := strings.TrimRight(screen.Text(), "\n "); text != "one\ntwo\n$" {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestPlayFiltersSequencesWithSideEffects(t *testing.T) {
	var out strings.Builder
	p := player{out: &out, onTerminal: true, speed: 1}
	err := p.play(t.Context(), &eventList{{0, "o", "a\x1b]52;c;cm0g"}, {0, "o", "LXJm\a\x1b]8;;file:///x\a"}, {0, "o", "b\x1b]9;come\a\x1b[8;1;1t\x1b_Gt=f;L2E=\x1b\\c"}}, nil)
	if want := "a\x1b]8;;\abc"; err != nil || out.String() != want {
		t.Errorf("%v, %q, want %q", err, out.String(), want)
	}
}
