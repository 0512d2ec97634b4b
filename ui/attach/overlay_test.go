package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/panes/kit/predict"
	"tandem/tests/seed"
)

// An overlayUser looks at a terminal that shows a program's output below an overlay.
type overlayUser struct {
	*overlay
	written *os.File
	at      int64        // how much of it is on the screen
	screen  *vt.Terminal // the user's terminal
}

const overlayCols, overlayRows = 16, 5

func newOverlayUser(t testing.TB) *overlayUser {
	f, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	newTerminal := func() *vt.Terminal { return vt.New(vt.Options{Cols: overlayCols, Rows: overlayRows}) }
	v := &overlay{terminal: &terminal{fd: int(f.Fd())}, wake: make(chan struct{}, 1), predictor: predict.Predictor{Mode: predict.Always}, model: newTerminal()}
	v.screen = vt.NewOverlay(v.model)
	return &overlayUser{overlay: v, written: f, screen: newTerminal()}
}

// look returns what the terminal shows and what it should show.
func (u *overlayUser) look() (got, want string) {
	info, _ := u.written.Stat()
	p := make([]byte, info.Size()-u.at)
	u.written.ReadAt(p, u.at)
	u.at = info.Size()
	u.screen.Write(p)

	expected := vt.New(vt.Options{Cols: overlayCols, Rows: overlayRows})
	expected.Write(u.model.AppendRepaint(nil))
	expected.Write([]byte("\x1b[m"))
	for _, c := range u.predictor.MakeOverlay(time.Now(), predictScreen{u.overlay}).Cells {
		fmt.Fprintf(expected, "\x1b[%d;%dH\x1b[4m%s\x1b[m", c.Y+1, c.X+1, c.Text)
	}
	if note := u.note.Load(); note != nil {
		fmt.Fprintf(expected, "\x1b[%d;1H\x1b[K%s", overlayRows, *note)
	}
	return cellsOf(u.screen), cellsOf(expected)
}

// cellsOf returns the text of a screen, with _ after underlined characters.
func cellsOf(t *vt.Terminal) string {
	var rows strings.Builder
	for y := range overlayRows {
		for x := range overlayCols {
			text, style := vt.NewOverlay(t).Cell(x, y)
			rows.WriteString(text)
			if text != "" && style.Underline != styled.UnderlineNone {
				rows.WriteByte('_')
			}
		}
		rows.WriteByte('\n')
	}
	return rows.String()
}

// press records a key as typed and returns its mark.
func (u *overlayUser) press(key string) (mark uint64) {
	mark = u.pending.record([]byte(key))
	u.redraw()
	return mark
}

// echo returns what a program prints for a key.
func echo(key string) string {
	if key == "\x7f" {
		return "\b \b"
	}
	return key
}

// In whatever order keys, their echoes, answers and other output come, the program's output below
// the overlay is untouched, and the overlay is complete.
func TestOverlayIsDrawnOverTheProgramsScreen(t *testing.T) {
	seed.Check(t, func(r *rapid.T) {
		u := newOverlayUser(t)
		defer u.written.Close()
		show := func(text string) { _ = u.showOutput([]byte(text), false, false) }
		show("$ ")
		u.handleMark(api.Mark{N: u.pending.record(nil)})
		show(echo("a"))
		type sent struct {
			key  string
			mark uint64
		}
		var silent, unanswered []sent // keys without an echo, and without an answer
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			switch rapid.SampledFrom([]string{"key", "key", "echo", "answer", "print", "note"}).Draw(r, "step") {
			case "key":
				key := rapid.SampledFrom([]string{"x", "y", "漢", "\x7f"}).Draw(r, "key")
				s := sent{key, u.press(key)}
				silent, unanswered = append(silent, s), append(unanswered, s)
			case "echo":
				if len(silent) > 0 {
					show(echo(silent[0].key))
					silent = silent[1:]
				}
			case "answer":
				if len(unanswered) > len(silent) {
					u.handleMark(api.Mark{N: unanswered[0].mark})
					unanswered = unanswered[1:]
				}
			case "print":
				show(rapid.SampledFrom([]string{"\r\n$ ", "\x1b[31m", "\x1b[m", "\x1b[44m\x1b[K", "word ", "\x1b[3b", "\x1b[H", "\x1b[5;16H", "e\u0301"}).Draw(r, "output"))
			case "note":
				u.setNote(rapid.SampledFrom([]string{"", "offline"}).Draw(r, "note"))
				u.redraw()
			}
			if got, want := u.look(); got != want {
				r.Fatalf("the user sees\n%s\ninstead of\n%s", got, want)
			}
		}
	})
}

func TestSettingTheSameNoteIsNoChange(t *testing.T) {
	u := newOverlayUser(t)
	for _, c := range []struct {
		note string
		want bool
	}{{"", false}, {"offline", true}, {"offline", false}, {"slow", true}, {"", true}, {"", false}} {
		if got := u.setNote(c.note); got != c.want {
			t.Errorf("%q: changed is %v", c.note, got)
		}
	}
}

func TestResizeUnderAnOverlayKeepsTheProgramsStyle(t *testing.T) {
	u := newOverlayUser(t)
	_ = u.showOutput([]byte("\x1b[31m"), false, false)
	u.setNote("offline")
	u.redraw()
	u.setSize(api.Size{Cols: overlayCols, Rows: overlayRows})
	_ = u.showOutput([]byte("red"), false, false)
	u.look()
	_, got := vt.NewOverlay(u.screen).Cell(0, 0)
	if _, want := vt.NewOverlay(u.model).Cell(0, 0); got != want {
		t.Errorf("the text has the style %+v instead of %+v", got, want)
	}
}

func TestPredictionBeforeTheCursorStaysVisible(t *testing.T) {
	u := newOverlayUser(t)
	show := func(text string) { _ = u.showOutput([]byte(text), false, false) }
	show("$ ")
	mark := u.press("a")
	show("a")
	u.handleMark(api.Mark{N: mark})
	u.press("x")
	u.press("\x7f")
	show("x")
	u.press("f")
	got, want := u.look()
	if got != want || !strings.Contains(got, "af_") {
		t.Errorf("the user sees\n%s\ninstead of\n%s", got, want)
	}
}
