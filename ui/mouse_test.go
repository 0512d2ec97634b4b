package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/kit/text"
)

func (d *driver) mouseButton(kind keys.MouseKind, x, y int) {
	d.sendMouse(keys.Mouse{X: x, Y: y, Button: keys.ButtonLeft, Kind: kind})
}

// openHelp opens an overlay and draws it.
func (d *driver) openHelp() {
	d.t.Helper()
	d.pressKeys("ctrl+b", "?")
	d.waitUntil("an overlay is open", func() bool { d.screenText(); return d.m.dialog.open != nil && d.m.dialog.open == d.m.dialog.seen })
}

func TestReleaseOverOverlayEndsBorderDrag(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 160, 40)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "%")
	d.waitStarted(2)
	right := d.m.sessions.Tabs.Current.Focus
	x := d.m.sessions.Tabs.Current.Root.BorderCell()
	d.mouseButton(keys.MouseDown, x, 9)
	d.mouseButton(keys.MouseMove, x-10, 9)
	d.openHelp()
	d.mouseButton(keys.MouseUp, x-10, 9)
	d.pressKeys("esc")
	d.mouseButton(keys.MouseMove, x-20, 9)
	tree := d.treeArea()
	d.click(tree.X+4, tree.Y+5)
	if got := d.m.sessions.Tabs.Current.Root.BorderCell(); got != x-10 {
		t.Errorf("a click moved the border from %d to %d", x-10, got)
	}
	if d.m.sessions.Tabs.Current.Focus == right {
		t.Error("the click does not give its pane the focus")
	}
}

func TestPressEndsDragWithLostRelease(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 160, 40)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "%")
	d.waitStarted(2)
	x, tree := d.m.sessions.Tabs.Current.Root.BorderCell(), d.treeArea()
	right := d.m.sessions.Tabs.Current.Focus
	d.mouseButton(keys.MouseDown, x, 9)
	d.click(tree.X+4, tree.Y+5)
	if got := d.m.sessions.Tabs.Current.Root.BorderCell(); got != x || d.m.sessions.Tabs.Current.Focus == right {
		t.Errorf("the border went from %d to %d", x, got)
	}
}

func TestSelectionIsCopiedUnderOverlayOrOtherView(t *testing.T) {
	for _, cover := range []string{"overlay", "view"} {
		t.Run(cover, func(t *testing.T) {
			e := newFakeEngine()
			e.addSession("bash", "one two three", "four five six", "$ ")
			d := drive(t, e, 80, 24)
			d.waitText("four")
			p := d.m.sessions.FocusedPane()
			y := d.paneArea(d.m.sessions.Tabs.Current.Focus).Y
			d.mouseButton(keys.MouseDown, 4, y)
			d.mouseButton(keys.MouseMove, 3, y+1)
			if cover == "view" {
				d.pressKeys("alt+2")
			} else {
				d.openHelp()
			}
			d.mouseButton(keys.MouseUp, 3, y+1)
			d.waitUntil("the text is copied", func() bool { return d.m.clip.text == "two three\nfour" })
			if p.Scroll.Active() || p.Selecting() {
				t.Error("the mouse selects still")
			}
		})
	}
}

func TestProgramReceivesReleaseOverOverlay(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("vim", "one two three")
	s.mouse = keys.MouseDrag
	d := drive(t, e, 80, 24)
	d.waitText("one")
	y := d.paneArea(d.m.sessions.Tabs.Current.Focus).Y
	d.mouseButton(keys.MouseDown, 4, y)
	d.openHelp()
	d.mouseButton(keys.MouseUp, 4, y)
	d.waitUntil("the program gets the release", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.mice) == 2 && s.mice[1].Kind == keys.MouseUp
	})
}

func TestReleaseOverOverlayEndsDragInProcesses(t *testing.T) {
	d := onProcesses(t, 120, 30, func(e *fakeEngine) { e.addProcess("web", "line\n") })
	y := d.logHeading()
	d.mouseButton(keys.MouseDown, 9, y)
	d.mouseButton(keys.MouseMove, 9, y+4)
	d.openHelp()
	d.mouseButton(keys.MouseUp, 9, y+4)
	d.pressKeys("esc")
	d.mouseButton(keys.MouseMove, 9, y+1)
	if got := d.logHeading(); got != y+4 {
		t.Errorf("the border went on from %d to %d", y+4, got)
	}
}

func TestClickOutsideOverlayRemovesItFromTheScreen(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 30)
	d.waitText("one$ ")
	d.openHelp()
	before := d.screenText()
	d.click(0, 29)
	if after := d.screenText(); after == before {
		t.Errorf("the overlay is still there:\n%s", after)
	}
}

func TestClipboardIsKeptIfSelectedLinesAreGone(t *testing.T) {
	d, s := openScrollMode(t, 80, 24)
	d.pressKeys("Y")
	d.waitUntil("something is copied", func() bool { return d.m.clip.text != "" })
	before, p := d.m.clip.text, d.m.sessions.FocusedPane()
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
		if p.Feed.Screen.HasLost(in) {
			d.run(p.Copier.Copy(in))
		}
	}
	d.waitText("nothing copied")
	if d.m.clip.text != before {
		t.Errorf("the clipboard has %q", d.m.clip.text)
	}
}

// findText returns the screen position of a text.
func (d *driver) findText(s string) (x, y int) {
	d.t.Helper()
	d.waitText(s)
	for y, row := range strings.Split(d.screenText(), "\n") {
		if i := strings.Index(row, s); i >= 0 {
			return text.Width(row[:i]), y
		}
	}
	return -1, -1
}

func TestClickOnPrefixKeyRunsIt(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		e := newFakeEngine()
		e.addSession("first", "one$ ")
		d := drive(t, e, size[0], size[1])
		d.waitText("one$ ")
		d.pressKeys("ctrl+b")
		d.endPrefixWait(d.m.keyboard.prefix.serial)
		x, y := d.findText("new     ")
		d.click(x+1, y)
		d.waitStarted(2)
		if d.m.keyboard.resolver.Pending() {
			t.Error("the prefix waits still")
		}
	}
}

func TestClickOnPaletteRowChoosesIt(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", ":", "'split below")
	d.click(d.findText("split: open a new session below"))
	d.waitStarted(2)
}

// logHeading returns the screen row of the log's heading.
func (d *driver) logHeading() int {
	d.t.Helper()
	at := slices.IndexFunc(strings.Split(d.screenText(), "\n"), func(row string) bool { return strings.HasPrefix(row, "─") })
	if at < 0 {
		d.t.Fatalf("there is no log:\n%s", d.screenText())
	}
	return at
}
