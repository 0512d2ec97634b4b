package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/engine/screen/vt"
	"tandem/engine/session/prompt"
	"tandem/persist/inputnotes"
	"tandem/persist/store"
)

// A memoryLog is a log and a journal in memory.
type memoryLog struct {
	mu          sync.Mutex
	text        []byte
	space       []byte
	sizes       []store.Resize
	checkpoints []store.Checkpoint
}

func (l *memoryLog) Space(min int) ([]byte, error) {
	l.space = make([]byte, min)
	return l.space, nil
}

func (l *memoryLog) Commit(n int) (int, error) {
	l.add(string(l.space[:n]))
	return n, nil
}

func (l *memoryLog) DropWindow() error { return nil }
func (l *memoryLog) Finish() error     { return nil }

func (l *memoryLog) add(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, text...)
}

func (l *memoryLog) Start() int64 { return 0 }

func (l *memoryLog) End() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.text))
}

func (l *memoryLog) ReadAt(p []byte, off int64) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if off >= int64(len(l.text)) {
		return 0, io.EOF
	}
	return copy(p, l.text[off:]), nil
}

func (l *memoryLog) Close() error { return nil }

func (l *memoryLog) AppendResize(_ string, r store.Resize) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sizes = append(l.sizes, r)
	return nil
}

func (l *memoryLog) ReadResizes(string) ([]store.Resize, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.sizes), nil
}

func (l *memoryLog) SaveCheckpoint(_ string, c store.Checkpoint) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checkpoints = append([]store.Checkpoint{c}, l.checkpoints...)
	l.checkpoints = l.checkpoints[:min(2, len(l.checkpoints))]
	return nil
}

func (l *memoryLog) ReadCheckpoints(string) ([]store.Checkpoint, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.checkpoints), nil
}

// testOptions are options with a host that a test may change.
type testOptions struct {
	Options
	testHost
}

// A testHost is a host made of functions.
type testHost struct {
	Open     func() (Log, error)
	Notes    func() (*inputnotes.Notes, error)
	Terminal func(vt.Options) Emulator
	Drained  func()
	Notice   func(text string)
	Ran      func(prompt.Command)
}

func (h testHost) OpenLog() (Log, error)                      { return h.Open() }
func (h testHost) OpenInputNotes() (*inputnotes.Notes, error) { return h.Notes() }
func (h testHost) NewEmulator(o vt.Options) Emulator          { return h.Terminal(o) }
func (h testHost) OutputRead()                                { h.Drained() }
func (h testHost) Notify(text string)                         { h.Notice(text) }
func (h testHost) CommandRan(c prompt.Command)                { h.Ran(c) }
func (testHost) LogGrows(int64)                               {}
func (testHost) ScreenChanged()                               {}
func (testHost) FactsChanged()                                {}
func (testHost) ShownLine(line string) string                 { return line }

// memorySession returns a session without a PTY. Whatever is written to the log is its output.
func memorySession(t *testing.T, l *memoryLog) *Session {
	return newMemorySession(t, l, func(*testOptions) {})
}

func newMemorySession(t *testing.T, l *memoryLog, change func(*testOptions)) *Session {
	ended := make(chan struct{})
	o := testOptions{
		Options: Options{
			ID: "a", Cols: 20, Rows: 5,
			Journal: l,
			Replays: make(chan struct{}, 1),
			Chunks:  NewChunks(),
			Log:     slog.New(slog.DiscardHandler),
		},
		testHost: testHost{
			Open:     func() (Log, error) { return l, nil },
			Notes:    func() (*inputnotes.Notes, error) { return inputnotes.New(), nil },
			Terminal: func(o vt.Options) Emulator { return vt.New(o) },
			Drained:  func() {},
			Notice:   func(text string) { t.Error(text) },
			Ran:      func(prompt.Command) {},
		},
	}
	change(&o)
	o.Host = o.testHost
	s := Start(o.Options, func() { close(ended) })
	t.Cleanup(func() {
		s.Close()
		<-ended
	})
	if err := s.IsReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// output is what a program writes.
func (s *Session) output(l *memoryLog, text string) {
	offset := l.End()
	l.add(text)
	raiseFlag(s.screen.grew)
	s.viewers.rawChanged(offset, []byte(text))
}

// A fakeStream is the connection of a slow viewer.
type fakeStream struct {
	in     chan api.Input
	out    chan api.Output
	closed chan struct{}
	leave  func() // ends the connection; more than once is as once

	opened  bool // a method has opened the connection
	resumed api.InputState
}

func newFakeStream() *fakeStream {
	f := &fakeStream{in: make(chan api.Input), out: make(chan api.Output), closed: make(chan struct{})}
	f.leave = sync.OnceFunc(func() { close(f.closed) })
	return f
}

func (f *fakeStream) Resume(st api.InputState) {
	if f.opened {
		panic("the connection is open before Resume")
	}
	f.resumed = st
}

func (f *fakeStream) CanPass() bool {
	f.opened = true
	return false
}

func (f *fakeStream) Receive() (api.Input, error) {
	select {
	case in := <-f.in:
		return in, nil
	case <-f.closed:
		return api.Input{}, io.EOF
	}
}

func (f *fakeStream) Send(out api.Output) error {
	select {
	case f.out <- out:
		return nil
	case <-f.closed:
		return io.EOF
	}
}

// view attaches a fake viewer for the length of a test.
func view(t *testing.T, s *Session, o api.AttachOptions) *fakeStream {
	f := newFakeStream()
	attachFor(t, s, o, f.leave, f)
	return f
}

// attachFor attaches a connection for the length of a test; leave ends it.
func attachFor(t *testing.T, s *Session, o api.AttachOptions, leave func(), to stream) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Attach(ctx, o, false, to)
	}()
	t.Cleanup(func() {
		cancel()
		leave()
		<-done
	})
}

func TestFramesAreSentAtOnceAndThenLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		f := view(t, s, api.AttachOptions{})
		<-f.out // the first, full one
		time.Sleep(time.Second)

		began := time.Now()
		s.output(l, "a")
		<-f.out
		if d := time.Since(began); d != 0 {
			t.Errorf("the frame after a pause took %v", d)
		}
		frames := 0
		for time.Since(began) < time.Second {
			s.output(l, "b")
			select {
			case <-f.out:
				frames++
			case <-time.After(time.Millisecond):
			}
		}
		if most := int(time.Second / frameGap); frames > most || frames < most*3/4 {
			t.Errorf("%d frames in a second", frames)
		}
	})
}

func TestRequestForNoLinesWaitsForAllOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		f := view(t, s, api.AttachOptions{})
		<-f.out
		s.output(l, "a")
		<-f.out // and the next frame is not due for a while
		s.output(l, "\x1b[?1049hb")
		f.in <- api.Input{Lines: &api.LineRange{}}
		if out := <-f.out; out.Frame == nil || !out.Frame.Alt {
			t.Errorf("before the screen came %+v", out)
		}
		if out := <-f.out; out.Lines == nil {
			t.Errorf("after the screen came %+v", out)
		}
	})
}

func TestViewersReceiveTheProgramsKeyboardFlags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		told := func(f *fakeStream, want uint8) {
			t.Helper()
			for out := range f.out {
				if out.Keyboard != nil {
					if *out.Keyboard != want {
						t.Errorf("keyboard flags %d, want %d", *out.Keyboard, want)
					}
					return
				}
			}
		}
		f := view(t, s, api.AttachOptions{})
		<-f.out
		s.output(l, "\x1b[>31u")
		told(f, 31)
		told(view(t, s, api.AttachOptions{}), 31)
		s.output(l, "\x1b[<u")
		told(f, 0)
	})
}

func TestSlowViewerSkipsFramesAndSeesTheLatest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		f := view(t, s, api.AttachOptions{})
		<-f.out
		for i := range 1000 {
			s.output(l, fmt.Sprintf("\rline %d", i))
			time.Sleep(10 * time.Millisecond)
		}
		var pic pane
		for n := 1; ; n++ {
			out := <-f.out
			pic.apply(*out.Frame)
			if strings.Contains(pic.String(), "line 999") {
				if n > 2 {
					t.Errorf("%d frames were kept for a viewer that did not take any", n)
				}
				return
			}
		}
	})
}

func TestNoFrameIsSentWithoutAVisibleChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		f := view(t, s, api.AttachOptions{})
		<-f.out
		s.output(l, "\x1b[1m\x1b[m")
		time.Sleep(time.Second)
		select {
		case out := <-f.out:
			t.Errorf("sent %+v", out.Frame)
		default:
		}
	})
}

func TestSynchronizedUpdateDelaysFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		f := view(t, s, api.AttachOptions{})
		<-f.out
		time.Sleep(time.Second)
		s.output(l, "\x1b[?2026hhalf")
		synctest.Wait()
		time.Sleep(maxSync / 2)
		began := time.Now()
		s.output(l, " whole\x1b[?2026l")
		var pic pane
		pic.apply(*(<-f.out).Frame)
		if !strings.Contains(pic.String(), "half whole") || time.Since(began) != 0 {
			t.Errorf("after %v:\n%s", time.Since(began), pic.String())
		}
		time.Sleep(time.Second)
		began = time.Now()
		s.output(l, "\x1b[?2026hfor ever")
		<-f.out
		if d := time.Since(began); d != maxSync {
			t.Errorf("a program that holds the screen for ever is shown after %v", d)
		}
	})
}

func TestReplayRestoresScreenAndScrollback(t *testing.T) {
	l := &memoryLog{}
	l.AppendResize("a", store.Resize{Offset: 0, Cols: 20, Rows: 5})
	s := memorySession(t, l)
	state := func(s *Session) (screen api.Screen) {
		err := s.onScreen(t.Context(), func(term Emulator) {
			s.screen.catchUp()
			screen = ScreenOf(term, true, 1000)
		})
		if err != nil {
			t.Fatal(err)
		}
		return screen
	}
	for i := 0; l.End() < 3*checkpointGap; i++ {
		s.output(l, fmt.Sprintf("\x1b[3%dm%d ä 日本 some text that is longer than a line is\r\n", i%8, i))
		if i%50_000 == 49_999 {
			state(s)
			s.onScreen(t.Context(), func(Emulator) { s.screen.setSize(20+i/50_000, 5+i/50_000) })
		}
	}
	s.output(l, "\x1b[?2004h\x1b]2;the title\x07\x1b[2;2Hend")
	want := state(s)
	s.onScreen(t.Context(), func(Emulator) { s.screen.saves.Wait() }) // for the checkpoints
	if len(l.checkpoints) != 2 {
		t.Fatalf("%d checkpoints", len(l.checkpoints))
	}
	defer invariants.Never("replay of a whole log")()
	again := memorySession(t, l)
	if diff := cmp.Diff(want, state(again)); diff != "" {
		t.Error(diff)
	}
	if again.screen.saved == 0 {
		t.Error("the replay did not start at a checkpoint")
	}
	if f := again.Facts(); f.Title != "the title" || f.Cols != want.Cols || !again.Modes().BracketedPaste {
		t.Errorf("facts %+v", f)
	}
}

func TestReplayAnswersNoQueries(t *testing.T) {
	l := &memoryLog{}
	l.add("\x1b[c\x1b[6n\a\x1b]2;title\a")
	s := memorySession(t, l)
	if f := s.Facts(); f.Rang {
		t.Error("the bell rang again")
	}
	if len(s.keyboard.pending) != 0 {
		t.Errorf("answered %q", s.keyboard.pending[0].rest)
	}
}

func TestReplayStartsFarEnoughBackForAScrollback(t *testing.T) {
	const mega = 1 << 20
	at := func(offsets ...int64) (all []store.Checkpoint) {
		for _, o := range offsets {
			all = append(all, store.Checkpoint{Offset: o, Cols: 80, Rows: 24})
		}
		return all
	}
	cases := []struct {
		checkpoints []store.Checkpoint
		start, end  int64
		want        int64
	}{
		{nil, 0, 100, 0},
		{nil, 0, 20 * mega, 12 * mega},
		{nil, 15 * mega, 20 * mega, 15 * mega},
		{at(8*mega, 6*mega), 0, 20 * mega, 8 * mega},
		{at(8*mega, 6*mega), 0, 8*mega + 5, 6 * mega},
		{at(8*mega, 6*mega), 7 * mega, 8*mega + 5, 7 * mega},
		{at(9 * mega), 0, 8 * mega, 0}, // of output that was never written down
	}
	for _, c := range cases {
		if got := chooseCheckpoint(c.checkpoints, c.start, c.end).Offset; got != c.want {
			t.Errorf("of %v, log from %d to %d: starts at %d, want %d", c.checkpoints, c.start, c.end, got, c.want)
		}
	}
}

func TestReadLogNeverSplitsACharacter(t *testing.T) {
	l := &memoryLog{}
	l.add("aä日\xff😀")
	var got strings.Builder
	for at := int64(0); at < l.End(); {
		out, err := ReadLog(l, at, 2, true)
		if err != nil || out.NextCursor <= at {
			t.Fatalf("at %d: %+v, %v", at, out, err)
		}
		got.WriteString(out.Data)
		at = out.NextCursor
	}
	if got.String() != "aä日\uFFFD😀" {
		t.Errorf("read in pieces: %q", got.String())
	}
	out, err := ReadLog(l, 0, 100, true)
	if err != nil || out.Data != "aä日\uFFFD😀" {
		t.Errorf("read %q, %v", out.Data, err)
	}
	l.add("\xc3")
	if out, _ := ReadLog(l, -1, 100, false); out.Data != "" || out.NextCursor != l.End()-1 {
		t.Errorf("read %+v", out)
	}
	if out, err := ReadLog(l, 1000, 100, false); err != nil || out.NextCursor != l.End() {
		t.Errorf("read behind the end: %+v, %v", out, err)
	}
}

// A brittleTerminal fails over a certain word.
type brittleTerminal struct{ Emulator }

func (b brittleTerminal) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "poison") {
		panic("poisoned")
	}
	return b.Emulator.Write(p)
}

func TestEmulatorPanicClearsOnlyOneScreen(t *testing.T) {
	l := &memoryLog{}
	l.add("poison before\r\n")
	s := newMemorySession(t, l, func(o *testOptions) {
		o.Terminal = func(o vt.Options) Emulator { return brittleTerminal{vt.New(o)} }
		o.Notice = func(string) {}
	})
	l.add("poison after\r\n")
	s.onScreen(t.Context(), func(Emulator) { s.screen.catchUp() })
	l.add("text")
	var screen api.Screen
	err := s.onScreen(t.Context(), func(term Emulator) {
		s.screen.catchUp()
		screen = ScreenOf(s.screen.term, false, 0)
	})
	if err != nil || screen.Lines[0] != "text" || screen.Cols != 20 {
		t.Errorf("%v, %+v", err, screen)
	}
	if err := s.onScreen(t.Context(), func(Emulator) { panic("again") }); !errors.Is(err, api.CodeInternal) {
		t.Errorf("answered %v", err)
	}
}

func TestSessionWithoutALogReturnsAnError(t *testing.T) {
	ended := make(chan struct{})
	told := make(chan string, 1)
	s := Start(Options{
		Host: testHost{
			Open:   func() (Log, error) { return nil, errors.New("no such file") },
			Notice: func(text string) { told <- text },
		},
		Log: slog.New(slog.DiscardHandler),
	}, func() { close(ended) })
	err := s.onScreen(t.Context(), func(Emulator) {})
	if !errors.Is(err, api.CodeUnavailable) || !strings.Contains(<-told, "no such file") {
		t.Errorf("answered %v", err)
	}
	s.Close()
	<-ended
}

// FuzzBoundary checks that a repaint, with everything from the boundary on, gives the same screen
// as the whole output.
func FuzzBoundary(f *testing.F) {
	f.Add("plain \x1b[1;31mred\x1b[0m\r\n\x1b]2;title\a\x1b[?1049hä日😀\x1b(0qqq\x1b(B", uint16(9))
	f.Add("\x1bP+q544e\x1b\\\x1b[38;2;1;2;3mx\x1b[2;3H\x1b[?25l", uint16(20))
	f.Fuzz(func(t *testing.T, text string, at uint16) {
		if strings.ContainsFunc(text, func(r rune) bool { return 0x80 <= r && r <= 0x9f }) {
			return // eight-bit controls, which unfinished does not look for
		}
		cut := min(int(at), len(text))
		whole := vt.New(vt.Options{Cols: 20, Rows: 5})
		whole.Write([]byte(text[:cut]))
		from := cut - unfinishedLength([]byte(text[:cut]))
		if strings.ContainsFunc(text[from:cut], func(r rune) bool { return r < ' ' && r != '\x1b' }) {
			return // see unfinished
		}
		if r, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[from:], "\x00\x7f\x1b")); r > 0x2ff && !unicode.Is(unicode.Han, r) {
			return // it may join the character before, which is on the screen already
		}
		parts := vt.New(vt.Options{Cols: 20, Rows: 5})
		parts.Write(whole.AppendRepaint(nil))
		parts.Write([]byte(text[from:]))
		whole.Write([]byte(text[cut:]))
		if diff := cmp.Diff(ScreenOf(whole, true, 0).Lines, ScreenOf(parts, true, 0).Lines); diff != "" {
			t.Errorf("cut at %d, boundary %d: %s", cut, from, diff)
		}
	})
}

// A pane is a screen put together from frames.
type pane struct {
	frame api.Frame
	lines map[int64]string
}

func (p *pane) apply(f api.Frame) {
	if f.Full || p.lines == nil {
		p.lines = make(map[int64]string)
	}
	for _, l := range f.Lines {
		var b strings.Builder
		for _, r := range l.Line.Runs {
			b.WriteString(r.Text)
		}
		p.lines[l.N] = strings.TrimRight(b.String(), " ")
	}
	p.frame = f
}

func (p *pane) String() string {
	var rows []string
	for y := range p.frame.Rows {
		rows = append(rows, p.lines[p.frame.First+int64(y)])
	}
	return strings.Join(rows, "\n")
}

// A scarceJournal fails a few times, as if descriptors were short.
type scarceJournal struct {
	*memoryLog
	failures atomic.Int64
}

func (j *scarceJournal) ReadResizes(id string) ([]store.Resize, error) {
	if j.failures.Add(-1) >= 0 {
		return nil, syscall.EMFILE
	}
	return j.memoryLog.ReadResizes(id)
}

func TestSessionRetriesOpeningItsFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{text: []byte("hello")}
		var opens atomic.Int64
		s := newMemorySession(t, l, func(o *testOptions) {
			j := &scarceJournal{memoryLog: l}
			j.failures.Store(3)
			o.Journal = j
			o.Open = func() (Log, error) {
				if opens.Add(1) <= 3 {
					return nil, syscall.EMFILE
				}
				return l, nil
			}
		})
		screen, err := s.Screen(t.Context(), api.SessionScreenInput{})
		if err != nil || screen.Lines[0] != "hello" {
			t.Errorf("the screen is %q: %v", screen.Lines, err)
		}
	})
}

func TestOutputThatTheScreenHasNotShownYetIsRead(t *testing.T) {
	l := &memoryLog{text: []byte("\x1b[?1049h")}
	s := memorySession(t, l)
	l.add("\x1b[?1049lgot me\r\n") // without waking the screen
	s.Finish(api.Process{State: api.StateExited})
	out, err := s.ReadOutput(t.Context(), api.SessionReadInput{Plain: true}, true)
	if err != nil || out.Data != "got me\n" || out.NextCursor != l.End() || out.AltScreen {
		t.Errorf("got %+v, %v", out, err)
	}
	l.add("and me")
	if rows, err := s.Rows(t.Context()); err != nil || !slices.Contains(rows, "and me") {
		t.Errorf("the rows are %q, %v", rows, err)
	}
}
