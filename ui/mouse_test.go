package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/widget"
)

func (d *driver) button(kind keys.MouseKind, x, y int) {
	d.mouse(keys.Mouse{X: x, Y: y, Button: keys.ButtonLeft, Kind: kind})
}

// openHelp opens an overlay, and waits until it is seen.
func (d *driver) openHelp() {
	d.t.Helper()
	d.press("ctrl+b", "?")
	d.until("an overlay is open", func() bool { d.screen(); return d.m.dialog.open != nil && d.m.dialog.open == d.m.dialog.seen })
}

func TestABorderIsLetGoOverAnOverlay(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 160, 40)
	d.shows("one$ ")
	d.press("ctrl+b", "%")
	d.hasStarted(2)
	right := d.m.sessions.tabs.Current.Focus
	x := d.m.sessions.tabs.Current.Root.Border()
	d.button(keys.MouseDown, x, 9)
	d.button(keys.MouseMove, x-10, 9)
	d.openHelp()
	d.button(keys.MouseUp, x-10, 9)
	if d.m.sessions.mouse.dragged != nil {
		t.Error("the mouse holds the border still")
	}
	d.press("esc")
	tree := d.tree()
	d.click(tree.X+4, tree.Y+5)
	if got := d.m.sessions.tabs.Current.Root.Border(); got != x-10 {
		t.Errorf("a click moved the border from %d to %d", x-10, got)
	}
	if d.m.sessions.tabs.Current.Focus == right {
		t.Error("the click does not give its pane the focus")
	}
}

func TestAPressEndsADragOfWhichTheEndWasNotTold(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 160, 40)
	d.shows("one$ ")
	d.press("ctrl+b", "%")
	d.hasStarted(2)
	x, tree := d.m.sessions.tabs.Current.Root.Border(), d.tree()
	right := d.m.sessions.tabs.Current.Focus
	d.button(keys.MouseDown, x, 9)
	d.click(tree.X+4, tree.Y+5)
	if got := d.m.sessions.tabs.Current.Root.Border(); got != x || d.m.sessions.tabs.Current.Focus == right {
		t.Errorf("the border went from %d to %d", x, got)
	}
}

func TestWhatTheMouseSelectsIsCopiedThoughAnOverlayOrAViewHasComeOverIt(t *testing.T) {
	for _, cover := range []string{"overlay", "view"} {
		t.Run(cover, func(t *testing.T) {
			e := newFakeEngine()
			e.add("bash", "one two three", "four five six", "$ ")
			d := drive(t, e, 80, 24)
			d.shows("four")
			p := d.m.sessions.focused()
			y := d.area(d.m.sessions.tabs.Current.Focus).Y
			d.button(keys.MouseDown, 4, y)
			d.button(keys.MouseMove, 3, y+1)
			if cover == "view" {
				d.press("alt+2")
			} else {
				d.openHelp()
			}
			d.button(keys.MouseUp, 3, y+1)
			d.until("the text is copied", func() bool { return d.m.clip.text == "two three\nfour" })
			if p.Scroll.Active() || d.m.sessions.mouse.pressed != nil || p.Selecting() {
				t.Error("the mouse selects still")
			}
		})
	}
}

func TestAProgramIsToldOfAReleaseOverAnOverlay(t *testing.T) {
	e := newFakeEngine()
	s := e.add("vim", "one two three")
	s.mouse = keys.MouseDrag
	d := drive(t, e, 80, 24)
	d.shows("one")
	y := d.area(d.m.sessions.tabs.Current.Focus).Y
	d.button(keys.MouseDown, 4, y)
	d.openHelp()
	d.button(keys.MouseUp, 4, y)
	d.until("the program gets the release", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.mice) == 2 && s.mice[1].Kind == keys.MouseUp
	})
}

func TestTheWheelWaitsForWhatTheTerminalHasShownAlready(t *testing.T) {
	e := newFakeEngine()
	s := e.add("less", "one two three")
	d := drive(t, e, 80, 24)
	d.shows("one")
	d.press("ctrl+b", "z")
	p := d.m.sessions.focused()
	d.until("the pane shows the session at its new size", func() bool { return p.Outbox.Connected() && !p.Behind() })
	s.mu.Lock()
	s.mute, s.mouse = true, keys.MouseDrag
	s.mu.Unlock()
	p.CatchUp()
	d.mouse(keys.Mouse{Kind: keys.MouseDown, Button: keys.WheelUp, X: 4, Y: 4})
	s.mu.Lock()
	s.mute = false
	s.show()
	for v := range s.viewers {
		v.push(api.Output{Lines: []api.NumberedLine{}})
	}
	s.mu.Unlock()
	d.until("the program gets the wheel", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.mice) > 0
	})
	if p.Scroll.Active() {
		t.Error("the wheel began scroll mode, too")
	}
}

// A hung engine never answers what the wheel waits for.
func TestKeysDoNotWaitBehindTheWheel(t *testing.T) {
	e := newFakeEngine()
	s := e.add("less", "one two three")
	d := drive(t, e, 80, 24)
	d.shows("one")
	d.press("ctrl+b", "z")
	p := d.m.sessions.focused()
	d.until("the pane shows the session at its new size", func() bool { return p.Outbox.Connected() && !p.Behind() })
	s.mu.Lock()
	s.mute = true
	s.mu.Unlock()
	p.CatchUp()
	d.mouse(keys.Mouse{Kind: keys.MouseDown, Button: keys.WheelUp, X: 4, Y: 4})
	d.press("ctrl+b", "d")
	if n := d.m.input.queue.Len(); n > 0 {
		t.Errorf("%d events wait", n)
	}
	d.until("the dashboard is left", func() bool { return d.quit })
}

func TestTheWheelWaitsForANewSize(t *testing.T) {
	e := newFakeEngine()
	s := e.add("log", "line")
	s.old = slices.Repeat(s.lines, 100)
	d := drive(t, e, 80, 24)
	d.shows("line")
	d.press("ctrl+b", "z")
	p := d.m.sessions.focused()
	d.until("the pane is connected and has its size", func() bool { return p.Outbox.Connected() && !p.Behind() })
	s.mu.Lock()
	s.mute = true
	s.mu.Unlock()
	d.update(tea.WindowSizeMsg{Width: 80, Height: 30})
	d.mouse(keys.Mouse{Kind: keys.MouseDown, Button: keys.WheelUp, X: 4, Y: 4})
	if p.Scroll.Active() {
		t.Error("scroll mode began in a screen of the size before")
	}
	s.mu.Lock()
	s.mute = false
	s.show()
	s.mu.Unlock()
	d.until("the wheel looks back", p.Scroll.Active)
}

func TestTheBorderOfTheProcessesIsLetGoOverAnOverlay(t *testing.T) {
	d := onProcesses(t, 120, 30, func(e *fakeEngine) { e.addProcess("web", "line\n") })
	y := d.logHeading()
	d.button(keys.MouseDown, 9, y)
	d.button(keys.MouseMove, 9, y+4)
	d.openHelp()
	d.button(keys.MouseUp, 9, y+4)
	d.press("esc")
	d.button(keys.MouseMove, 9, y+1)
	if got := d.logHeading(); got != y+4 {
		t.Errorf("the border went on from %d to %d", y+4, got)
	}
}

func TestTheClipboardKeepsWhatItHasWhenTheSelectedLinesAreGone(t *testing.T) {
	d, s := reader(t, 80, 24)
	d.press("Y")
	d.until("something is copied", func() bool { return d.m.clip.text != "" })
	before, p := d.m.clip.text, d.m.sessions.focused()
	f := &api.Frame{Cols: 80, Rows: 24, First: 90_000, Oldest: 80_000, Full: true}
	for y := range 24 {
		f.Lines = append(f.Lines, api.NumberedLine{N: f.First + int64(y), Line: plainLine(fmt.Sprint("new ", y))})
	}
	in := api.SessionTextInput{ID: s.process.ID, From: api.Place{Line: 100}, To: api.Place{Line: 110, Cell: 3}}
	s.mu.Lock()
	s.mute = true // a frame of the session would bring the lines back
	s.mu.Unlock()
	for !strings.Contains(d.m.notices.toast.text, "nothing copied") {
		p.Feed.Receive(api.Output{Frame: f})
		p.Sync()
		if p.Feed.Screen.Lost(in) {
			d.run(p.Copy(in))
		}
	}
	d.shows("nothing copied")
	if d.m.clip.text != before {
		t.Errorf("the clipboard has %q", d.m.clip.text)
	}
}

// at is where a text is on the screen.
func (d *driver) at(text string) (x, y int) {
	d.t.Helper()
	d.shows(text)
	for y, row := range strings.Split(d.screen(), "\n") {
		if i := strings.Index(row, text); i >= 0 {
			return widget.Width(row[:i]), y
		}
	}
	return -1, -1
}

func TestAClickOnARowOfTheKeysThatMayFollowDoesWhatItSays(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		e := newFakeEngine()
		e.add("first", "one$ ")
		d := drive(t, e, size[0], size[1])
		d.shows("one$ ")
		d.press("ctrl+b")
		d.update(prefixDue(d.m.input.wait.serial))
		x, y := d.at("new     ")
		d.click(x+1, y)
		d.hasStarted(2)
		if d.m.input.resolver.Pending() {
			t.Error("the prefix waits still")
		}
	}
}

func TestAClickOnARowOfThePaletteChoosesIt(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("ctrl+b", ":", "'split below")
	d.click(d.at("split: open a new session below"))
	d.hasStarted(2)
}
