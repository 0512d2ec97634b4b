package terminal

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/engine/api/wire"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
	"tandem/themes"
)

// A sentInput is an attachment recording its input.
type sentInput struct {
	sent    []api.Input
	stuck   bool        // accepts nothing more
	reports bool        // reports what it accepts: nothing
	loss    outbox.Loss // by the attachment before it
	out     *outbox.Sender
}

func (b *sentInput) SendFrom(o *outbox.Outbox, first ...api.Input) outbox.Loss {
	b.out, _ = o.Connect(b.collect, api.InputState{Counts: true, Reports: b.reports}, first...)
	b.collect()
	return b.loss
}

func (b *sentInput) collect() {
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

func (b *sentInput) text() string {
	var s strings.Builder
	for _, in := range b.sent {
		if in.Key != nil {
			s.WriteString(in.Key.Text)
		}
	}
	return s.String()
}

// screenOf returns a full frame with these rows and the cursor after the last one.
func screenOf(cols, rows int, first int64, lines ...string) *api.Frame {
	f := &api.Frame{Full: true, Cols: cols, Rows: rows, First: first, Cursor: api.Cursor{Y: len(lines) - 1, Visible: true}}
	for i, l := range lines {
		f.Lines = append(f.Lines, api.NumberedLine{N: first + int64(i), Line: textLine(textRun(l, text.Width(l), api.Style{}))})
		f.Cursor.X = text.Width(l)
	}
	return f
}

func TestRowsFillThePaneWhenAFrameChangesTheSize(t *testing.T) {
	p, _ := livePane(20, 3, screenOf(20, 3, 0, "a"))
	stopped := make(chan struct{})
	var resizing sync.WaitGroup
	defer resizing.Wait()
	defer close(stopped)
	resizing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stopped:
				return
			default:
				cols := 10 + i%20
				p.Feed.Receive(api.Output{Frame: screenOf(cols, 3, 0, "a", "b")})
			}
		}
	})
	for range 5000 {
		for _, row := range plainRows(p, 20, 3) {
			if w := text.Width(row); w != 20 {
				t.Fatalf("a row is %d cells wide: %q", w, row)
			}
		}
	}
}

// livePane returns a connected pane of a size, showing a frame.
func livePane(w, h int, f *api.Frame) (*Terminal, *sentInput) {
	t, box := NewTerminal("1"), &sentInput{}
	t.SetSize(w, h)
	t.Feed.Connect(box)
	t.Feed.Receive(api.Output{Frame: f})
	t.Sync()
	t.View.SettleSize()
	box.sent = nil
	return t, box
}

// plainRows returns the drawn pane without colors.
func plainRows(t *Terminal, w, h int) []string {
	var rows []string
	for _, r := range t.Draw(w, h, &look.Look{Glyphs: themes.UnicodeGlyphs()}) {
		rows = append(rows, ansi.Strip(r))
	}
	return rows
}

func compareRows(t *testing.T, got, want []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestTerminalFillsItsPane(t *testing.T) {
	p, _ := livePane(8, 3, screenOf(8, 3, 0, "$ ls", "漢字漢字x", ""))
	compareRows(t, plainRows(p, 8, 3), []string{"$ ls    ", "漢字漢字", "        "})
}

func TestCellsOutsideSmallerSessionAreDotted(t *testing.T) {
	p, _ := livePane(8, 4, screenOf(5, 2, 0, "$ ls", "a"))
	compareRows(t, plainRows(p, 8, 4), []string{"$ ls ···", "a    ···", "········", "········"})
}

func TestSmallerSessionExplainsItsSize(t *testing.T) {
	p, _ := livePane(60, 4, screenOf(50, 2, 0, "$ ls", "a"))
	p.View.SettleSize()
	compareRows(t, plainRows(p, 60, 4)[3:], []string{" 50×2 of 60×4: a smaller terminal shows this session too ···"})
	p, _ = livePane(20, 4, screenOf(20, 2, 0, "$ ls", "a"))
	p.View.SettleSize()
	compareRows(t, plainRows(p, 20, 4)[3:], []string{" 20×2 of 20×4 ······"})
	p, _ = livePane(28, 4, screenOf(8, 4, 0, "$ ls", "a", "b", "c"))
	p.View.SettleSize()
	compareRows(t, plainRows(p, 28, 4), []string{
		"$ ls     8×4 of 28×4: a     ",
		"a        smaller terminal   ",
		"b        shows this session ",
		"c        too                ",
	})
	p, _ = livePane(14, 2, screenOf(8, 2, 0, "$ ls", "a"))
	p.View.SettleSize()
	compareRows(t, plainRows(p, 14, 2), []string{"$ ls    ······", "a       ······"})
	p, _ = livePane(4, 2, screenOf(8, 4, 0, "one", "two", "threefour", "four"))
	p.View.SettleSize()
	compareRows(t, plainRows(p, 4, 2), []string{"thr▲", "four"})
}

// Another dashboard may show the session in a larger pane.
func TestCutsOfLargerSessionAreMarked(t *testing.T) {
	p, _ := livePane(10, 3, screenOf(14, 3, 0, "ARCHITECTURE", "LICENSE", "0123456789"))
	compareRows(t, plainRows(p, 10, 3), []string{"ARCHITECT›", "LICENSE   ", "0123456789"})
	if p.IsPlain() {
		t.Error("frames that are drawn directly would remove the mark")
	}
	p, _ = livePane(10, 2, screenOf(10, 4, 0, "a", "b", "c", "d"))
	compareRows(t, plainRows(p, 10, 2), []string{"c        ▲", "d         "})
	top := screenOf(10, 4, 0, "a", "b", "c", "d")
	top.Cursor.Y = 0
	p, _ = livePane(10, 2, top)
	compareRows(t, plainRows(p, 10, 2), []string{"a         ", "b        ▼"})
}

func TestLargerSessionIsClippedAroundItsCursor(t *testing.T) {
	p, _ := livePane(4, 2, screenOf(8, 4, 0, "one", "two", "threefour", "four"))
	compareRows(t, plainRows(p, 4, 2), []string{"thr▲", "four"})
	if c, ok := p.Cursor(); ok {
		t.Errorf("the cursor at column 4 of a pane of 4 shows at %v", c)
	}
}

func TestExitedSessionShowsItsExitAndHints(t *testing.T) {
	seven := 7
	p, box := livePane(60, 3, screenOf(60, 3, 0, "$ exit 7"))
	p.Feed.Receive(api.Output{Ended: &api.Process{State: api.StateExited, ExitCode: &seven}})
	p.Sync()
	p.exit.hints = []keymap.Hint{{Key: "enter", Does: "restore"}, {Key: "x", Does: "close"}}
	got := plainRows(p, 60, 3)
	compareRows(t, got[2:], []string{text.Pad(" exited with status 7   enter restore  x close", 60)})
	if err := p.Outbox.Send(api.Input{Key: &keys.Key{Code: 'a', Text: "a"}}); !errors.Is(err, outbox.ErrNotSent) || len(box.sent) > 0 {
		t.Errorf("typing into an ended session: error %v, sent %v", err, box.sent)
	}
	if _, ok := p.Cursor(); ok {
		t.Error("the cursor of an ended session is shown")
	}
}

func TestFailedAttachmentIsExplainedBelowTheLastScreen(t *testing.T) {
	p, _ := livePane(30, 3, screenOf(30, 3, 0, "$ make"))
	p.Feed.Fail(errors.New("attach: too many clients"))
	p.Sync()
	compareRows(t, plainRows(p, 30, 3), []string{text.Pad("$ make", 30), text.Pad("", 30), text.Pad(" attach: too many clients", 30)})
	if _, ok := p.Cursor(); ok {
		t.Error("the cursor of a session that is not attached is shown")
	}
}

func TestScrollModeStaysDuringOutput(t *testing.T) {
	p, box := livePane(6, 2, screenOf(6, 2, 10, "ten", "eleven"))
	p.Feed.Receive(api.Output{Lines: []api.NumberedLine{{N: 8, Line: textLine(textRun("eight", 5, api.Style{}))}}})
	p.Scroll.Start()
	p.Scroll.ScrollBy(-2)
	if n := len(box.sent); n != 1 || box.sent[0].Lines == nil {
		t.Fatalf("scrolling up asked for %v", box.sent)
	}
	compareRows(t, plainRows(p, 14, 2), []string{"ei line 10/12 ", "      ········"})
	next := screenOf(6, 2, 13, "thirte", "fourte")
	next.Full = false
	p.Feed.Receive(api.Output{Frame: next})
	p.Sync()
	compareRows(t, plainRows(p, 14, 2), []string{"ei line 10/15 ", "      ········"})
	p.Scroll.ScrollBy(-100)
	if got := p.Scroll.top; got != 0 {
		t.Errorf("scrolled above the oldest line to %d", got)
	}
	p.Scroll.GoToEnd()
	p.Scroll.Stop()
	compareRows(t, plainRows(p, 6, 2), []string{"thirte", "fourte"})
}

func TestWheelScrollsBackAndReturnsAtTheBottom(t *testing.T) {
	p, _ := livePane(6, 2, screenOf(6, 2, 10, "ten", "eleven"))
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
	p, _ := livePane(6, 2, screenOf(6, 2, 10, "ten", "eleven"))
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

func TestMouseEventsGoToAProgramRequestingThem(t *testing.T) {
	f := screenOf(6, 2, 0, "a")
	f.Mouse = keys.MouseClick
	p, box := livePane(6, 2, f)
	p.Mouse(keys.Mouse{X: 3, Y: 1, Button: keys.WheelUp})
	if len(box.sent) != 1 || box.sent[0].Mouse == nil || box.sent[0].Mouse.X != 3 || p.Scroll.Active() {
		t.Errorf("sent %v, scrolling %v", box.sent, p.Scroll.Active())
	}
}

func TestWheelOnTheAlternateScreenSendsCursorKeys(t *testing.T) {
	f := screenOf(6, 2, 0, "a")
	f.Alt = true
	p, box := livePane(6, 2, f)
	p.Mouse(keys.Mouse{Button: keys.WheelDown})
	if len(box.sent) != wheelLines || box.sent[0].Key == nil || box.sent[0].Key.Code != keys.Down {
		t.Errorf("sent %v", box.sent)
	}
}

func TestKeysQueueForTheSessionInOrder(t *testing.T) {
	p := NewTerminal("1")
	p.SetSize(8, 2)
	typeText(t, p, "abc")
	first := &sentInput{}
	p.Feed.Connect(first)
	p.Sync()
	typeText(t, p, "de")
	first.stuck = true
	typeText(t, p, "fg")
	first.out.Lose()
	p.Sync()
	typeText(t, p, "h")
	second := &sentInput{}
	p.Feed.Connect(second)
	p.Sync()
	typeText(t, p, "i")
	if got := first.text() + "|" + second.text(); got != "abcde|fghi" {
		t.Errorf("arrived %q", got)
	}
}

func TestDisplayIsSentBeforeQueuedKeys(t *testing.T) {
	p, box := NewTerminal("1"), &sentInput{}
	p.SetSize(8, 2)
	typeText(t, p, "vi")
	p.View.SetDisplay(&api.Display{})
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

func TestInputBeyondTheLimitIsAnError(t *testing.T) {
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

func TestSizeIsSentOncePerConnection(t *testing.T) {
	p, box := livePane(8, 2, screenOf(8, 2, 0, "a"))
	p.SetSize(10, 3)
	p.View.SendSize()
	p.View.SendSize()
	if len(box.sent) != 1 || *box.sent[0].Resize != (api.Size{Cols: 10, Rows: 3}) {
		t.Fatalf("sent %v", box.sent)
	}
	next := &sentInput{}
	p.Feed.Connect(next)
	p.Sync()
	if len(next.sent) != 1 || next.sent[0].Resize == nil {
		t.Errorf("a new connection received %v", next.sent)
	}
}

func TestScreenDropsLinesScrolledFarAway(t *testing.T) {
	var s Screen
	for n := int64(0); n < 5*maxScrolledLines; n++ {
		f := screenOf(4, 2, n, "a", "b")
		f.Full = n == 0
		s.Apply(f)
	}
	if n := len(s.lines); n > 3*maxScrolledLines {
		t.Errorf("%d lines are held", n)
	}
}

func textRun(text string, cells int, s api.Style) api.Run {
	return api.Run{Style: s, Text: text, Cells: cells}
}

func textLine(runs ...api.Run) api.Line { return api.Line{Runs: runs} }

func plainText(row string) string { return ansi.Strip(sizedText.ReplaceAllString(row, "$1")) }

var sizedText = regexp.MustCompile(`\x1b\]66;w=\d;([^\x1b]*)\x1b\\`)

func TestExitTextFitsTheWidth(t *testing.T) {
	three := 3
	p := api.Process{ID: "1", Name: "bash", State: api.StateExited, ExitCode: &three}
	for w, want := range map[int]string{22: " exited with status 3 ", 21: " exit 3 ", 8: " exit 3 "} {
		if got := ansi.Strip(drawExitRow(states.HowEndedIn(&p, w-2), "", []keymap.Hint{{Key: "enter", Does: "restore"}, {Key: "x", Does: "close"}}, w, &look.Look{})); strings.TrimRight(got, " ") != strings.TrimRight(want, " ") || text.Width(got) != w {
			t.Errorf("in %d cells it is %q", w, got)
		}
	}
}
