package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/ui/screen"
)

// openScrollMode opens a dashboard in scroll mode on a session with a long scrollback.
func openScrollMode(t *testing.T, w, h int) (*driver, *fakeSession) {
	e := newFakeEngine()
	s := e.addSession("bash", "$ ")
	for i := range 500 {
		s.old = append(s.old, plainLine(fmt.Sprintf("row %d of main.go:%d", i, i)))
	}
	d := drive(t, e, w, h)
	d.waitText("$")
	d.pressKeys("ctrl+b", "[")
	d.waitText("line 501/")
	return d, s
}

func screenSizes() [][2]int { return [][2]int{{80, 24}, {120, 36}, {200, 60}} }

func TestScrollModeFindsSelectsCopiesAndPastes(t *testing.T) {
	for _, size := range screenSizes() {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			d, s := openScrollMode(t, size[0], size[1])
			d.pressKeys("?", "'row 12")
			d.waitText("match 11/11")
			d.pressKeys("enter", "n")
			d.waitText("match 10/11 · line 129/")
			d.pressKeys("N", "N")
			d.waitText("match 1/11 · line 13/")
			d.pressKeys("V", "'2j", "y")
			d.waitText("copied 3 lines")
			d.waitNoText("match")
			d.pressKeys("ctrl+b", "]")
			d.waitTyped(s, "row 12 of main.go:12\nrow 13 of main.go:13\nrow 14 of main.go:14\n")
		})
	}
}

func TestCancelledSearchRestoresPosition(t *testing.T) {
	d, _ := openScrollMode(t, 80, 24)
	d.pressKeys("'20k")
	d.waitText("line 481/")
	d.pressKeys("/", "'Row")
	d.waitText("no match")
	d.pressKeys("backspace", "backspace", "backspace", "'row 4.0 of", "alt+r")
	d.waitText("match")
	d.pressKeys("esc")
	d.waitText("line 481/")
	d.waitNoText("match")
	d.pressKeys("/", "alt+r", "'(")
	d.waitText("missing closing")
	d.pressKeys("enter")
	d.waitText("missing closing")
}

func TestCopySelectsCharactersAndBlocks(t *testing.T) {
	d, _ := openScrollMode(t, 80, 24)
	copied := func(want string, press ...string) {
		t.Helper()
		d.pressKeys("ctrl+b", "[", "g", "0")
		d.waitText("row 1 of")
		d.pressKeys(press...)
		d.waitUntil("copied "+want, func() bool { return d.m.clip.text == want })
	}
	copied("row", "v", "e", "y")
	copied("row 0 of main.go:0", "Y")
	copied("0 of\n1 of", "w", "ctrl+v", "j", "e", "enter")
	copied("w 0 ", "l", "l", "v", "o", "o", "'3l", "y")
	d.pressKeys("ctrl+b", "[", "y")
	d.waitText("nothing is selected")
}

func TestEscapeLeavesOneModeAtATime(t *testing.T) {
	d, _ := openScrollMode(t, 80, 24)
	d.pressKeys("g", "v", "'2")
	d.waitText("2 · line 1/")
	d.pressKeys("esc", "esc")
	if !d.m.sessions.FocusedPane().Scroll.Active() || d.m.sessions.FocusedPane().Scroll.HasSelection() {
		t.Fatal("escape left too much or too little")
	}
	d.pressKeys("esc")
	d.waitNoText("line ")
}

func TestPrefixTwiceScrollsPageUp(t *testing.T) {
	d, s := openScrollMode(t, 80, 24)
	d.pressKeys("ctrl+b", "ctrl+b")
	d.waitNoText("line 501/")
	if s.typedText() != "" {
		t.Errorf("the program got %q", s.typedText())
	}
}

func TestScrollModeJumpsBetweenCommandMarks(t *testing.T) {
	d, s := openScrollMode(t, 80, 24)
	s.mu.Lock()
	s.old[100].Prompt, s.old[102].Output = true, true
	s.old[200].Prompt, s.old[201].Output, s.old[201].Prompt = true, true, true
	s.lines[0].Prompt = true
	s.mu.Unlock()
	d.pressKeys("[")
	d.waitText("line 202/")
	d.pressKeys("'2[")
	d.waitText("line 101/")
	d.pressKeys("s")
	d.waitText("line 200/")
	d.pressKeys("y")
	d.waitText("copied 98 lines")
	d.pressKeys("ctrl+b", "[", "s") // commands without output are skipped
	d.waitText("line 200/")
}

func TestScrollbackIsSavedToNewFile(t *testing.T) {
	d, _ := openScrollMode(t, 80, 24)
	path := filepath.Join(t.TempDir(), "out.txt")
	d.pressKeys("S")
	d.waitText("Save the scrollback of bash to")
	d.pressKeys("ctrl+u", "'"+path, "enter")
	d.waitText("saved ")
	text, err := os.ReadFile(path)
	if lines := strings.Count(string(text), "\n"); err != nil || lines != 501 {
		t.Errorf("%d lines, %v", lines, err)
	}
	d.pressKeys("S", "ctrl+u", "'"+path, "enter")
	d.waitText("The file already exists")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	d.pressKeys("y")
	d.waitUntil("another file there", func() bool {
		now, err := os.Stat(path)
		return err == nil && !os.SameFile(before, now)
	})
	d.pressKeys("S", "ctrl+u", "'"+filepath.Dir(path)+"/no/such", "enter")
	d.waitText("save scrollback: ")
}

func TestPathUnderCursorOpensInEditor(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "nano -w")
	d, _ := openScrollMode(t, 80, 24)
	d.pressKeys("g")
	d.waitText("row 1 of")
	d.pressKeys("'6l", "enter")
	d.waitText("no such file")
	d.pressKeys("'11G", "$", "o")
	d.waitUntil("an editor", func() bool {
		d.engine.mu.Lock()
		defer d.engine.mu.Unlock()
		return len(d.engine.started) == 1
	})
	want := "nano -w +10 /home/ann/src/main.go"
	if in := d.engine.started[0]; strings.Join(in.Command, " ") != want || in.Actor != api.Tandem {
		t.Errorf("started %q by %q", in.Command, in.Actor)
	}
	d.waitStarted(2)
}

func TestURLIsCopiedWithoutBrowser(t *testing.T) {
	for _, name := range []string{"BROWSER", "DISPLAY", "WAYLAND_DISPLAY"} {
		t.Setenv(name, "")
	}
	e := newFakeEngine()
	e.addSession("bash", "see https://example.org/x, or not")
	d := drive(t, e, 80, 24)
	d.waitText("see")
	d.pressKeys("ctrl+b", "[", "0", "'9l", "enter")
	d.waitText("no browser here")
	if got := d.m.clip.text; got != "https://example.org/x" {
		t.Errorf("copied %q", got)
	}
}

func (d *driver) dragMouse(fromX, fromY, toX, toY int, mods keys.Mod) {
	d.sendMouse(keys.Mouse{X: fromX, Y: fromY, Button: keys.ButtonLeft, Mods: mods})
	d.sendMouse(keys.Mouse{X: toX, Y: toY, Button: keys.ButtonLeft, Kind: keys.MouseMove, Mods: mods})
	d.sendMouse(keys.Mouse{X: toX, Y: toY, Button: keys.ButtonLeft, Kind: keys.MouseUp, Mods: mods})
}

func TestMouseDragCopiesSelection(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("bash", "one two three", "four five six", "$ ")
	d := drive(t, e, 80, 24)
	d.waitText("four")
	p := d.m.sessions.FocusedPane()
	y := d.paneArea(d.m.sessions.Tabs.Current.Focus).Y
	d.dragMouse(4, y, 3, y+1, 0)
	d.waitUntil("the text is copied", func() bool { return d.m.clip.text == "two three\nfour" })
	if p.Scroll.Active() {
		t.Error("the live screen is not shown")
	}
	d.click(5, y+1)
	d.click(5, y+1)
	d.waitUntil("the word is copied", func() bool { return d.m.clip.text == "five" })
	d.click(5, y+1)
	d.waitUntil("the line is copied", func() bool { return d.m.clip.text == "four five six\n" })
	d.pressKeys("'x")
	d.waitTyped(s, "x")
}

func TestProgramKeepsMouseUnlessShiftIsHeld(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("vim", "one two three", "four five six")
	s.mouse = keys.MouseDrag
	d := drive(t, e, 80, 24)
	d.waitText("four")
	y := d.paneArea(d.m.sessions.Tabs.Current.Focus).Y
	d.dragMouse(4, y, 3, y+1, 0)
	d.waitUntil("the program gets the mouse", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.mice) == 3
	})
	if d.m.clip.text != "" {
		t.Fatalf("copied %q", d.m.clip.text)
	}
	d.dragMouse(4, y, 3, y+1, keys.Shift)
	d.waitUntil("the text is copied", func() bool { return d.m.clip.text == "two three\nfour" })
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mice) != 3 {
		t.Errorf("the program got %d events", len(s.mice))
	}
}

func TestDragBeyondEdgeKeepsScrolling(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		d, _ := openScrollMode(t, 80, 24)
		y := d.paneArea(d.m.sessions.Tabs.Current.Focus).Y
		d.sendMouse(keys.Mouse{X: 3, Y: y + 4, Button: keys.ButtonLeft})
		d.sendMouse(keys.Mouse{X: 3, Y: y - 1, Button: keys.ButtonLeft, Kind: keys.MouseMove})
		d.waitText("line 470/")
		d.sendMouse(keys.Mouse{X: 3, Y: y - 1, Button: keys.ButtonLeft, Kind: keys.MouseUp})
		d.waitUntil("lines are copied", func() bool { return strings.Count(d.m.clip.text, "\n") > 10 })
	})
}

func TestPasteBeforeAnyCopyDoesNothing(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("bash", "$ ")
	d := drive(t, e, 80, 24)
	d.waitText("$")
	d.pressKeys("ctrl+b", "]")
	d.waitText("nothing copied yet")
	if s.typedText() != "" {
		t.Errorf("the program got %q", s.typedText())
	}
}

func TestScrollbackOfExitedSessionCanBeRead(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("make", "failed")
	for i := range 500 {
		s.old = append(s.old, plainLine(fmt.Sprintf("row %d", i)))
	}
	d := drive(t, e, 80, 24)
	d.waitText("failed")
	code := 2
	s.exitWith(api.StateFailed, &code)
	d.waitText("exited with status 2")
	d.pressKeys("ctrl+b", "[", "?", "'row 12", "enter")
	d.waitText("row 129")
	d.waitText("row 121")
}

func TestScrollModeOfExitedSessionHasOwnKeysAndLeavingTwiceClosesNothing(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("make", "failed")
	d := drive(t, e, 100, 24)
	d.waitText("failed")
	code := 2
	s.exitWith(api.StateExited, &code)
	d.waitText("x close")
	d.pressKeys("ctrl+b", "[")
	d.waitText("y copy")
	d.waitNoText("x close")
	d.pressKeys("Y", "q")
	d.waitText("enter restore   x close")
	d.waitText("exited with status 2")
	d.pressKeys("x")
	d.waitText("No session is running")
}

func TestScrollbackOfExitedSessionKeepsColours(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("make", "failed")
	for i := range 500 {
		text := fmt.Sprintf("row %d", i)
		s.old = append(s.old, api.Line{Runs: []api.Run{{Text: text, Cells: len(text), Style: api.Style{Rendition: api.Rendition{FG: styled.ColorRGB | 0xff8001}}}}})
	}
	d := drive(t, e, 80, 24)
	d.waitText("failed")
	code := 2
	s.exitWith(api.StateFailed, &code)
	d.waitText("exited with status 2")
	d.pressKeys("ctrl+b", "[", "g")
	d.waitText("row 3")
	if !strings.Contains(d.m.View().Content, "38;2;255;128;1") {
		t.Error("the rows have lost their colour")
	}
}

func TestMatchIsShownAboveSearchLine(t *testing.T) {
	d, _ := openScrollMode(t, 80, 24)
	d.pressKeys("g")
	d.waitText("row 1 of")
	d.pressKeys("/", "'row 19 of")
	d.waitText("match 1/1")
	d.waitText("row 19 of")
}

func TestEmacsKeysMoveSelectAndSearchInScrollMode(t *testing.T) {
	e := newFakeEngine()
	e.addSession("bash", "one two three", "four five six", "$ ")
	d := drive(t, e, 80, 24)
	d.m.o.Bindings = keymap.DefaultBindings().EmacsCopy()
	d.m.keyboard.resolver = keymap.NewResolver(d.m.o.Bindings)
	d.waitText("four")
	d.pressKeys("ctrl+b", "[", "alt+<", "alt+f", "ctrl+f", "ctrl+space", "ctrl+n", "ctrl+e", "ctrl+w")
	d.waitUntil("the text is copied", func() bool { return d.m.clip.text == " two three\nfour five six" })
	d.pressKeys("ctrl+b", "[", "ctrl+r", "'TWO", "backspace", "backspace", "backspace", "'two", "enter", "ctrl+g", "ctrl+g")
	d.waitNoText("line 1/")
}

func TestSearchReportsWrapAround(t *testing.T) {
	d, _ := openScrollMode(t, 120, 36)
	d.pressKeys("?", "'row 49", "enter", "n", "n")
	d.waitText("match 9/11")
	d.pressKeys("N", "N")
	d.waitText("match 11/11")
	d.waitNoText("other end")
	d.pressKeys("N")
	d.waitText("match 1/11")
	d.waitText("search wrapped")
}

// setClipboard makes the session's program put text on the clipboard.
func (s *fakeSession) setClipboard(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.viewers {
		v.pushOutput(api.Output{Clip: []byte(text)})
	}
}

func TestOnlyFocusedProgramSetsClipboard(t *testing.T) {
	e := newFakeEngine()
	here := e.addSession("here", "here-screen")
	d := drive(t, e, 120, 36)
	d.waitText("here-screen")
	d.pressKeys("ctrl+b", "%")
	d.waitStarted(2)
	away := d.nthSession(1)
	d.pressKeys("alt+left", "'x")
	d.waitTyped(here, "x")
	copied := func(text string) func() bool { return func() bool { return d.m.clip.text == text } }
	away.setClipboard("secret")
	here.setClipboard("one")
	d.waitUntil("copied by the program", copied("one"))
	d.waitText("the program copied 3 characters")
	d.run(d.m.input.handleEvents([]screen.Event{{Kind: keys.EventFocusOut}}))
	here.setClipboard("behind")
	here.printLines(plainLine("later"))
	d.waitText("later")
	if d.m.clip.text != "one" {
		t.Errorf("copied %q while another window has the keyboard", d.m.clip.text)
	}
	d.run(d.m.input.handleEvents([]screen.Event{{Kind: keys.EventFocusIn}}))
	d.m.o.Clipboard = false
	here.setClipboard("two")
	here.printLines(plainLine("much later"))
	d.waitText("much later")
	d.m.o.Clipboard = true
	here.setClipboard(strings.Repeat("x", maxClipboard+1))
	here.setClipboard("three")
	d.waitUntil("copied again", copied("three"))
}

func TestLatestCopyWinsOverSlowerOne(t *testing.T) {
	d, _ := openScrollMode(t, 80, 24)
	p := d.m.sessions.FocusedPane()
	slow := p.Copier.Copy(api.SessionTextInput{ID: p.ID, To: api.Place{Line: 0, Cell: 3}})
	d.pressKeys("Y")
	late := slow()
	d.update(late)
	if d.m.clip.text != "$" || d.m.clip.reading {
		t.Errorf("%q is kept", d.m.clip.text)
	}
}
