package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/engine/styled"
	"tandem/keys"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/themes"
	"tandem/ui/predict"
)

// A farPane is the pane of a shell on another machine that answers when the test says so.
type farPane struct {
	*testing.T
	*Pane
	box *sentBox
	now time.Time
}

func newFarPane(t *testing.T, mode predict.Mode) *farPane {
	e := &fakeEnv{}
	e.Known.Processes = []api.Process{{ID: "box/1", Name: "build"}}
	e.Known.Machines = []panes.Machine{{Machine: api.Machine{Name: "box", State: api.MachineConnected}}}
	p := New(e, &Search{}, "box/1")
	p.Predict = mode
	p.Resize(20, 4)
	f := &farPane{t, p, &sentBox{}, time.Now()}
	p.Feed.Connect(f.box)
	f.shows("$ ")
	return f
}

// typed types a text, a moment after what was before.
func (f *farPane) typed(text string) {
	for _, r := range text {
		k := keys.Key{Code: keys.Code(r), Text: string(r)}
		if r == '\r' {
			k = keys.Key{Code: keys.Enter}
		}
		f.Pane.HandleKey(k)
	}
}

// shows has the program show lines, with the cursor behind the last.
func (f *farPane) shows(lines ...string) {
	f.Feed.Receive(api.Output{Frame: screenOf(20, 4, 0, lines...)})
	f.Sync()
}

// answers answers all that was typed, after a while.
func (f *farPane) answers(after time.Duration) {
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

// want wants a row to be plain text and then underlined text, and the cursor behind it.
func (f *farPane) want(y int, plain, underlined string) {
	f.Helper()
	look := &widget.Look{Glyphs: themes.UnicodeGlyphs()}
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

func TestWhatIsTypedFarAwayIsShownUnderlinedUntilItHasComeBack(t *testing.T) {
	f := newFarPane(t, predict.Auto)
	f.typed("l")
	f.want(0, "$ ", "") // the program has echoed nothing yet
	f.shows("$ l")
	f.answers(100 * time.Millisecond)
	f.typed("s")
	f.want(0, "$ l", "s")
	f.shows("$ ls")
	f.answers(100 * time.Millisecond)
	f.want(0, "$ ls", "")
	f.typed("\rsecret") // what follows is another program's
	f.want(0, "$ ls", "")
	f.shows("$ ls", "Password: ")
	f.answers(100 * time.Millisecond)
	f.typed("x")
	f.want(1, "Password: ", "")
}

func TestNothingIsShownBeforeAnAnswerWhereItComesSoon(t *testing.T) {
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
		f := newFarPane(t, c.mode)
		f.ID = c.id
		f.typed("l")
		f.shows("$ l")
		f.answers(c.after)
		f.typed("s")
		f.want(0, "$ l", c.want)
	}
}

func TestAGuessGoesWhenThePaneIsReconnectedOrScrolled(t *testing.T) {
	f := newFarPane(t, predict.Always)
	f.typed("l")
	f.shows("$ l")
	f.answers(0)
	f.typed("s")
	f.want(0, "$ l", "s")
	f.Scroll.Start()
	f.want(1, "", "")
	if row := f.Pane.Draw()[0]; strings.Contains(row, "s") {
		f.Errorf("guessed in scroll mode: %q", row)
	}
	f.Scroll.Stop()
	f.want(0, "$ l", "s")
	f.Feed.Connect(&sentBox{})
	f.Sync()
	f.want(0, "$ l", "")
}

func TestGuessesLieOverALine(t *testing.T) {
	plain := api.Style{}
	l := line(run("a日b", 4, plain))
	for _, c := range []struct {
		x    int
		text string
		want string
	}{{0, "x", "x日b"}, {1, "x", "ax b"}, {2, "x", "a xb"}, {3, "x", "a日x"}, {6, "x", "a日b  x"}, {1, "語", "a語b"}, {3, "語", "a日語"}} {
		got := over(l, []predict.Drawn{{Place: predict.Place{X: c.x}, Cell: predict.Cell{Text: c.text}}})
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
