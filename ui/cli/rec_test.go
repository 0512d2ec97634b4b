package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
	"tandem/engine/vt"
)

// castOf writes events and gives the file's lines.
func castOf(t *testing.T, events ...castEvent) []string {
	t.Helper()
	var b bytes.Buffer
	w, err := newCastWriter(&b, castHeader{Width: 80, Height: 24, Title: "a<b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := w.add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// read reads a recording to its end, or its mistake.
func readCast(text string) (h castHeader, events []castEvent, err error) {
	r, err := newCastReader(strings.NewReader(text))
	if err != nil {
		return h, nil, err
	}
	for {
		e, err := r.next()
		if err == io.EOF {
			return r.header, events, nil
		}
		if err != nil {
			return r.header, events, err
		}
		events = append(events, e)
	}
}

func TestARecordingIsWrittenAsAsciicast(t *testing.T) {
	got := castOf(t,
		castEvent{0, "o", "\x1b[1mé"}, castEvent{2 * time.Second, "o", "a\xe6\xbc"}, castEvent{time.Second, "o", "\xa2b"},
		castEvent{3 * time.Second, "r", "100x30"}, castEvent{4500 * time.Millisecond, "o", "bad\xff."}, castEvent{5 * time.Second, "o", "\xe6"})
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

func TestARecordingIsReadBack(t *testing.T) {
	const v2 = `{"version": 2, "width": 80, "height": 24, "idle_time_limit": 1.5, "theme": {}}
[0.5, "o", "one\r\n"]

[1, "i", "x"]
[1.25, "r", "90x20"]
[1.2, "o", "earlier"]
[2, "m", ""]
[2.5, "o", "cut o`
	h, events, err := readCast(v2)
	want := []castEvent{{500 * time.Millisecond, "o", "one\r\n"}, {1250 * time.Millisecond, "r", "90x20"}, {1250 * time.Millisecond, "o", "earlier"}}
	if diff := cmp.Diff(want, events, cmp.AllowUnexported(castEvent{})); err != nil || diff != "" || h.Width != 80 || h.IdleLimit != 1.5 {
		t.Errorf("%+v, %v (-want +got):\n%s", h, err, diff)
	}
	const v3 = "{\"version\": 3, \"term\": {\"cols\": 100, \"rows\": 40}}\n# a comment\n[0.5, \"o\", \"a\"]\n[0.5, \"x\", \"0\"]\n[1, \"o\", \"b\"]\n"
	h, events, err = readCast(v3)
	want = []castEvent{{500 * time.Millisecond, "o", "a"}, {2 * time.Second, "o", "b"}}
	if diff := cmp.Diff(want, events, cmp.AllowUnexported(castEvent{})); err != nil || diff != "" || h.Width != 100 {
		t.Errorf("version 3: %+v, %v (-want +got):\n%s", h, err, diff)
	}
}

func TestWhatIsNoRecordingIsRefusedWithItsLine(t *testing.T) {
	const head = `{"version":2,"width":80,"height":24}` + "\n"
	for text, says := range map[string]string{
		"":                                   "empty",
		"\n\n":                               "empty",
		"hello":                              "line 1",
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
			if e.at < last || e.kind != castOutput && e.kind != castResize {
				t.Fatalf("%+v after %v", e, last)
			}
			last = e.at
		}
		var b bytes.Buffer
		w, err := newCastWriter(&b, castHeader{Width: 1, Height: 1})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for _, e := range events {
			if err := w.add(e); err != nil {
				t.Fatal(err)
			}
			if e.kind == castOutput {
				said.WriteString(e.text)
			}
		}
		w.flush()
		_, again, err := readCast(b.String())
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		var heard strings.Builder
		for _, e := range again {
			if e.kind == castOutput {
				heard.WriteString(e.text)
			}
		}
		if said.String() != heard.String() {
			t.Fatalf("%q became %q", said.String(), heard.String())
		}
	})
}

func TestEventsHaveTheTimesOfTheLog(t *testing.T) {
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
	want := []castEvent{
		{0, "o", "aaaa"}, {2 * time.Second, "o", "bb"}, {2 * time.Second, "r", "90x24"}, {2 * time.Second, "o", "bb"},
		{2500 * time.Millisecond, "o", "cccc"}, {2500 * time.Millisecond, "o", "d"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(castEvent{})); diff != "" || tl.guessed != 0 {
		t.Errorf("guessed %d, differs (-want +got):\n%s", tl.guessed, diff)
	}
}

func TestOutputWithoutTimesFollowsInSmallSteps(t *testing.T) {
	var tl timeline
	got := tl.events(api.SessionRecordOutput{
		Data:  append(bytes.Repeat([]byte("x"), castPiece+1), "later"...),
		Times: []api.LogTime{{Offset: castPiece + 1, At: time.Unix(5000, 0)}},
	})
	if len(got) != 3 || got[0].at != castStep || got[1].at != 2*castStep || got[2].at != 3*castStep || got[2].text != "later" {
		t.Errorf("%+v", got)
	}
	if tl.guessed != castPiece+1 {
		t.Errorf("%d bytes are said to have no times", tl.guessed)
	}
}

func TestMarksOfShellsStayOutOfRecordings(t *testing.T) {
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

// A recRig is a command line with a fake engine that has recordings.
type recRig struct {
	*historyRig
	record func(api.SessionRecordInput) api.SessionRecordOutput
	looked []api.SessionWaitInput
	seen   func(api.SessionWaitInput) api.SessionWaitOutput
}

func newRecRig(t *testing.T) *recRig {
	r := &recRig{historyRig: &historyRig{rig: newRig(t)}}
	mux := r.mux()
	server.Handle(mux, api.SessionRecord, func(_ context.Context, in api.SessionRecordInput) (api.SessionRecordOutput, error) {
		if in.ID == "nobody" {
			return api.SessionRecordOutput{}, r.find(in.ID)
		}
		return r.record(in), nil
	})
	server.Handle(mux, api.SessionWait, func(_ context.Context, in api.SessionWaitInput) (api.SessionWaitOutput, error) {
		r.looked = append(r.looked, in)
		return r.seen(in), nil
	})
	server.Handle(mux, api.HistorySearch, func(context.Context, api.HistorySearchInput) (api.HistorySearchOutput, error) {
		return r.found, nil
	})
	dir := shortDir(t)
	r.serveMux(mux, dir)
	connect := func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: dir, Version: "1.2.3", Name: "cli"})
	}
	r.options.Connect, r.options.Reach = connect, connect
	return r
}

func TestRecExportsWhatIsKept(t *testing.T) {
	r := newRecRig(t)
	t.Chdir(t.TempDir())
	began := time.Unix(1_700_000_000, 0)
	r.record = func(in api.SessionRecordInput) api.SessionRecordOutput {
		all, from := "one\r\ntwo\r\n", *in.Since
		return api.SessionRecordOutput{Data: []byte(all[from:]), Start: from, NextCursor: int64(len(all)), End: int64(len(all)),
			Times: []api.LogTime{{Offset: 0, At: began}, {Offset: 5, At: began.Add(3 * time.Second)}},
			Sizes: []api.LogSize{{Cols: 100, Rows: 30}}, State: api.StateRunning}
	}
	if got := r.succeeds("rec", "build", "--since", "start", "--idle-limit", "2s"); got != "recorded 3s of build: build.cast\n" {
		t.Errorf("rec prints %q", got)
	}
	text, err := os.ReadFile("build.cast")
	if err != nil {
		t.Fatal(err)
	}
	h, events, err := readCast(string(text))
	want := []castEvent{{0, "o", "one\r\n"}, {3 * time.Second, "o", "two\r\n"}}
	if diff := cmp.Diff(want, events, cmp.AllowUnexported(castEvent{})); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if h.Width != 100 || h.Height != 30 || h.Timestamp != began.Unix() || h.IdleLimit != 2 || h.Title != "build" {
		t.Errorf("header is %+v", h)
	}
	if got := r.succeeds("rec", "build", "--since", "start"); !strings.Contains(got, "build-2.cast") {
		t.Errorf("a second one prints %q", got)
	}
	if _, stderr, status := r.run("rec", "build", "-o", "build.cast"); status != 1 || !strings.Contains(stderr, "--overwrite") {
		t.Errorf("over a file: status %d, %q", status, stderr)
	}
	if got := r.succeeds("rec", "build", "--since", "start", "-o", "-"); got != string(bytes.Replace(text, []byte(`,"idle_time_limit":2`), nil, 1)) {
		t.Errorf("to standard output: %q", got)
	}
	if _, stderr, status := r.run("rec", "nobody", "-o", "none.cast"); status != 1 || !strings.Contains(stderr, "nobody") {
		t.Errorf("of nobody: status %d, %q", status, stderr)
	}
	if left, _ := filepath.Glob("none*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	var made recorded
	if err := json.Unmarshal([]byte(r.succeeds("rec", "build", "--since", "start", "--json")), &made); err != nil || made.Events != 2 || made.Seconds != 3 {
		t.Errorf("%v, %+v", err, made)
	}
}

func TestRecFollowsUntilTheSessionEnds(t *testing.T) {
	r := newRecRig(t)
	file := filepath.Join(t.TempDir(), "live.cast")
	calls := 0
	r.record = func(in api.SessionRecordInput) api.SessionRecordOutput {
		calls++
		out := api.SessionRecordOutput{Start: 7, NextCursor: 7, End: 7, State: api.StateRunning, Sizes: []api.LogSize{{Offset: 7, Cols: 80, Rows: 24}}}
		switch calls {
		case 1:
			if in.Since != nil {
				t.Errorf("begins with %+v", in)
			}
			out.Repaint = []byte("screen")
		case 2:
			out.Data, out.NextCursor, out.End = []byte("more"), 11, 11
		default:
			out.Start, out.NextCursor, out.End, out.State = *in.Since, 11, 11, api.StateExited
			out.Sizes[0].Cols = 90
		}
		return out
	}
	stdout, _, status := r.run("rec", "build", "-o", file)
	text, err := os.ReadFile(file)
	if status != 0 || err != nil || !strings.Contains(stdout, "live.cast") {
		t.Fatalf("status %d, %q, %v", status, stdout, err)
	}
	_, events, err := readCast(string(text))
	var said []string
	for _, e := range events {
		said = append(said, e.kind+e.text)
	}
	if diff := cmp.Diff([]string{"oscreen", "omore", "r90x24"}, said); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// An eventList is a source that is in memory.
type eventList []castEvent

func (l *eventList) next(context.Context) (castEvent, error) {
	if len(*l) == 0 {
		return castEvent{}, io.EOF
	}
	e := (*l)[0]
	*l = (*l)[1:]
	return e, nil
}

func TestPlayingTakesAsLongAsRecording(t *testing.T) {
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

func TestKeysPauseStepAndEndPlaying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
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

func TestQuittingEndsPlaying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, done := make(chan byte), make(chan error)
		p := player{out: io.Discard, speed: 1}
		go func() { done <- p.play(t.Context(), &eventList{{time.Hour, "o", "a"}}, keys) }()
		keys <- 'q'
		if err := <-done; p.ended(err) != nil || err != errQuit {
			t.Errorf("playing ended with %v", err)
		}
	})
}

func TestAfterPlayingTheCursorIsBehindWhatWasShown(t *testing.T) {
	for name, shown := range map[string]string{
		"plain": "one\r\ntwo", "margins": "\x1b[2;3rone\r\ntwo", "red": "\x1b[31mone\r\ntwo", "another screen": "one\r\ntwo\x1b[?1049h\x1b[5;5Hx",
	} {
		screen := vt.New(vt.Options{Cols: 20, Rows: 6})
		p := player{out: screen, screen: true, speed: 1}
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

func TestPlayingShowsAndDoesNothingElse(t *testing.T) {
	var out strings.Builder
	p := player{out: &out, screen: true, speed: 1}
	err := p.play(t.Context(), &eventList{{0, "o", "a\x1b]52;c;cm0g"}, {0, "o", "LXJm\a\x1b]8;;file:///x\a"}, {0, "o", "b\x1b]9;come\a\x1b[8;1;1t\x1b_Gt=f;L2E=\x1b\\c"}}, nil)
	if want := "a\x1b]8;;\abc"; err != nil || out.String() != want {
		t.Errorf("%v, %q, want %q", err, out.String(), want)
	}
}

func TestPlayShowsAFileASessionAndACommand(t *testing.T) {
	r := newRecRig(t)
	file := filepath.Join(t.TempDir(), "a.cast")
	if err := os.WriteFile(file, []byte("{\"version\":2,\"width\":80,\"height\":24}\n[0,\"o\",\"from a file\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := "in a session"
	r.record = func(in api.SessionRecordInput) api.SessionRecordOutput {
		end := int64(len(log))
		if in.Until > 0 {
			end = in.Until
		}
		return api.SessionRecordOutput{Data: []byte(log[*in.Since:end]), Start: *in.Since, NextCursor: end, End: int64(len(log)), State: api.StateRunning}
	}
	r.found.Rows = []api.HistoryRow{{Command: api.Command{ID: 8, Kind: "exec"}}, {Command: api.Command{ID: 7, Kind: "session", Process: "abc", LogStart: 3, LogEnd: 4}}}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{file}, "from a file"}, {[]string{"build", "--speed", "1000"}, log}, {[]string{"--history", "7"}, "a"},
	} {
		if got := r.succeeds(append([]string{"play"}, tc.args...)...); got != tc.want {
			t.Errorf("play %q shows %q, want %q", tc.args, got, tc.want)
		}
	}
	for says, args := range map[string][]string{
		"no such file": {"/nowhere.cast"}, "nobody": {"nobody"}, "not known": {"--history", "8"}, "there is none": {"--history", "9"},
	} {
		if _, stderr, status := r.run(append([]string{"play"}, args...)...); status != 1 || !strings.Contains(stderr, says) {
			t.Errorf("play %q: status %d, %q", args, status, stderr)
		}
	}
	for _, args := range [][]string{{"play"}, {"play", "a", "b"}, {"play", "a", "--speed", "0"}, {"rec"}, {"rec", "--"}, {"rec", "a", "--since", "x"}} {
		if _, _, status := r.run(args...); status != 2 {
			t.Errorf("%q: status %d, want 2", args, status)
		}
	}
}
