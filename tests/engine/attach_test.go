package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/engine/session/terminal"
	"tandem/keys"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// A watcher is a client attached to a session, recording everything it receives.
type watcher struct {
	m  *machine
	a  *client.Attachment
	in chan api.Output
}

func (m *machine) attach(o api.AttachOptions) *watcher {
	m.Helper()
	m.pinned = true
	a, err := m.client.Attach(m.Context(), o)
	if err != nil {
		m.Fatal(err)
	}
	w := &watcher{m: m, a: a, in: make(chan api.Output)}
	done := make(chan struct{})
	go func() {
		defer close(w.in)
		for {
			out, err := a.Receive()
			if err != nil {
				return
			}
			select {
			case w.in <- out:
			case <-done:
				return
			}
		}
	}()
	m.Cleanup(func() {
		close(done)
		a.Close()
		for range w.in {
		}
	})
	return w
}

func (w *watcher) send(in api.Input) {
	w.m.Helper()
	if err := w.a.Send(in); err != nil {
		w.m.Fatal(err)
	}
}

func (w *watcher) typeText(text string) { w.m.Helper(); w.send(api.Input{Bytes: []byte(text)}) }

// A mirror is a screen assembled from frames.
type mirror struct {
	frame api.Frame
	lines map[int64]string
}

func (p *mirror) apply(f api.Frame) {
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

func (p *mirror) String() string {
	var rows []string
	for y := range p.frame.Rows {
		rows = append(rows, p.lines[p.frame.First+int64(y)])
	}
	return strings.Join(rows, "\n")
}

// applyUntil applies frames until holds returns true, or fails.
func (w *watcher) applyUntil(p *mirror, what string, holds func() bool) {
	w.m.Helper()
	for out := range w.in {
		if out.Frame != nil {
			p.apply(*out.Frame)
		}
		if holds() {
			return
		}
	}
	w.m.Fatalf("the attachment ended before %s:\n%s", what, p)
}

func TestFramesReproduceTheScreen(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", `read x; seq 1 20000; printf '\033]0;a title\007\033[3;5Hmark'; read x`)
	w := m.attach(api.AttachOptions{ID: p.ID, Client: "test", Cols: 60, Rows: 20})
	w.typeText("\r")
	var pic mirror
	w.applyUntil(&pic, "the mark", func() bool { return strings.Contains(pic.String(), "mark") && pic.frame.Title != "" })
	if want := m.screen(p.ID); strings.TrimRight(pic.String(), "\n") != strings.TrimRight(want, "\n") {
		t.Errorf("frames gave\n%s\nthe screen is\n%s", pic.String(), want)
	}
	if pic.frame.Title != "a title" || pic.frame.Cols != 60 {
		t.Errorf("last frame %+v", pic.frame)
	}
	w.send(api.Input{Lines: &api.LineRange{From: pic.frame.First - 2, Count: 2}})
	for out := range w.in {
		if out.Lines != nil {
			if len(out.Lines) != 2 || out.Lines[1].N != pic.frame.First-1 {
				t.Errorf("lines %+v", out.Lines)
			}
			break
		}
	}
}

func TestRawViewerReceivesTheScreensContent(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", `printf '\033[1;31mred\033[0m before\n'; read x; seq 1 30000; printf 'after\033[2;2Hmark\n'; read x; exit 4`)
	m.awaitScreen(p.ID, "before")
	w := m.attach(api.AttachOptions{ID: p.ID, Client: "attach", Raw: true, Cols: 80, Rows: 24})
	own := vt.New(vt.Options{Cols: 80, Rows: 24})
	text := func() string { return strings.Join(terminal.ScreenOf(own, true, 0).Lines, "\n") }
	until := func(want string) {
		t.Helper()
		for out := range w.in {
			own.Write(out.Bytes)
			if strings.Contains(text(), want) {
				return
			}
		}
		t.Fatalf("the attachment ended before %q:\n%s", want, text())
	}
	until("\x1b[0;1;31mred\x1b[0m before")
	w.typeText("\r")
	until("mark")
	screen := call(m, api.SessionScreen, api.SessionScreenInput{ID: p.ID, ANSI: true})
	if want := strings.Join(screen.Lines, "\n"); text() != want {
		t.Errorf("the viewer shows\n%s\nthe screen is\n%s", text(), want)
	}
	w.typeText("\r")
	var end *api.Process
	for out := range w.in {
		if out.Ended != nil {
			end = out.Ended
		}
	}
	if end == nil || end.ExitCode == nil || *end.ExitCode != 4 {
		t.Errorf("told of the end: %+v", end)
	}
}

func TestSlowViewerIsRepainted(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", `read x; yes "$0" | head -c 30000000; echo; echo end; read x`, strings.Repeat("y", 70))
	w := m.attach(api.AttachOptions{ID: p.ID, Client: "attach", Raw: true, Cols: 80, Rows: 24})
	w.typeText("\r")
	m.awaitScreen(p.ID, "end") // nothing has been received so far
	own := vt.New(vt.Options{Cols: 80, Rows: 24})
	size := 0
	for out := range w.in {
		size += len(out.Bytes)
		own.Write(out.Bytes)
		if strings.Contains(strings.Join(terminal.ScreenOf(own, false, 0).Lines, "\n"), "end") {
			break
		}
	}
	if size > 20_000_000 {
		t.Errorf("%d bytes were sent", size)
	}
}

func TestInputArrivesCompleteAndInOrder(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	file := filepath.Join(t.TempDir(), "typed")
	p := m.start("sh", "-c", `stty raw -echo; printf '\033[?2004hready'; exec cat > "$0"`, file)
	m.awaitScreen(p.ID, "ready")
	w := m.attach(api.AttachOptions{ID: p.ID, Client: "test", Cols: 80, Rows: 24})
	var want bytes.Buffer
	for i := range 10_000 {
		r := rune('a' + i*i%26)
		w.send(api.Input{Key: &keys.Key{Code: keys.Code(r), Text: string(r)}})
		want.WriteRune(r)
	}
	var paste strings.Builder
	for i := 0; paste.Len() < 1<<20; i++ {
		fmt.Fprintf(&paste, "pasted line %d\n", i)
	}
	text := paste.String()
	w.send(api.Input{Paste: &text})
	want.Write(keys.EncodePaste(nil, text, keys.Modes{BracketedPaste: true}))
	w.typeText("end")
	want.WriteString("end")
	var got []byte
	m.eventually("all input", func() bool {
		got, _ = os.ReadFile(file)
		return len(got) >= want.Len()
	})
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%d bytes arrived, %d were sent, and they differ", len(got), want.Len())
	}
	if !bytes.HasPrefix(got[10_000:], []byte("\x1b[200~pasted line 0")) {
		t.Error("the paste has no brackets")
	}
}

func TestSizeFollowsTheLastViewerToType(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", `stty -echo; trap 'stty size' WINCH; echo ready; while :; do read x && stty size; done`)
	m.awaitScreen(p.ID, "ready")
	size := func() api.Size {
		term := m.get(p.ID).Terminal
		return api.Size{Cols: term.Cols, Rows: term.Rows}
	}
	becomes := func(cols, rows int) {
		t.Helper()
		m.eventually(fmt.Sprintf("size %dx%d", cols, rows), func() bool { return size() == api.Size{Cols: cols, Rows: rows} })
		m.awaitScreen(p.ID, fmt.Sprintf("%d %d", rows, cols))
	}
	first := m.attach(api.AttachOptions{ID: p.ID, Client: "first", Cols: 100, Rows: 30})
	becomes(100, 30)
	second := m.attach(api.AttachOptions{ID: p.ID, Client: "second", Cols: 70, Rows: 20})
	drain := func(w *watcher) {
		go func() {
			for range w.in {
			}
		}()
	}
	drain(first)
	drain(second)
	second.typeText("\r")
	becomes(70, 20)
	if term := m.get(p.ID).Terminal; term.Typist != "second" || term.Viewers != 2 {
		t.Errorf("terminal %+v", term)
	}
	first.send(api.Input{Resize: &api.Size{Cols: 90, Rows: 25}})
	first.typeText("\r")
	becomes(90, 25)
	first.send(api.Input{Resize: &api.Size{}}) // hidden
	becomes(70, 20)
	first.send(api.Input{Resize: &api.Size{Cols: 90, Rows: 25}})
	becomes(90, 25)
	first.a.Close()
	becomes(70, 20)
}

func TestReadOnlyViewerNeitherTypesNorDecidesTheSize(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("cat")
	w := m.attach(api.AttachOptions{ID: p.ID, Client: "reader", Cols: 50, Rows: 10, ReadOnly: true})
	w.typeText("forbidden\r")
	w.send(api.Input{Lines: &api.LineRange{}})
	for out := range w.in {
		if out.Frame == nil { // the answer to the request sent after the input
			break
		}
	}
	m.write(p.ID, "allowed\r")
	m.awaitScreen(p.ID, "allowed")
	if strings.Contains(m.screen(p.ID), "forbidden") || m.get(p.ID).Terminal.Cols != 80 {
		t.Errorf("%+v\n%s", m.get(p.ID).Terminal, m.screen(p.ID))
	}
}

func TestTypingClearsTheBell(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", `printf '\007rang'; read x`)
	m.eventually("the bell", func() bool { return m.get(p.ID).Terminal.Rang })
	w := m.attach(api.AttachOptions{ID: p.ID, Client: "test"})
	w.typeText("x")
	m.eventually("silence", func() bool { return !m.get(p.ID).Terminal.Rang })
}

func TestEndedSessionShowsItsLastFrame(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", `echo last words`)
	m.awaitEnd(p.ID)
	w := m.attach(api.AttachOptions{ID: p.ID, Client: "test", Cols: 80, Rows: 24})
	var pic mirror
	ended := false
	for out := range w.in {
		if out.Frame != nil {
			pic.apply(*out.Frame)
		}
		ended = ended || out.Ended != nil
	}
	if !ended || !strings.HasPrefix(pic.String(), "last words") {
		t.Errorf("ended %v, mirror\n%s", ended, pic.String())
	}
}

func TestEngineRestartsWithAttachedViewers(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("cat")
	w := m.attach(api.AttachOptions{ID: p.ID, Client: "test", Cols: 80, Rows: 24})
	engine := m.info().EnginePID
	unix.Kill(engine, unix.SIGTERM)
	for range w.in {
	}
	wait.Exit(m, engine)
	m.write(p.ID, "back\r")
	m.awaitScreen(p.ID, "back")
	if m.get(p.ID).PID != p.PID {
		t.Error("the program is another one")
	}
}

func TestClipboardReachesViewersThatRequestIt(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", `read x; printf '\033]52;c;b25l\a\033]52;c;%s\ashown' dHdv; read x; exit 3`)
	asks := m.attach(api.AttachOptions{ID: p.ID, Client: "test", Clips: true, Cols: 60, Rows: 20})
	other := m.attach(api.AttachOptions{ID: p.ID, Client: "test", Cols: 60, Rows: 20})
	asks.typeText("\r")
	clip := ""
	for out := range asks.in {
		if clip += string(out.Clip); strings.HasSuffix(clip, "two") {
			break
		}
	}
	if clip != "two" && clip != "onetwo" {
		t.Errorf("the viewer was told to copy %q", clip)
	}
	asks.typeText("\r")
	for out := range other.in {
		if out.Clip != nil {
			t.Errorf("a viewer that did not ask was told to copy %q", out.Clip)
		}
	}
}

func TestScrollbackOfAnEndedSessionKeepsItsStyles(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", `i=0; while [ $i -lt 300 ]; do printf '\033[31mrow %d\033[m\n' $i; i=$((i+1)); done; exit 3`)
	m.awaitEnd(p.ID)
	w := m.attach(api.AttachOptions{ID: p.ID, Client: "test", ReadOnly: true, Lines: api.LineRange{From: 10, Count: 5}})
	var lines []api.NumberedLine
	ended := false
	for out := range w.in {
		lines = append(lines, out.Lines...)
		ended = ended || out.Ended != nil
	}
	if len(lines) != 5 || !ended {
		t.Fatalf("%d lines, ended %v", len(lines), ended)
	}
	want := api.Line{Runs: []api.Run{{Text: "row 10", Cells: 6, Style: api.Style{Rendition: api.Rendition{FG: styled.ColorIndexed | 1}}}}}
	if diff := cmp.Diff(api.NumberedLine{N: 10, Line: want}, lines[0]); diff != "" {
		t.Error(diff)
	}
}
