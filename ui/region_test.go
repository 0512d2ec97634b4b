package ui

import (
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/keys"
	"tandem/panes/kit/graphics"
	"tandem/panes/terminal"
	"tandem/tests/seed"
	"tandem/ui/screen"
)

// A paperTerminal is a terminal that keeps what was painted on it.
type paperTerminal struct {
	*screen.Terminal
	t    testing.TB
	file *os.File
	at   int64
	vt   *vt.Terminal
}

func newPaperTerminal(t testing.TB, w, h int) *paperTerminal {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	p := &paperTerminal{Terminal: screen.New(file, colorprofile.TrueColor), t: t, file: file, vt: vt.New(vt.Options{Cols: w, Rows: h})}
	if err := p.Enter(); err != nil {
		t.Fatal(err)
	}
	return p
}

// paint paints the next frame.
func (p *paperTerminal) paint() {
	if err := p.Paint(); err != nil {
		p.t.Fatal(err)
	}
	size, err := p.file.Seek(0, 2)
	if err != nil {
		p.t.Fatal(err)
	}
	text := make([]byte, size-p.at)
	if _, err := p.file.ReadAt(text, p.at); err != nil && len(text) > 0 {
		p.t.Fatal(err)
	}
	p.at = size
	p.vt.Write(text)
}

// cells returns the rows with their styles and pictures, and the cursor.
func (p *paperTerminal) cells() (rows []string) {
	_, first, end := p.vt.Bounds()
	for _, line := range p.vt.Lines(first, int(end-first)) {
		var row, blank strings.Builder
		var last styled.Style
		for _, run := range line.Line.Runs {
			for _, c := range run.Text {
				style := run.Style
				if c == ' ' && style.Attrs&^(styled.Bold|styled.Faint|styled.Italic) == 0 && style.Underline == 0 {
					style.FG, style.Attrs = 0, 0 // cannot be seen
				}
				if style != last {
					fmt.Fprintf(&blank, "%+v", style)
					last = style
				}
				blank.WriteRune(c)
				if c != ' ' || style != (styled.Style{}) {
					row.WriteString(blank.String())
					blank.Reset()
				}
			}
		}
		for _, s := range line.Line.Pictures {
			fmt.Fprintf(&row, " picture row %d, %d to %d", s.Row, s.From, s.To)
		}
		rows = append(rows, row.String())
	}
	c := p.vt.Cursor()
	if !c.Visible {
		c = styled.Cursor{}
	}
	return append(rows, fmt.Sprintf("cursor %+v", c))
}

// A directRig is a dashboard of four panes on a terminal, without a goroutine of its own.
type directRig struct {
	m        *model
	terminal *paperTerminal
	sessions []*fakeScreen
	notified atomic.Bool  // a frame must be shown by Update and View
	direct   atomic.Int64 // frames shown without
	waiting  func() bool  // the model's own
}

// A fakeScreen makes the frames of a session.
type fakeScreen struct {
	pane  *terminal.Pane
	frame api.Frame // the last one
}

const rigWidth, rigHeight = 110, 30

// newDirectRig returns a rig with sessions that have shown picture 7, of 30×40 pixels.
func newDirectRig(t *testing.T) *directRig {
	picture := writePNG(t, 30, 40)
	m, _ := busyModel(t)
	m.setSize(rigWidth, rigHeight)
	rig := &directRig{m: m, terminal: newPaperTerminal(t, rigWidth, rigHeight)}
	m.terminal = rig.terminal.Terminal
	m.input.queue.Notify = func() {}
	rig.waiting = m.keyboard.prefix.waiting
	for _, l := range m.sessions.Tabs.Current.Root.Leaves(nil) {
		s := &fakeScreen{pane: m.sessions.Panes.Pane(l.ID)}
		rig.sessions = append(rig.sessions, s)
		m.sessions.Panes.Pane(l.ID).Feed.Receive(api.Output{Picture: &api.Picture{Number: 7, Size: image.Pt(30, 40), PNG: []byte(picture)}})
		rig.receive(s, s.nextFrame(seed.From(0)))
	}
	rig.update(changedMsg{})
	return rig
}

// update handles a message as Bubble Tea does, but runs no command.
func (rig *directRig) update(msg tea.Msg) {
	rig.m.Update(msg)
	rig.m.View()
}

// receive passes a frame to a pane, as its connection does.
func (rig *directRig) receive(s *fakeScreen, f api.Frame) {
	if shown, _ := s.pane.Feed.Receive(api.Output{Frame: &f}); shown {
		rig.direct.Add(1)
		return
	}
	rig.notified.Store(true)
}

func (rig *directRig) receiveFrame(r *rand.Rand) {
	s := pick(r, rig.sessions...)
	rig.receive(s, s.nextFrame(r))
}

// receiveLater delivers a frame in the middle of Update or View. It does so when the model asks
// whether the prefix was pressed, which happens before the panes are drawn and again afterwards.
func (rig *directRig) receiveLater(r *rand.Rand) {
	ask, n := rig.m.keyboard.prefix.waiting, r.IntN(6)
	rig.m.keyboard.prefix.long = true // else it does not ask
	rig.m.frame.redraw()
	rig.m.View()
	rig.m.keyboard.prefix.waiting = func() bool {
		if n--; n < 0 {
			rig.m.keyboard.prefix.waiting = ask
			rig.receiveFrame(r)
		}
		return ask()
	}
}

// check compares the terminal with one that is painted from scratch.
func (rig *directRig) check(r interface{ Fatalf(string, ...any) }, t *testing.T) {
	m := rig.m
	m.keyboard.prefix.waiting = rig.waiting
	rig.sync()
	rig.terminal.paint()
	fresh := newPaperTerminal(t, m.areas.w, m.areas.h)
	m.drawFrame()
	fresh.Show(m.frame.view, m.areas.w, m.areas.h, m.theme.background, m.picturePlacement(), m.env.sessionPatches())
	fresh.paint()
	got, want := rig.terminal.cells(), fresh.cells()
	for y := range want {
		if y >= len(got) || got[y] != want[y] {
			r.Fatalf("row %d of %d×%d: %s", y, m.areas.w, m.areas.h, cmp.Diff(want[y], got[min(y, len(got)-1)]))
		}
	}
	m.showFrame()
}

// pick returns one of several values.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// makeLine returns a line of at most w cells.
func makeLine(r *rand.Rand, w int) (l api.Line) {
	used := 0
	for range r.IntN(6) {
		run := pick(r,
			api.Run{Text: "word", Cells: 4}, api.Run{Text: "漢字", Cells: 4}, api.Run{Text: " e\u0301 ", Cells: 3}, api.Run{Text: "❤\ufe0f", Cells: 2},
			api.Run{Text: "👨\u200d👩\u200d👧", Cells: 2}, api.Run{Text: "🇩", Cells: 1}, api.Run{Text: "        ", Cells: 8}, api.Run{Text: "│─┼", Cells: 3},
			api.Run{Text: strings.Repeat("x", 60), Cells: 60})
		if used += run.Cells; used > w {
			break
		}
		run.Style.FG, run.Style.BG = pick[api.Color](r, 0, styled.ColorIndexed|1, styled.ColorRGB|0x123456), pick[api.Color](r, 0, 0, styled.ColorIndexed|4)
		run.Style.Attrs = pick(r, 0, styled.Bold, styled.Reverse)
		l.Runs = append(l.Runs, run)
	}
	if w >= 8 && r.IntN(40) == 0 {
		l.Pictures = []api.Strip{{Placement: &api.Placement{
			ID: 5, Picture: 7, Source: image.Rect(0, 0, 30, 40), Cols: 3, Rows: 2, Cell: image.Pt(10, 20), Box: image.Rect(0, 0, 30, 40),
		}, Row: r.IntN(2), X: 3, From: 3, To: 6}}
	}
	l.Size = pick[api.LineSize](r, 0, 0, 0, 0, 0, 0, 0, styled.DoubleWidth)
	return l
}

// nextFrame returns the session's next frame: most change lines, and some scroll, or change what
// is shown elsewhere.
func (s *fakeScreen) nextFrame(r *rand.Rand) api.Frame {
	f, size := &s.frame, s.pane.Feed.Size()
	f.Lines, f.Full = nil, r.IntN(15) == 0
	if f.Cols == 0 || r.IntN(2) == 0 && (f.Cols != size.Cols || f.Rows != size.Rows) { // adopts the pane's size
		f.Cols, f.Rows, f.Full = size.Cols, size.Rows, true
	}
	from, n := r.IntN(f.Rows), 1
	switch r.IntN(20) {
	case 0, 1:
		n = f.Rows
	case 2, 3, 4, 5: // scrolls
		n = 1 + r.IntN(f.Rows)
		f.First += int64(n)
		from = f.Rows - n
	case 6, 10:
		f.Title = pick(r, "", "vim", "a longer title")
	case 7, 11:
		f.Mouse = pick(r, keys.MouseOff, keys.MouseMotion)
	case 8:
		f.Bells++
	case 9:
		f.Alt, f.Full = !f.Alt, true
	}
	if f.Full {
		from, n = 0, f.Rows
	}
	for y := from; y < min(from+n, f.Rows); y++ {
		f.Lines = append(f.Lines, api.NumberedLine{N: f.First + int64(y), Line: makeLine(r, f.Cols)})
	}
	f.Cursor = api.Cursor{
		X: r.IntN(f.Cols), Y: r.IntN(f.Rows), Visible: r.IntN(6) > 0,
		Shape: styled.CursorShape(r.IntN(3)), Color: pick[api.Color](r, 0, 0, 0, styled.ColorRGB|0xff0000),
	}
	return *f
}

// changeModel changes a part of the dashboard that no frame affects.
func (rig *directRig) changeModel(r *rand.Rand) {
	switch r.IntN(8) {
	case 0, 1, 2:
		rig.press(pick(r,
			"a", "k", "q", "ctrl+b", "esc", "esc", "esc", "esc", "esc", "ctrl+b [", "ctrl+b z", "ctrl+b ?", "ctrl+b :", "ctrl+b q", "ctrl+b o",
			"ctrl+b left", "ctrl+b down", "ctrl+b space", "ctrl+b alt+3", "ctrl+b alt+1"))
	case 3:
		rig.m.input.queue.Add(screen.Event{Kind: keys.EventMouse, Mouse: keys.Mouse{
			X: r.IntN(rig.m.areas.w), Y: r.IntN(rig.m.areas.h), Button: keys.ButtonLeft, Kind: pick(r, keys.MouseDown, keys.MouseMove, keys.MouseUp),
		}})
		rig.update(inputMsg{})
	case 4:
		w, h := pick(r, rigWidth, rigWidth, 130, 90, 61, 30, 10), pick(r, rigHeight, rigHeight, 40, 20, 5)
		rig.terminal.vt.Resize(w, h)
		rig.update(tea.WindowSizeMsg{Width: w, Height: h})
	case 5:
		rig.terminal.t.Setenv("LC_ALL", pick(r, "C.UTF-8", "C.UTF-8", "C"))
		s := defaultSettings()
		s.Theme, s.Background, s.Tabs = pick(r, "", "tokyo-night", "light"), pick(r, true, false), pick(r, true, false)
		rig.update(settingsMsg(s))
	case 6:
		rig.m.notices.toast.Say("a message", false)
		rig.update(nil)
	case 7:
		rig.update(uv.KittyGraphicsEvent{Options: kitty.Options{ID: graphics.QueryID}, Payload: []byte("OK")})
		rig.update(uv.CellSizeEvent{Width: 8, Height: 16})
		rig.update(uv.PrimaryDeviceAttributesEvent{62})
	}
}

// press presses keys by name.
func (rig *directRig) press(names string) {
	for name := range strings.FieldsSeq(names) {
		k, err := keys.Parse(name)
		if err != nil {
			panic(err)
		}
		rig.m.input.queue.Add(screen.Event{Kind: keys.EventKey, Key: k})
	}
	rig.update(inputMsg{})
}

// sync handles the notification of frames that were not shown directly.
func (rig *directRig) sync() {
	if rig.notified.Swap(false) {
		rig.update(changedMsg{})
	}
}

// Whatever else the dashboard does between frames, the screen must look as if everything had been
// drawn for each frame.
func TestFramesShownDirectlyLookLikeAFullRepaint(t *testing.T) {
	shown, minimum := int64(0), int64(50)
	if testing.Short() { // rapid makes a fifth of the checks
		minimum = 2
	}
	seed.Check(t, func(r *rapid.T) {
		t.Setenv("LC_ALL", "C.UTF-8")
		rig := newDirectRig(t)
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			step, random := rapid.IntRange(0, 9).Draw(r, "step"), seed.From(rapid.Uint64().Draw(r, "seed"))
			switch step {
			case 0, 1:
				rig.changeModel(random)
			case 2, 3:
				rig.sync()
			case 4:
				rig.terminal.paint()
			case 5:
				rig.check(r, t)
			case 6:
				rig.receiveLater(random)
			default:
				rig.receiveFrame(random)
			}
		}
		rig.check(r, t)
		shown += rig.direct.Load()
	})
	// Otherwise the test would prove nothing.
	if shown < minimum {
		t.Errorf("only %d frames were shown directly", shown)
	}
}

func TestFramesThatArriveDuringViewsAreShown(t *testing.T) {
	shown, random := int64(0), seed.Rand(t)
	for range 20 {
		t.Setenv("LC_ALL", "C.UTF-8")
		rig := newDirectRig(t)
		var receivers sync.WaitGroup
		for _, s := range rig.sessions {
			random := seed.From(random.Uint64())
			receivers.Go(func() {
				for range 60 {
					rig.receive(s, s.nextFrame(random))
					for random.IntN(2) == 0 && rig.notified.Load() {
						runtime.Gosched()
					}
				}
			})
		}
		received := make(chan struct{})
		go func() {
			defer close(received)
			receivers.Wait()
		}()
		random := seed.From(random.Uint64())
		for done := false; !done; {
			select {
			case <-received:
				done = true
			default:
			}
			switch random.IntN(4) {
			case 0:
				rig.changeModel(random)
			case 1:
				rig.terminal.paint()
			default:
				rig.sync()
			}
		}
		rig.check(t, t)
		shown += rig.direct.Load()
	}
	if shown < 50 {
		t.Errorf("only %d frames were shown directly", shown)
	}
}
