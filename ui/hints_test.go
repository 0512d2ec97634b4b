package ui

import (
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// rebinds gives actions other keys.
func (d *driver) rebinds(changes map[keymap.Action][]string) {
	d.t.Helper()
	b, err := keymap.DefaultBindings().Rebind(changes)
	if err != nil {
		d.t.Fatal(err)
	}
	d.m.input.rebind(b)
	d.m.o.Bindings = b
	d.m.dirty = true
}

func TestMessagesNameTheKeysThatAreBound(t *testing.T) {
	d, _ := onFolder(t, 120, 36, map[string]string{"a.txt": "a", "b.txt": "b"})
	d.rebinds(map[keymap.Action][]string{
		keymap.FilesMarks: {"ctrl+g"}, keymap.FilesKeep: {"ctrl+y"}, keymap.FilesUndo: {"ctrl+u"}, keymap.Clear: {"ctrl+x"},
		keymap.Accept: {"f2", "dialog f3", "form f4", "picker f5"}, keymap.Cancel: {"f6", "dialog f7", "form f8", "picker f9"},
	})
	d.press("ctrl+g")
	d.shows("no bookmarks yet; press ctrl+y to bookmark this folder")
	d.press("ctrl+y")
	d.shows("bookmarked; press ctrl+g to open it")
	d.onFile("a.txt")
	d.press("R")
	d.shows("f2 accept")
	d.shows("f6 cancel")
	d.press("f6")
	d.engine.holdTransfers(1)
	d.press("v", "D")
	d.shows("2 of 2")
	d.shows("ctrl+x cancels it")
	d.press("ctrl+u")
	d.shows("another transfer is under way; ctrl+x cancels it")
	d.press("ctrl+x")
	d.shows("f3 cancel it")
	d.shows("f7 go on")
	d.press("f3")
	d.shows("ctrl+u undoes it")
	d.press("alt+2")
	d.shows("cpu%")
	d.press("n")
	d.shows("f4 start")
	d.shows("f8 cancel")
	d.press("f8", ":")
	d.shows("f9 close")
}

func TestKeysInTextAreTheOnesThatAreBound(t *testing.T) {
	d := threePanes(t)
	d.rebinds(map[keymap.Action][]string{
		keymap.Clear: {"ctrl+x"}, keymap.Open: {"f2"}, keymap.SessionEnd: {"prefix x", "sessions f3"}, keymap.Cancel: {"f4", "picker f5"},
	})
	d.press("ctrl+b", "s", "/", "'zzz", "enter")
	d.shows("nothing matches")
	d.lacks("esc shows all")
	d.press("ctrl+x")
	d.lacks("nothing matches")
	d.press("ctrl+b", "q")
	d.shows("f5 stay")
	d.press("f5")

	failed := 3
	d.m.sessions.focusLeaf(d.m.sessions.tabs.Current.Focus)
	id := d.m.sessions.focused().ID
	for _, s := range d.engine.sessions {
		if s.process.ID == id {
			s.end(api.StateExited, &failed)
		}
	}
	d.shows("f2 new shell")
	d.shows("f3 close")
	d.lacks("enter new shell")
	d.press("'x", "enter")
	if p := d.m.sessions.focused(); p == nil || p.ID != id {
		t.Error("a key that is no longer bound closes the pane")
	}
	d.press("f3")
	d.until("the pane is closed", func() bool { p := d.m.sessions.focused(); return p == nil || p.ID != id })
}

func TestWayBackFromASmallScreenNamesTheBoundKey(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 20, 6)
	d.shows("one$ ")
	d.rebinds(map[keymap.Action][]string{keymap.Cancel: {"picker f5"}})
	d.press("ctrl+b", "2")
	d.shows("f5 or alt+1: back")
	d.press("esc")
	d.shows("f5 or alt+1: back")
	d.press("f5")
	d.shows("one$ ")
}

func TestKeyOfAnOverlayIsNotToldWhenItIsBoundToSomethingElse(t *testing.T) {
	d := threePanes(t)
	p := overlay.NewPrompt("x", "a", nil)
	p.Offer("ab", []string{"abc", "abd"})
	keysOf := func() (told string) {
		for _, h := range p.Hints(env{d.m}) {
			told += h.Key + " " + h.Does + "; "
		}
		return told
	}
	if told := keysOf(); !strings.Contains(told, "tab complete; ↑ ↓ choose; ") {
		t.Errorf("it tells %q", told)
	}
	d.rebinds(map[keymap.Action][]string{keymap.Accept: {"tab", "up"}})
	if told := keysOf(); strings.Contains(told, "tab complete") || !strings.Contains(told, "↓ choose") || strings.Contains(told, "↑") {
		t.Errorf("with tab and up bound to accept it tells %q", told)
	}
}

// Labels are words for people, and several actions share one.
func TestHintsAreChosenByActionNotByLabel(t *testing.T) {
	d := threePanes(t)
	d.rebinds(map[keymap.Action][]string{keymap.SessionNext: {"prefix n", "request f9"}})
	one := []api.Request{{ID: "r1", Tool: "exec", Command: "make"}}
	a := &overlay.Approval{Requests: func() []api.Request { return one }}
	told := ""
	for _, h := range a.Hints(env{d.m}) {
		told += h.Key + " " + h.Does + "; "
	}
	if !strings.Contains(told, "f9 next; ") || strings.Contains(told, "tab next") || strings.Contains(told, " close") {
		t.Errorf("a request tells %q", told)
	}
	inBar := []widget.Hint{{Key: "n", Does: "new", Action: string(keymap.ProcessNew)}}
	if tips := overlay.DrawTips(d.m.o.Bindings, inBar, 200, &d.m.theme.look); !strings.Contains(tips, "another session") {
		t.Errorf("the tip about sessions is dropped for a key about processes: %q", tips)
	}
}

func TestStatusBarNamesAnUnknownKeyAfterThePrefix(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("ctrl+b", "esc")
	d.lacks("does nothing")
	d.press("ctrl+b", "(")
	d.shows("ctrl+b ( does nothing")
	d.press("ctrl+b", "ctrl+t")
	d.shows("ctrl+b ctrl+t does nothing")
}

func TestTextOfOneReadReachesTheProgramInOneCall(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	text := strings.Repeat("echo ä\t1\r", 100)
	d.m.input.queue.Feed([]byte(text))
	d.update(inputMsg{})
	d.until("it has arrived", func() bool { return s.input() == text })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts != 1 {
		t.Errorf("it took %d calls", s.texts)
	}
}

func TestTextThatAnEngineMayHaveLostIsReported(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	s.mu.Lock()
	s.unsure = 5000
	s.mu.Unlock()
	next := d.loseEngine()
	d.mu.Lock()
	d.next = next
	d.mu.Unlock()
	d.engine = next
	d.shows("up to 5000 bytes typed into first may be lost")
}

func TestTextOfOneReadIsTakenKeyByKeyInADialog(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	text := strings.Repeat("zx", 40)
	d.m.input.queue.Feed([]byte("\x02:" + text))
	d.update(inputMsg{})
	d.shows("zxzxzx")
	if got := s.input(); got != "" {
		t.Errorf("the program got %q", got)
	}
}

// Every overlay's hints name keys that do what they say, or keys of its own.
func TestNoHintNamesAKeyThatIsNotBound(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "[", "/")
	find := d.m.dialog.open
	d.rebinds(map[keymap.Action][]string{keymap.Accept: {}, keymap.Cancel: {"f6", "dialog f6", "form f6", "picker f6"}, keymap.Close: {"f6", "request f6"}})
	d.m.dialog.open = overlay.NewPrompt("x", "", nil)
	searching := &overlay.Help{}
	searching.Do(env{d.m}, keymap.HelpSearch)
	overlays := []overlay.Overlay{
		&overlay.Question{Title: "x", Yes: "yes"}, overlay.NewPrompt("x", "", nil), overlay.NewStartForm(""),
		&overlay.Picker{Verb: func(widget.Choice) string { return "take" }}, find, &overlay.Help{}, searching,
	}
	for _, o := range overlays {
		for _, h := range o.(interface {
			Hints(overlay.Host) []widget.Hint
		}).Hints(env{d.m}) {
			if strings.Contains(h.Key, "enter") || strings.Contains(h.Key, "esc") || h.Key == "y" || h.Key == "n" {
				t.Errorf("%T offers %q for %q", o, h.Key, h.Does)
			}
		}
	}
}

func TestADialogTellsItsKeysOnce(t *testing.T) {
	d := threePanes(t)
	d.press("ctrl+b", "x")
	d.shows("End session")
	rows := strings.Split(d.screen(), "\n")
	if n := strings.Count(d.screen(), "end it"); n != 1 || !strings.HasPrefix(rows[len(rows)-1], " y end it   n cancel ") {
		t.Errorf("the key is told %d times:\n%s", n, d.screen())
	}
	d.press("n", "ctrl+b", "z")
	d.until("it is zoomed", func() bool { return d.m.areas.zoomed })
	d.press("ctrl+b", "x")
	d.shows("y end it   n cancel")
}

func TestWhatADialogLiesOverIsDimmedUnlessItShowsItsEffect(t *testing.T) {
	d := threePanes(t)
	tab := string(d.m.theme.look.Tab)
	d.press("ctrl+b", "x")
	d.shows("End session")
	rows := strings.Split(d.m.drawn.Content, "\n")
	if strings.Contains(rows[0], tab) || !strings.Contains(rows[0], string(d.m.theme.look.Dimmed)) {
		t.Errorf("the top bar is %q", rows[0])
	}
	if last := rows[len(rows)-1]; !strings.Contains(last, string(d.m.theme.look.BarKey)) {
		t.Errorf("the status bar is %q", last)
	}
	d.press("n", "ctrl+b", "T")
	d.shows("keep it")
	if !strings.Contains(d.m.drawn.Content, tab) {
		t.Error("a theme that is tried cannot be seen")
	}
}
