package terminal

import (
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/keys"
	"tandem/persist/store"
	"tandem/tests/wait"
)

// A program is the program of a session. It writes to its terminal and reads from it.
type program struct {
	t   *testing.T
	tty *os.File
	got []byte
}

func newProgram(t *testing.T, change func(*testOptions)) (*Session, *program) {
	t.Helper()
	master, slave := openPTY(t)
	if _, err := term.MakeRaw(slave.Fd()); err != nil {
		t.Fatal(err)
	}
	s := newMemorySession(t, &memoryLog{}, func(o *testOptions) {
		o.Master = master
		if change != nil {
			change(o)
		}
	})
	return s, &program{t: t, tty: slave}
}

// answered writes a query, and reads up to the end of the answer.
func (p *program) answered(ask, end string) string {
	p.t.Helper()
	if _, err := p.tty.WriteString(ask); err != nil {
		p.t.Fatal(err)
	}
	buffer := make([]byte, 1024)
	for !strings.Contains(string(p.got), end) {
		n, err := p.tty.Read(buffer)
		if err != nil {
			p.t.Fatal(err)
		}
		p.got = append(p.got, buffer[:n]...)
	}
	i := strings.Index(string(p.got), end) + len(end)
	answer := string(p.got[:i])
	p.got = p.got[i:]
	return answer
}

// sized returns what a program learns of the size in pixels and of the background colour, with
// everything read before.
func (p *program) sized() string { return p.answered("\x1b]11;?\a\x1b[16t\x1b[c", "52c") }

// looker attaches a viewer that has a display. Nobody reads its output.
func looker(t *testing.T, s *Session, o api.AttachOptions, d *api.Display) *fakeStream {
	t.Helper()
	f := view(t, s, o)
	go func() {
		for {
			select {
			case <-f.out:
			case <-f.closed:
				return
			}
		}
	}()
	if d != nil {
		f.in <- api.Input{Display: d}
	}
	f.in <- api.Input{Lines: &api.LineRange{}} // so that what came before is done
	return f
}

func display(ground styled.Color, w, h int) *api.Display {
	return &api.Display{Colors: styled.Palette{Background: styled.ColorRGB | ground}, CellWidth: w, CellHeight: h}
}

const asked = "\x1b[?64;1;2;4;6;9;15;16;17;18;21;22;28;29;52c"

func TestQueriesAreAnsweredForTheViewerThatTypedLast(t *testing.T) {
	s, p := newProgram(t, nil)
	if got, want := p.sized(), "\x1b]11;rgb:1e1e/2121/2828\a\x1b[6;20;10t"+asked; got != want {
		t.Errorf("without a viewer %q, want %q", got, want)
	}
	a := looker(t, s, api.AttachOptions{Cols: 30, Rows: 10}, display(0x111111, 8, 16))
	b := looker(t, s, api.AttachOptions{Cols: 40, Rows: 12}, display(0xEEEEEE, 9, 18))
	looker(t, s, api.AttachOptions{Cols: 50, Rows: 12, ReadOnly: true}, display(0x222222, 7, 14))
	ofA, ofB := "\x1b]11;rgb:1111/1111/1111\a\x1b[6;16;8t"+asked, "\x1b]11;rgb:eeee/eeee/eeee\a\x1b[6;18;9t"+asked
	if got := p.sized(); got != ofA {
		t.Errorf("nobody has typed: %q", got)
	}
	p.answered("\x1b[?2031h\x1b[5n", "0n")
	b.in <- api.Input{Bytes: []byte("b")}
	if got, want := p.answered("", "b"), "\x1b[?997;2nb"; got != want {
		t.Errorf("the other one typed: %q, want %q", got, want)
	}
	if got := p.sized(); got != ofB {
		t.Errorf("the other one typed: %q", got)
	}
	a.in <- api.Input{Bytes: []byte("a")}
	if got, want := p.answered("", "a"), "\x1b[?997;1na"; got != want {
		t.Errorf("the first one typed: %q, want %q", got, want)
	}
	if got := p.sized(); got != ofA {
		t.Errorf("the first one typed: %q", got)
	}
	a.in <- api.Input{Display: display(0xFFFFFF, 8, 16)} // its theme has changed
	if got, want := p.answered("", "n"), "\x1b[?997;2n"; got != want {
		t.Errorf("a theme has changed: %q, want %q", got, want)
	}
}

func TestResizeSetsThePTYsPixelSize(t *testing.T) {
	s, p := newProgram(t, nil)
	v := looker(t, s, api.AttachOptions{Cols: 30, Rows: 10}, display(0, 8, 17))
	v.in <- api.Input{Lines: &api.LineRange{}}
	if w, h := pixels(t, p.tty); w != 240 || h != 170 {
		t.Errorf("%d×%d pixels", w, h)
	}
	v.in <- api.Input{Display: display(0, 5000, -1)} // as if it had told none
	v.in <- api.Input{Lines: &api.LineRange{}}
	if w, h := pixels(t, p.tty); w != 300 || h != 200 {
		t.Errorf("%d×%d pixels of a cell that cannot be", w, h)
	}
}

func TestSessionStartsWithTheLastUsedDisplay(t *testing.T) {
	var displays Displays
	shared := func(o *testOptions) { o.Displays = &displays }
	s, _ := newProgram(t, shared)
	looker(t, s, api.AttachOptions{Cols: 30, Rows: 10}, display(0xEEEEEE, 9, 18))
	_, p := newProgram(t, shared)
	if got, want := p.sized(), "\x1b]11;rgb:eeee/eeee/eeee\a\x1b[6;18;9t"+asked; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestReplayUsesTheRecordedCellSize(t *testing.T) {
	const picture = "\x1bP0;1q\"1;1;20;40#1!20~-!20~-!20~-!20~-!20~-!20~-!20N\x1b\\"
	l := &memoryLog{}
	l.sizes = []store.Resize{{Offset: 0, Cols: 20, Rows: 9, CellWidth: 5, CellHeight: 20}, {Offset: int64(len(picture)), Cols: 20, Rows: 9}}
	l.add(picture + picture)
	s := newMemorySession(t, l, func(*testOptions) {})
	var widths []int16
	s.onScreen(t.Context(), func(term Emulator) {
		_, first, end := term.Bounds()
		for _, line := range term.Lines(first, int(end-first)) {
			for _, strip := range line.Line.Pictures {
				widths = append(widths, int16(strip.To-strip.From))
			}
		}
	})
	if len(widths) < 3 || widths[0] != 4 || widths[len(widths)-1] != 2 {
		t.Errorf("the pictures are %v cells wide", widths)
	}
}

func TestProgramHasFocusWhileAnyViewerDoes(t *testing.T) {
	s, p := newProgram(t, nil)
	p.answered("\x1b[?1004h\x1b[c", "52c")
	a := looker(t, s, api.AttachOptions{Cols: 30, Rows: 10}, nil)
	b := looker(t, s, api.AttachOptions{Cols: 30, Rows: 10}, nil)
	reader := looker(t, s, api.AttachOptions{ReadOnly: true}, nil)
	steps := []struct {
		who  *fakeStream
		on   bool
		told string
	}{
		{a, false, "\x1b[O"}, {a, true, "\x1b[I"}, {b, true, "\x1b[I"}, {b, false, ""}, {b, true, ""},
		{reader, true, ""}, {reader, false, ""}, {a, false, ""}, {b, false, "\x1b[O"}, {a, true, "\x1b[I"},
	}
	for i, step := range steps {
		step.who.in <- api.Input{Focus: &step.on}
		step.who.in <- api.Input{Lines: &api.LineRange{}}
		if got, want := p.answered("\x1b[5n", "0n"), step.told+"\x1b[0n"; got != want {
			t.Errorf("step %d: %q, want %q", i, got, want)
		}
	}
	a.leave() // and the keyboard with it
	if got := p.answered("", "\x1b[O"); got != "\x1b[O" {
		t.Errorf("after it has left: %q", got)
	}
}

func TestBellIsMarkedUntilAViewerHasTheFocus(t *testing.T) {
	s, p := newProgram(t, nil)
	ring := func() bool {
		p.answered("\a\x1b[5n", "0n")
		return s.Facts().Rang
	}
	f := looker(t, s, api.AttachOptions{Cols: 30, Rows: 10}, nil)
	focus := func(on bool) {
		f.in <- api.Input{Focus: &on}
		f.in <- api.Input{Lines: &api.LineRange{}} // so that the focus is noted
	}
	if !ring() {
		t.Error("a bell without a focus is not marked")
	}
	focus(true)
	if s.Facts().Rang || ring() {
		t.Error("a bell is marked although a viewer has the focus")
	}
	focus(false)
	if s.Facts().Rang || !ring() {
		t.Error("a bell after the focus was lost is not marked")
	}
}

func TestOnlyAViewerWithADisplayGetsTheUsersCursor(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	s.output(l, "\x1b]12;#ff0000\a")
	plain := view(t, s, api.AttachOptions{})
	if c := (<-plain.out).Frame.Cursor; c.Own {
		t.Errorf("a viewer that has told nothing: %+v", c)
	}
	f := view(t, s, api.AttachOptions{})
	<-f.out
	f.in <- api.Input{Display: &api.Display{}}
	for {
		out := wait.Receive(t, "a frame with the user's cursor", f.out)
		if out.Frame != nil && out.Frame.Cursor.Own && out.Frame.Cursor.Color == styled.ColorRGB|0xFF0000 {
			return
		}
	}
}

func pixels(t *testing.T, tty *os.File) (w, h int) {
	t.Helper()
	size, err := unix.IoctlGetWinsize(int(tty.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		t.Fatal(err)
	}
	return int(size.Xpixel), int(size.Ypixel)
}

func TestModesApplyBeforeTheReplyToALaterQuery(t *testing.T) {
	sessions, applied := make(chan *Session, 1), make(chan vt.Modes, 1)
	s, p := newProgram(t, func(o *testOptions) {
		emulator := o.Terminal
		o.Terminal = func(options vt.Options) Emulator {
			reply := options.Reply
			options.Reply = func(p []byte) {
				reply(p)
				applied <- (<-sessions).Modes()
			}
			return emulator(options)
		}
	})
	sessions <- s
	p.answered("\x1b[?1000h\x1b[?1h\x1b[?2004h\x1b[5n", "0n")
	if m := <-applied; m.Mouse == keys.MouseOff || !m.AppCursor || !m.BracketedPaste {
		t.Errorf("modes at the reply: %+v", m)
	}
}

func TestPixelMouseReportsTheMiddleOfTheCell(t *testing.T) {
	s, p := newProgram(t, nil)
	v := looker(t, s, api.AttachOptions{Cols: 30, Rows: 10}, display(0, 8, 17))
	p.answered("\x1b[?1000h\x1b[?1016h\x1b[5n", "0n")
	v.in <- api.Input{Mouse: &keys.Mouse{X: 3, Y: 2, Button: keys.ButtonLeft}}
	if got, want := p.answered("", "M"), "\x1b[<0;29;43M"; got != want {
		t.Errorf("clicked at %q, want %q", got, want)
	}
	p.answered("\x1b[?1016l\x1b[?1006h\x1b[5n", "0n")
	v.in <- api.Input{Mouse: &keys.Mouse{X: 3, Y: 2, Button: keys.ButtonLeft}}
	if got, want := p.answered("", "M"), "\x1b[<0;4;3M"; got != want {
		t.Errorf("in cells %q, want %q", got, want)
	}
}
