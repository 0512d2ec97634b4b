package terminal

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/engine/api/wire"
	"tandem/keys"
	"tandem/panes/widget"
	"tandem/themes"
)

// A sentBox is an attachment that keeps what is sent.
type sentBox struct {
	sent   []api.Input
	stuck  bool  // takes nothing more
	unsure int64 // bytes that the attachment before it may have lost
	out    *outbox.Sender
}

func (b *sentBox) SendFrom(o *outbox.Outbox, first ...api.Input) (unsure int64) {
	b.out, _ = o.Connect(b.take, outbox.Arrived{}, first...)
	b.take()
	return b.unsure
}

func (b *sentBox) take() {
	if b.out == nil || b.stuck {
		return
	}
	batch, _ := b.out.Take()
	for _, msg := range batch {
		in, err := wire.DecodeInput(msg)
		if err != nil {
			panic(err)
		}
		b.sent = append(b.sent, in)
		b.out.Sent(msg)
	}
}

func (b *sentBox) text() string {
	var s strings.Builder
	for _, in := range b.sent {
		if in.Key != nil {
			s.WriteString(in.Key.Text)
		}
	}
	return s.String()
}

// screenOf is a full frame with these rows, the cursor behind the last one.
func screenOf(cols, rows int, first int64, lines ...string) *api.Frame {
	f := &api.Frame{Full: true, Cols: cols, Rows: rows, First: first, Cursor: api.Cursor{Y: len(lines) - 1, Visible: true}}
	for i, l := range lines {
		f.Lines = append(f.Lines, api.NumberedLine{N: first + int64(i), Line: line(run(l, widget.Width(l), api.Style{}))})
		f.Cursor.X = widget.Width(l)
	}
	return f
}

func TestAPaneIsBehindUntilTheSessionHasAnswered(t *testing.T) {
	p, box := live(20, 3, screenOf(20, 3, 0, "a"))
	p.CatchUp()
	if len(box.sent) != 1 || box.sent[0].Lines == nil {
		t.Fatalf("asked with %+v", box.sent)
	}
	p.Feed.Receive(api.Output{Frame: screenOf(20, 3, 0, "b")})
	if p.Sync(); !p.Behind() {
		t.Error("not behind before the answer")
	}
	p.Feed.Receive(api.Output{Lines: []api.NumberedLine{}})
	if p.Sync(); p.Behind() {
		t.Error("behind after the answer")
	}
	p.CatchUp()
	box.out.Lose()
	if p.Sync(); p.Behind() {
		t.Error("behind while nobody could answer")
	}
	if p.CatchUp(); p.Behind() {
		t.Error("behind when nobody was asked")
	}
}

func TestAPaneIsBehindUntilTheSessionHasItsSize(t *testing.T) {
	p, box := live(20, 3, screenOf(20, 3, 0, "a"))
	if p.Sync(); p.Behind() {
		t.Error("behind with the size that it has")
	}
	p.SetSize(20, 4)
	p.Resized()
	if p.Sync(); !p.Behind() {
		t.Error("not behind before the session has taken the size")
	}
	p.Feed.Receive(api.Output{Frame: screenOf(20, 4, 0, "a")})
	if p.Sync(); p.Behind() {
		t.Error("behind after the session has taken the size")
	}
	p.SetSize(20, 5)
	if p.Settle(); p.Behind() {
		t.Error("behind a session that keeps its size")
	}
	p.SetSize(20, 6)
	box.out.Lose()
	if p.Sync(); p.Behind() {
		t.Error("behind while nobody could answer")
	}
}

// live is a connected pane of a size that shows a frame.
func live(w, h int, f *api.Frame) (*Terminal, *sentBox) {
	t, box := NewTerminal("1"), &sentBox{}
	t.SetSize(w, h)
	t.Feed.Connect(box)
	t.Feed.Receive(api.Output{Frame: f})
	t.Sync()
	t.Settle()
	box.sent = nil
	return t, box
}

// plain is what a pane looks like without its colours.
func plain(t *Terminal, w, h int) []string {
	var rows []string
	for _, r := range t.Draw(w, h, &widget.Look{Glyphs: themes.UnicodeGlyphs()}) {
		rows = append(rows, ansi.Strip(r))
	}
	return rows
}

func check(t *testing.T, got, want []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestTerminalFillsItsPane(t *testing.T) {
	p, _ := live(8, 3, screenOf(8, 3, 0, "$ ls", "漢字漢字x", ""))
	check(t, plain(p, 8, 3), []string{"$ ls    ", "漢字漢字", "        "})
}

func TestSmallerSessionShowsWhereItEnds(t *testing.T) {
	p, _ := live(8, 4, screenOf(5, 2, 0, "$ ls", "a"))
	check(t, plain(p, 8, 4), []string{"$ ls ···", "a    ···", "········", "········"})
}

func TestSmallerSessionSaysWhoseSizeItHas(t *testing.T) {
	p, _ := live(60, 4, screenOf(50, 2, 0, "$ ls", "a"))
	p.Settle()
	check(t, plain(p, 60, 4)[3:], []string{" 50×2 of 60×4: a smaller terminal shows this session too ···"})
	p, _ = live(20, 4, screenOf(20, 2, 0, "$ ls", "a"))
	p.Settle()
	check(t, plain(p, 20, 4)[3:], []string{" 20×2 of 20×4 ······"})
	p, _ = live(28, 4, screenOf(8, 4, 0, "$ ls", "a", "b", "c"))
	p.Settle()
	check(t, plain(p, 28, 4), []string{
		"$ ls     8×4 of 28×4: a     ",
		"a        smaller terminal   ",
		"b        shows this session ",
		"c        too                ",
	})
	p, _ = live(14, 2, screenOf(8, 2, 0, "$ ls", "a"))
	p.Settle()
	check(t, plain(p, 14, 2), []string{"$ ls    ······", "a       ······"})
	p, _ = live(4, 2, screenOf(8, 4, 0, "one", "two", "threefour", "four"))
	p.Settle()
	check(t, plain(p, 4, 2), []string{"thre", "four"})
}

func TestLargerSessionIsClippedAroundItsCursor(t *testing.T) {
	p, _ := live(4, 2, screenOf(8, 4, 0, "one", "two", "threefour", "four"))
	check(t, plain(p, 4, 2), []string{"thre", "four"})
	if c, ok := p.Cursor(); ok {
		t.Errorf("the cursor at column 4 of a pane of 4 shows at %v", c)
	}
}

func TestEndedSessionSaysHowAndWhatNext(t *testing.T) {
	seven := 7
	p, box := live(60, 3, screenOf(60, 3, 0, "$ exit 7"))
	p.Feed.Receive(api.Output{Ended: &api.Process{State: api.StateExited, ExitCode: &seven}})
	p.Sync()
	p.afterEnd = []widget.Hint{{Key: "enter", Does: "new shell"}, {Key: "x", Does: "close"}}
	got := plain(p, 60, 3)
	check(t, got[2:], []string{widget.Pad(" exited with status 7   enter new shell  x close", 60)})
	if err := p.Outbox.Send(api.Input{Key: &keys.Key{Code: 'a', Text: "a"}}); !errors.Is(err, outbox.ErrNotSent) || len(box.sent) > 0 {
		t.Errorf("typing into an ended session: error %v, sent %v", err, box.sent)
	}
	if _, ok := p.Cursor(); ok {
		t.Error("the cursor of an ended session is shown")
	}
}

func TestScrollModeStaysAtItsLinesWhileOutputGoesOn(t *testing.T) {
	p, box := live(6, 2, screenOf(6, 2, 10, "ten", "eleven"))
	p.Feed.Receive(api.Output{Lines: []api.NumberedLine{{N: 8, Line: line(run("eight", 5, api.Style{}))}}})
	p.Scroll.Start()
	p.Scroll.By(-2)
	if n := len(box.sent); n != 1 || box.sent[0].Lines == nil {
		t.Fatalf("scrolling up asked for %v", box.sent)
	}
	check(t, plain(p, 14, 2), []string{"ei line 10/12 ", "      ········"})
	next := screenOf(6, 2, 13, "thirte", "fourte")
	next.Full = false
	p.Feed.Receive(api.Output{Frame: next})
	p.Sync()
	check(t, plain(p, 14, 2), []string{"ei line 10/15 ", "      ········"})
	p.Scroll.By(-100)
	if got := p.Scroll.top; got != 0 {
		t.Errorf("scrolled above the oldest line to %d", got)
	}
	p.Scroll.End()
	p.Scroll.Stop()
	check(t, plain(p, 6, 2), []string{"thirte", "fourte"})
}

func TestWheelScrollsBackAndReturnsAtTheBottom(t *testing.T) {
	p, _ := live(6, 2, screenOf(6, 2, 10, "ten", "eleven"))
	p.Mouse(keys.Mouse{Button: keys.WheelUp})
	if !p.Scroll.Active() || p.Scroll.top != 7 {
		t.Fatalf("after the wheel: scrolling %v at %d", p.Scroll.Active(), p.Scroll.top)
	}
	p.Mouse(keys.Mouse{Button: keys.WheelDown})
	if p.Scroll.Active() {
		t.Error("scrolling to the bottom did not end scroll mode")
	}
}

func TestScrollModeSurvivesAResizeAfterTheWheel(t *testing.T) {
	p, _ := live(6, 2, screenOf(6, 2, 10, "ten", "eleven"))
	p.Mouse(keys.Mouse{Button: keys.WheelUp})
	grown := screenOf(6, 6, 6, "six", "seven", "eight", "nine", "ten", "eleven")
	p.SetSize(6, 6)
	p.Feed.Receive(api.Output{Frame: grown})
	p.Sync()
	if !p.Scroll.Active() {
		t.Error("the resize ended scroll mode")
	}
	p.Mouse(keys.Mouse{Button: keys.WheelDown})
	if p.Scroll.Active() {
		t.Error("scrolling to the bottom did not end scroll mode")
	}
}

func TestMouseGoesToAProgramThatAskedForIt(t *testing.T) {
	f := screenOf(6, 2, 0, "a")
	f.Mouse = keys.MouseClick
	p, box := live(6, 2, f)
	p.Mouse(keys.Mouse{X: 3, Y: 1, Button: keys.WheelUp})
	if len(box.sent) != 1 || box.sent[0].Mouse == nil || box.sent[0].Mouse.X != 3 || p.Scroll.Active() {
		t.Errorf("sent %v, scrolling %v", box.sent, p.Scroll.Active())
	}
}

func TestWheelOnTheAlternateScreenMovesInTheProgram(t *testing.T) {
	f := screenOf(6, 2, 0, "a")
	f.Alt = true
	p, box := live(6, 2, f)
	p.Mouse(keys.Mouse{Button: keys.WheelDown})
	if len(box.sent) != wheelLines || box.sent[0].Key == nil || box.sent[0].Key.Code != keys.Down {
		t.Errorf("sent %v", box.sent)
	}
}

func TestTypedKeysWaitForTheSessionAndArriveInOrder(t *testing.T) {
	p := NewTerminal("1")
	p.SetSize(8, 2)
	typeText(t, p, "abc")
	first := &sentBox{}
	p.Feed.Connect(first)
	p.Sync()
	typeText(t, p, "de")
	first.stuck = true
	typeText(t, p, "fg")
	first.out.Lose()
	p.Sync()
	typeText(t, p, "h")
	second := &sentBox{}
	p.Feed.Connect(second)
	p.Sync()
	typeText(t, p, "i")
	if got := first.text() + "|" + second.text(); got != "abcde|fghi" {
		t.Errorf("arrived %q", got)
	}
}

func TestSessionHearsOfTheDisplayBeforeKeysThatWaited(t *testing.T) {
	p, box := NewTerminal("1"), &sentBox{}
	p.SetSize(8, 2)
	typeText(t, p, "vi")
	p.SetDisplay(&api.Display{})
	p.Feed.Connect(box)
	p.Sync()
	if len(box.sent) != 4 || box.sent[0].Display == nil || box.text() != "vi" || box.sent[3].Resize == nil {
		t.Errorf("sent %+v", box.sent)
	}
}

func typeText(t *testing.T, p *Terminal, text string) {
	t.Helper()
	for _, r := range text {
		if err := p.Outbox.Send(api.Input{Key: &keys.Key{Code: keys.Code(r), Text: string(r)}}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInputBeyondTheBoundIsRefusedAndNotLostSilently(t *testing.T) {
	p := NewTerminal("1")
	paste, sent := strings.Repeat("x", wire.MaxPaste), 0
	for p.Outbox.Send(api.Input{Paste: &paste}) == nil {
		sent++
	}
	if err := p.Outbox.Send(api.Input{Paste: &paste}); !errors.Is(err, outbox.ErrNotSent) {
		t.Errorf("one more: %v", err)
	}
	if n := p.Outbox.Waiting(); sent == 0 || n != sent {
		t.Errorf("%d inputs wait, of %d", n, sent)
	}
}

func TestSizeIsToldOnceAndAgainToANewConnection(t *testing.T) {
	p, box := live(8, 2, screenOf(8, 2, 0, "a"))
	p.SetSize(10, 3)
	p.Resized()
	p.Resized()
	if len(box.sent) != 1 || *box.sent[0].Resize != (api.Size{Cols: 10, Rows: 3}) {
		t.Fatalf("sent %v", box.sent)
	}
	next := &sentBox{}
	p.Feed.Connect(next)
	p.Sync()
	if len(next.sent) != 1 || next.sent[0].Resize == nil {
		t.Errorf("a new connection was told %v", next.sent)
	}
}

func TestLinesThatScrolledFarAwayAreLetGo(t *testing.T) {
	var s Screen
	for n := int64(0); n < 5*keepScrolled; n++ {
		f := screenOf(4, 2, n, "a", "b")
		f.Full = n == 0
		s.Apply(f)
	}
	if n := len(s.lines); n > 3*keepScrolled {
		t.Errorf("%d lines are held", n)
	}
}

func run(text string, cells int, s api.Style) api.Run {
	return api.Run{Style: s, Text: text, Cells: cells}
}

func line(runs ...api.Run) api.Line { return api.Line{Runs: runs} }

func plainText(row string) string { return ansi.Strip(sizedText.ReplaceAllString(row, "$1")) }

var sizedText = regexp.MustCompile(`\x1b\]66;w=\d;([^\x1b]*)\x1b\\`)

func TestHowASessionEndedIsSaidInTheRoomThereIs(t *testing.T) {
	three := 3
	p := api.Process{ID: "1", Name: "bash", State: api.StateExited, ExitCode: &three}
	for w, want := range map[int]string{22: " exited with status 3 ", 21: " exit 3 ", 8: " exit 3 "} {
		if got := ansi.Strip(endedRow(&p, []widget.Hint{{Key: "enter", Does: "new shell"}, {Key: "x", Does: "close"}}, w, &widget.Look{})); strings.TrimRight(got, " ") != strings.TrimRight(want, " ") || widget.Width(got) != w {
			t.Errorf("in %d cells it is %q", w, got)
		}
	}
}
