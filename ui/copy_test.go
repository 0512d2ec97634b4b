package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/styled"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/ui/screen"
)

// reader is a dashboard on a session with a long scrollback, in scroll mode.
func reader(t *testing.T, w, h int) (*driver, *fakeSession) {
	e := newFakeEngine()
	s := e.add("bash", "$ ")
	for i := range 500 {
		s.old = append(s.old, plainLine(fmt.Sprintf("row %d of main.go:%d", i, i)))
	}
	d := drive(t, e, w, h)
	d.shows("$")
	d.press("ctrl+b", "[")
	d.shows("line 501/")
	return d, s
}

func sizes() [][2]int { return [][2]int{{80, 24}, {120, 36}, {200, 60}} }

func TestScrollModeFindsSelectsCopiesAndPastes(t *testing.T) {
	for _, size := range sizes() {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			d, s := reader(t, size[0], size[1])
			d.press("?", "'row 12")
			d.shows("match 11/11")
			d.press("enter", "n")
			d.shows("match 10/11 · line 129/")
			d.press("N", "N")
			d.shows("match 1/11 · line 13/")
			d.press("V", "'2j", "y")
			d.shows("copied 3 lines")
			d.lacks("match")
			d.press("ctrl+b", "]")
			d.typedInto(s, "row 12 of main.go:12\nrow 13 of main.go:13\nrow 14 of main.go:14\n")
		})
	}
}

func TestSearchThatIsGivenUpGoesBack(t *testing.T) {
	d, _ := reader(t, 80, 24)
	d.press("'20k")
	d.shows("line 481/")
	d.press("/", "'Row")
	d.shows("no match")
	d.press("backspace", "backspace", "backspace", "'row 4.0 of", "alt+r")
	d.shows("match")
	d.press("esc")
	d.shows("line 481/")
	d.lacks("match")
	d.press("/", "alt+r", "'(")
	d.shows("missing closing")
	d.press("enter")
	d.shows("missing closing")
}

func TestCharactersAndBlocksAreCopied(t *testing.T) {
	d, _ := reader(t, 80, 24)
	copied := func(want string, press ...string) {
		t.Helper()
		d.press("ctrl+b", "[", "g", "0")
		d.shows("row 1 of")
		d.press(press...)
		d.until("copied "+want, func() bool { return d.m.clip.text == want })
	}
	copied("row", "v", "e", "y")
	copied("row 0 of main.go:0", "Y")
	copied("0 of\n1 of", "w", "ctrl+v", "j", "e", "enter")
	copied("w 0 ", "l", "l", "v", "o", "o", "'3l", "y")
	d.press("ctrl+b", "[", "y")
	d.shows("nothing is selected")
}

func TestEscapeLeavesOneThingAfterTheOther(t *testing.T) {
	d, _ := reader(t, 80, 24)
	d.press("g", "v", "'2")
	d.shows("2 · line 1/")
	d.press("esc", "esc")
	if !d.m.sessions.focused().Scroll.Active() || d.m.sessions.focused().Scroll.Selected() {
		t.Fatal("escape left too much or too little")
	}
	d.press("esc")
	d.lacks("line ")
}

func TestPrefixTwiceIsAPageUp(t *testing.T) {
	d, s := reader(t, 80, 24)
	d.press("ctrl+b", "ctrl+b")
	d.lacks("line 501/")
	if s.input() != "" {
		t.Errorf("the program got %q", s.input())
	}
}

func TestCommandsAreFoundByTheirMarks(t *testing.T) {
	d, s := reader(t, 80, 24)
	s.mu.Lock()
	s.old[100].Prompt, s.old[102].Output = true, true
	s.old[200].Prompt, s.old[201].Output, s.old[201].Prompt = true, true, true
	s.lines[0].Prompt = true
	s.mu.Unlock()
	d.press("[")
	d.shows("line 202/")
	d.press("'2[")
	d.shows("line 101/")
	d.press("s")
	d.shows("line 200/")
	d.press("y")
	d.shows("copied 98 lines")
	d.press("ctrl+b", "[", "s") // commands without output are passed over
	d.shows("line 200/")
}

func TestScrollbackIsSavedToANewFile(t *testing.T) {
	d, _ := reader(t, 80, 24)
	path := filepath.Join(t.TempDir(), "out.txt")
	d.press("S")
	d.shows("Save the scrollback of bash to")
	d.press("ctrl+u", "'"+path, "enter")
	d.shows("saved ")
	text, err := os.ReadFile(path)
	if lines := strings.Count(string(text), "\n"); err != nil || lines != 501 {
		t.Errorf("%d lines, %v", lines, err)
	}
	d.press("S", "ctrl+u", "'"+path, "enter")
	d.shows("The file already exists")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	d.press("y")
	d.until("another file there", func() bool {
		now, err := os.Stat(path)
		return err == nil && !os.SameFile(before, now)
	})
	d.press("S", "ctrl+u", "'"+filepath.Dir(path)+"/no/such", "enter")
	d.shows("save scrollback: ")
}

func TestPathUnderTheCursorOpensInTheEditor(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "nano -w")
	d, _ := reader(t, 80, 24)
	d.press("g")
	d.shows("row 1 of")
	d.press("'6l", "enter")
	d.shows("no such file")
	d.press("'11G", "$", "o")
	d.until("an editor", func() bool {
		d.engine.mu.Lock()
		defer d.engine.mu.Unlock()
		return len(d.engine.started) == 1
	})
	want := "nano -w +10 /home/ann/src/main.go"
	if got := strings.Join(d.engine.started[0].Command, " "); got != want {
		t.Errorf("started %q", got)
	}
	d.hasStarted(2)
}

func TestAddressIsCopiedWhereThereIsNoBrowser(t *testing.T) {
	for _, name := range []string{"BROWSER", "DISPLAY", "WAYLAND_DISPLAY"} {
		t.Setenv(name, "")
	}
	e := newFakeEngine()
	e.add("bash", "see https://example.org/x, or not")
	d := drive(t, e, 80, 24)
	d.shows("see")
	d.press("ctrl+b", "[", "0", "'9l", "enter")
	d.shows("no browser here")
	if got := d.m.clip.text; got != "https://example.org/x" {
		t.Errorf("copied %q", got)
	}
}

func (d *driver) drag(fromX, fromY, toX, toY int, mods keys.Mod) {
	d.mouse(keys.Mouse{X: fromX, Y: fromY, Button: keys.ButtonLeft, Mods: mods})
	d.mouse(keys.Mouse{X: toX, Y: toY, Button: keys.ButtonLeft, Kind: keys.MouseMove, Mods: mods})
	d.mouse(keys.Mouse{X: toX, Y: toY, Button: keys.ButtonLeft, Kind: keys.MouseUp, Mods: mods})
}

func TestMouseCopiesWhatItDragsOver(t *testing.T) {
	e := newFakeEngine()
	s := e.add("bash", "one two three", "four five six", "$ ")
	d := drive(t, e, 80, 24)
	d.shows("four")
	p := d.m.sessions.focused()
	y := d.area(d.m.sessions.tabs.Current.Focus).Y
	d.drag(4, y, 3, y+1, 0)
	d.until("the text is copied", func() bool { return d.m.clip.text == "two three\nfour" })
	if p.Scroll.Active() {
		t.Error("the live screen is not shown")
	}
	d.click(5, y+1)
	d.click(5, y+1)
	d.until("the word is copied", func() bool { return d.m.clip.text == "five" })
	d.click(5, y+1)
	d.until("the line is copied", func() bool { return d.m.clip.text == "four five six\n" })
	d.press("'x")
	d.typedInto(s, "x")
}

func TestProgramKeepsTheMouseUnlessShiftIsHeld(t *testing.T) {
	e := newFakeEngine()
	s := e.add("vim", "one two three", "four five six")
	s.mouse = keys.MouseDrag
	d := drive(t, e, 80, 24)
	d.shows("four")
	y := d.area(d.m.sessions.tabs.Current.Focus).Y
	d.drag(4, y, 3, y+1, 0)
	d.until("the program gets the mouse", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.mice) == 3
	})
	if d.m.clip.text != "" {
		t.Fatalf("copied %q", d.m.clip.text)
	}
	d.drag(4, y, 3, y+1, keys.Shift)
	d.until("the text is copied", func() bool { return d.m.clip.text == "two three\nfour" })
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mice) != 3 {
		t.Errorf("the program got %d events", len(s.mice))
	}
}

func TestDragBeyondTheEdgeScrollsOnByItself(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		d, _ := reader(t, 80, 24)
		y := d.area(d.m.sessions.tabs.Current.Focus).Y
		d.mouse(keys.Mouse{X: 3, Y: y + 4, Button: keys.ButtonLeft})
		d.mouse(keys.Mouse{X: 3, Y: y - 1, Button: keys.ButtonLeft, Kind: keys.MouseMove})
		d.shows("line 470/")
		d.mouse(keys.Mouse{X: 3, Y: y - 1, Button: keys.ButtonLeft, Kind: keys.MouseUp})
		d.until("lines are copied", func() bool { return strings.Count(d.m.clip.text, "\n") > 10 })
	})
}

func TestNothingIsPastedBeforeACopy(t *testing.T) {
	e := newFakeEngine()
	s := e.add("bash", "$ ")
	d := drive(t, e, 80, 24)
	d.shows("$")
	d.press("ctrl+b", "]")
	d.shows("nothing was copied yet")
	if s.input() != "" {
		t.Errorf("the program got %q", s.input())
	}
}

func TestScrollbackOfAnEndedSessionCanBeRead(t *testing.T) {
	e := newFakeEngine()
	s := e.add("make", "failed")
	for i := range 500 {
		s.old = append(s.old, plainLine(fmt.Sprintf("row %d", i)))
	}
	d := drive(t, e, 80, 24)
	d.shows("failed")
	code := 2
	s.end(api.StateFailed, &code)
	d.shows("exited with status 2")
	d.press("ctrl+b", "[", "?", "'row 12", "enter")
	d.shows("row 129")
	d.shows("row 121")
}

func TestScrollModeOfAnEndedSessionHasItsOwnKeysAndLeavingItTwiceClosesNothing(t *testing.T) {
	e := newFakeEngine()
	s := e.add("make", "failed")
	d := drive(t, e, 100, 24)
	d.shows("failed")
	code := 2
	s.end(api.StateExited, &code)
	d.shows("x close")
	d.press("ctrl+b", "[")
	d.shows("y copy")
	d.lacks("x close")
	d.press("Y", "q")
	d.shows("enter new shell   x close")
	d.shows("exited with status 2")
	d.press("x")
	d.shows("No session is running")
}

func TestScrollbackOfAnEndedSessionKeepsItsColours(t *testing.T) {
	e := newFakeEngine()
	s := e.add("make", "failed")
	for i := range 500 {
		text := fmt.Sprintf("row %d", i)
		s.old = append(s.old, api.Line{Runs: []api.Run{{Text: text, Cells: len(text), Style: api.Style{FG: styled.ColorRGB | 0xff8001}}}})
	}
	d := drive(t, e, 80, 24)
	d.shows("failed")
	code := 2
	s.end(api.StateFailed, &code)
	d.shows("exited with status 2")
	d.press("ctrl+b", "[", "g")
	d.shows("row 3")
	if !strings.Contains(d.m.View().Content, "38;2;255;128;1") {
		t.Error("the rows have lost their colour")
	}
}

func TestMatchIsShownAboveTheLineThatIsTyped(t *testing.T) {
	d, _ := reader(t, 80, 24)
	d.press("g")
	d.shows("row 1 of")
	d.press("/", "'row 19 of")
	d.shows("match 1/1")
	d.shows("row 19 of")
}

func TestEmacsKeysWorkInScrollMode(t *testing.T) {
	e := newFakeEngine()
	e.add("bash", "one two three", "four five six", "$ ")
	d := drive(t, e, 80, 24)
	d.m.o.Bindings = keymap.DefaultBindings().EmacsCopy()
	d.m.input.resolver = keymap.NewResolver(d.m.o.Bindings)
	d.shows("four")
	d.press("ctrl+b", "[", "alt+<", "alt+f", "ctrl+f", "ctrl+space", "ctrl+n", "ctrl+e", "ctrl+w")
	d.until("the text is copied", func() bool { return d.m.clip.text == " two three\nfour five six" })
	d.press("ctrl+b", "[", "ctrl+r", "'TWO", "backspace", "backspace", "backspace", "'two", "enter", "ctrl+g", "ctrl+g")
	d.lacks("line 1/")
}

func TestSearchSaysWhenItWentOnFromTheOtherEnd(t *testing.T) {
	d, _ := reader(t, 120, 36)
	d.press("?", "'row 49", "enter", "n", "n")
	d.shows("match 9/11")
	d.press("N", "N")
	d.shows("match 11/11")
	d.lacks("other end")
	d.press("N")
	d.shows("match 1/11")
	d.shows("search wrapped")
}

// copies has the session's program put text on the clipboard.
func (s *fakeSession) copies(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.viewers {
		v.push(api.Output{Clip: []byte(text)})
	}
}

func TestOnlyTheProgramInFocusCopies(t *testing.T) {
	e := newFakeEngine()
	here := e.add("here", "here-screen")
	d := drive(t, e, 120, 36)
	d.shows("here-screen")
	d.press("ctrl+b", "%")
	d.hasStarted(2)
	away := d.nth(1)
	d.press("alt+left", "'x")
	d.typedInto(here, "x")
	copied := func(text string) func() bool { return func() bool { return d.m.clip.text == text } }
	away.copies("secret")
	here.copies("one")
	d.until("copied by the program", copied("one"))
	d.shows("the program copied 3 characters")
	d.run(d.m.input.take([]screen.Event{{Kind: keys.EventFocusOut}}))
	here.copies("behind")
	here.print(plainLine("later"))
	d.shows("later")
	if d.m.clip.text != "one" {
		t.Errorf("copied %q while another window has the keyboard", d.m.clip.text)
	}
	d.run(d.m.input.take([]screen.Event{{Kind: keys.EventFocusIn}}))
	d.m.o.NoClipboard = true
	here.copies("two")
	here.print(plainLine("much later"))
	d.shows("much later")
	d.m.o.NoClipboard = false
	here.copies(strings.Repeat("x", maxClipboard+1))
	here.copies("three")
	d.until("copied again", copied("three"))
}

func TestWhatIsCopiedLastCountsWhateverComesLast(t *testing.T) {
	d, _ := reader(t, 80, 24)
	p := d.m.sessions.focused()
	slow := p.Copy(api.SessionTextInput{ID: p.ID, To: api.Place{Line: 0, Cell: 3}})
	d.press("Y")
	late := slow()
	d.update(late)
	if d.m.clip.text != "$" || d.m.clip.reading {
		t.Errorf("%q is kept", d.m.clip.text)
	}
}
