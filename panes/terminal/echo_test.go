package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/keys"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/kit/predict"
	"tandem/themes"
)

// A remotePane is the pane of a shell on another machine; the test decides when it replies.
type remotePane struct {
	*testing.T
	*Pane
	box *sentInput
	now time.Time
}

func newRemotePane(t *testing.T, mode predict.Mode) *remotePane {
	e := &fakeEnv{}
	e.Known.Processes = []api.Process{{ID: "box/1", Name: "build"}}
	e.Known.Machines = []panes.Machine{{Machine: api.Machine{Name: "box", State: api.MachineConnected}}}
	p := New(e, &Search{}, "box/1")
	p.Predict = mode
	p.Resize(20, 4)
	f := &remotePane{t, p, &sentInput{}, time.Now()}
	p.Feed.Connect(f.box)
	f.showLines("$ ")
	return f
}

// typeKeys types text a moment after the last input.
func (f *remotePane) typeKeys(text string) {
	for _, r := range text {
		k := keys.Key{Code: keys.Code(r), Text: string(r)}
		if r == '\r' {
			k = keys.Key{Code: keys.Enter}
		}
		f.Pane.HandleKey(k)
	}
}

// showLines makes the program show lines, with the cursor after the last.
func (f *remotePane) showLines(lines ...string) {
	f.Feed.Receive(api.Output{Frame: screenOf(20, 4, 0, lines...)})
	f.Sync()
}

// answerMarks returns the marks of all input, after a while.
func (f *remotePane) answerMarks(after time.Duration) {
	var last uint64
	for _, in := range f.box.sent {
		if in.Mark != nil {
			last = *in.Mark
		}
	}
	for i := range f.echo.sent {
		f.echo.sent[i].at = time.Now().Add(-after)
	}
	f.Feed.Receive(api.Output{Mark: &api.Mark{N: last}})
	f.Sync()
}

// wantRow checks that a row is plain text followed by underlined text and the cursor.
func (f *remotePane) wantRow(y int, plain, underlined string) {
	f.Helper()
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	row := f.Terminal.Draw(20, 4, look)[y]
	before, rest, _ := strings.Cut(row, "\x1b[0;4m")
	guessed, _, _ := strings.Cut(rest, "\x1b[")
	if got := strings.TrimRight(ansi.Strip(before), " "); got != strings.TrimRight(plain, " ") || guessed != underlined {
		f.Fatalf("row %d is %q: %q and underlined %q, want %q and %q", y, row, got, guessed, plain, underlined)
	}
	if n := ansi.StringWidth(row); n != 20 {
		f.Fatalf("row %q has %d cells", row, n)
	}
	if c := f.Cursor(); underlined != "" && (c == nil || c.X != len(plain)+len(underlined) || c.Y != y) {
		f.Fatalf("the cursor is at %+v", c)
	}
}

func TestRemoteInputIsUnderlinedUntilEchoed(t *testing.T) {
	f := newRemotePane(t, predict.Auto)
	f.typeKeys("l")
	f.wantRow(0, "$ ", "") // no echo has arrived
	f.showLines("$ l")
	f.answerMarks(100 * time.Millisecond)
	f.typeKeys("s")
	f.wantRow(0, "$ l", "s")
	f.showLines("$ ls")
	f.answerMarks(100 * time.Millisecond)
	f.wantRow(0, "$ ls", "")
	f.typeKeys("\rsecret") // the rest is for another program
	f.wantRow(0, "$ ls", "")
	f.showLines("$ ls", "Password: ")
	f.answerMarks(100 * time.Millisecond)
	f.typeKeys("x")
	f.wantRow(1, "Password: ", "")
}

func TestNoPredictionsAreShownOnAFastLink(t *testing.T) {
	for _, c := range []struct {
		mode  predict.Mode
		id    string
		after time.Duration
		want  string
	}{
		{predict.Auto, "box/1", 10 * time.Millisecond, ""},
		{predict.Auto, "box/1", 100 * time.Millisecond, "s"},
		{predict.Auto, "1", 100 * time.Millisecond, ""},
		{predict.Off, "box/1", 100 * time.Millisecond, ""},
		{predict.Always, "box/1", 10 * time.Millisecond, "s"},
		{predict.Always, "1", 10 * time.Millisecond, "s"},
	} {
		f := newRemotePane(t, c.mode)
		f.ID = c.id
		f.typeKeys("l")
		f.showLines("$ l")
		f.answerMarks(c.after)
		f.typeKeys("s")
		f.wantRow(0, "$ l", c.want)
	}
}

func TestPredictionsAreDroppedOnReconnectAndScroll(t *testing.T) {
	f := newRemotePane(t, predict.Always)
	f.typeKeys("l")
	f.showLines("$ l")
	f.answerMarks(0)
	f.typeKeys("s")
	f.wantRow(0, "$ l", "s")
	f.Scroll.Start()
	f.wantRow(1, "", "")
	if row := f.Pane.Draw()[0]; strings.Contains(row, "s") {
		f.Errorf("guessed in scroll mode: %q", row)
	}
	f.Scroll.Stop()
	f.wantRow(0, "$ l", "s")
	f.Feed.Connect(&sentInput{})
	f.Sync()
	f.wantRow(0, "$ l", "")
}

func TestOverlayCellsReplacesPartOfALine(t *testing.T) {
	plain := api.Style{}
	l := textLine(textRun("a日b", 4, plain))
	for _, c := range []struct {
		x    int
		text string
		want string
	}{{0, "x", "x日b"}, {1, "x", "ax b"}, {2, "x", "a xb"}, {3, "x", "a日x"}, {6, "x", "a日b  x"}, {1, "語", "a語b"}, {3, "語", "a日語"}} {
		got := overlayCells(l, []predict.OverlayCell{{Position: predict.Position{X: c.x}, Cell: predict.Cell{Text: c.text}}})
		text, under := "", ""
		for _, r := range got.Runs {
			text += r.Text
			if r.Style.Underline == styled.UnderlineSingle {
				under += r.Text
			}
		}
		if text != c.want || under != c.text {
			t.Errorf("%q at %d: %q with %q underlined, want %q", c.text, c.x, text, under, c.want)
		}
	}
}
