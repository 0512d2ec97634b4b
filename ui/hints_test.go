package ui

import (
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/field"
	"tandem/panes/kit/form"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// rebind changes the keys of actions.
func (d *driver) rebind(changes map[keymap.Action][]string) {
	d.t.Helper()
	b, err := keymap.DefaultBindings().Rebind(changes)
	if err != nil {
		d.t.Fatal(err)
	}
	d.m.keyboard.rebind(b)
	d.m.o.Bindings = b
	d.m.frame.redraw()
}

func TestMessagesNameBoundKeys(t *testing.T) {
	d, _ := onFolder(t, 120, 36, map[string]string{"a.txt": "a", "b.txt": "b"})
	d.rebind(map[keymap.Action][]string{
		keymap.FilesMarks: {"ctrl+g"}, keymap.FilesKeep: {"ctrl+y"}, keymap.FilesUndo: {"ctrl+u"}, keymap.Clear: {"ctrl+x"},
		keymap.Accept: {"f2", "dialog f3", "form f4", "picker f5"}, keymap.Cancel: {"f6", "dialog f7", "form f8", "picker f9"},
	})
	d.pressKeys("ctrl+g")
	d.waitText("no bookmarks yet; press ctrl+y to bookmark this folder")
	d.pressKeys("ctrl+y")
	d.waitText("bookmarked; press ctrl+g to open it")
	d.onFile("a.txt")
	d.pressKeys("R")
	d.waitText("f2 accept")
	d.waitText("f6 cancel")
	d.pressKeys("f6")
	d.engine.HoldTransfers(1)
	d.pressKeys("v", "D")
	d.waitText("2 of 2")
	d.waitText("ctrl+x cancels it")
	d.pressKeys("ctrl+u")
	d.waitText("another transfer is in progress; ctrl+x cancels it")
	d.pressKeys("ctrl+x")
	d.waitText("f3 cancel it")
	d.waitText("f7 go on")
	d.pressKeys("f3")
	d.waitText("ctrl+u undoes it")
	d.pressKeys("alt+2")
	d.waitText("cpu%")
	d.pressKeys("n")
	d.waitText("f4 start")
	d.waitText("f8 cancel")
	d.pressKeys("f8", ":")
	d.waitText("f9 close")
}

func TestNotesAndDialogsNameBoundKeys(t *testing.T) {
	d := threePanes(t)
	d.rebind(map[keymap.Action][]string{
		keymap.Clear: {"ctrl+x"}, keymap.Open: {"f2"}, keymap.SessionKill: {"prefix x", "sessions f3"}, keymap.Cancel: {"f4", "picker f5"},
	})
	d.pressKeys("ctrl+b", "s", "/", "'zzz", "enter")
	d.waitText("nothing matches")
	d.waitNoText("esc shows all")
	d.pressKeys("ctrl+x")
	d.waitNoText("nothing matches")
	d.pressKeys("ctrl+b", "q")
	d.waitText("f5 stay")
	d.pressKeys("f5")

	failed := 3
	d.focusLeaf(d.m.sessions.Tabs.Current.Focus)
	id := d.m.sessions.FocusedPane().ID
	for _, s := range d.engine.sessions {
		if s.process.ID == id {
			s.exitWith(api.StateExited, &failed)
		}
	}
	d.waitText("f2 restore")
	d.waitText("f3 close")
	d.waitNoText("enter restore")
	d.pressKeys("'x", "enter")
	if p := d.m.sessions.FocusedPane(); p == nil || p.ID != id {
		t.Error("a key that is no longer bound closes the pane")
	}
	d.pressKeys("f3")
	d.waitUntil("the pane is closed", func() bool { p := d.m.sessions.FocusedPane(); return p == nil || p.ID != id })
}

func TestWayBackFromSmallScreenNamesBoundKey(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 20, 6)
	d.waitText("one$ ")
	d.rebind(map[keymap.Action][]string{keymap.Cancel: {"picker f5"}})
	d.pressKeys("ctrl+b", "alt+2")
	d.waitText("f5 or alt+1: back")
	d.pressKeys("esc")
	d.waitText("f5 or alt+1: back")
	d.pressKeys("f5")
	d.waitText("one$ ")
}

func TestOverlayHintOmitsKeyBoundToSomethingElse(t *testing.T) {
	d := threePanes(t)
	p := dialog.NewPrompt("x", "a", nil)
	p.Offer("ab", []string{"abc", "abd"})
	keysOf := func() (told string) {
		for _, h := range p.Hints(d.m.env) {
			told += h.Key + " " + h.Does + "; "
		}
		return told
	}
	if told := keysOf(); !strings.Contains(told, "tab complete; ↑ ↓ choose; ") {
		t.Errorf("it tells %q", told)
	}
	d.rebind(map[keymap.Action][]string{keymap.Accept: {"tab", "up"}})
	if told := keysOf(); strings.Contains(told, "tab complete") || !strings.Contains(told, "↓ choose") || strings.Contains(told, "↑") {
		t.Errorf("with tab and up bound to accept it tells %q", told)
	}
}

// Labels are for users, and several actions share one.
func TestHintsAreMatchedByActionNotLabel(t *testing.T) {
	d := threePanes(t)
	d.rebind(map[keymap.Action][]string{keymap.SessionNext: {"prefix n", "request f9"}})
	one := []api.Request{{ID: "r1", Tool: "exec", Command: "make"}}
	a := &dialog.Approval{Requests: func() []api.Request { return one }}
	told := ""
	for _, h := range a.Hints(d.m.env) {
		told += h.Key + " " + h.Does + "; "
	}
	if !strings.Contains(told, "f9 next; ") || strings.Contains(told, "tab next") || strings.Contains(told, " close") {
		t.Errorf("a request tells %q", told)
	}
	inBar := []keymap.Hint{{Key: "n", Does: "new", Action: keymap.ProcessNew}}
	if tips := dialog.DrawTips(d.m.o.Bindings, inBar, 200, &d.m.theme.look); !strings.Contains(tips, "another session") {
		t.Errorf("the tip about sessions is dropped for a key about processes: %q", tips)
	}
}

func TestStatusBarNamesUnknownKeyAfterPrefix(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "esc")
	d.waitNoText("does nothing")
	d.pressKeys("ctrl+b", "(")
	d.waitText("ctrl+b ( does nothing")
	d.pressKeys("ctrl+b", "ctrl+t")
	d.waitText("ctrl+b ctrl+t does nothing")
}

func TestTextOfOneReadReachesProgramInOneCall(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	text := strings.Repeat("echo ä\t1\r", 100)
	d.m.input.queue.Feed([]byte(text))
	d.update(inputMsg{})
	d.waitUntil("it has arrived", func() bool { return s.typedText() == text })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts != 1 {
		t.Errorf("it took %d calls", s.texts)
	}
}

func TestPossiblyLostTextIsReported(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	s.mu.Lock()
	s.loss = outbox.Loss{Keys: 5000}
	s.mu.Unlock()
	next := d.loseEngine()
	d.mu.Lock()
	d.next = next
	d.mu.Unlock()
	d.engine = next
	d.waitText("the connection to first was lost: up to 5000 keys may be missing")
}

func TestDialogHandlesTextOfOneReadKeyByKey(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	text := strings.Repeat("zx", 40)
	d.m.input.queue.Feed([]byte("\x02:" + text))
	d.update(inputMsg{})
	d.waitText("zxzxzx")
	if got := s.typedText(); got != "" {
		t.Errorf("the program got %q", got)
	}
}

// The hints of every overlay name keys that are bound, or keys of the overlay itself.
func TestHintsNameOnlyBoundKeys(t *testing.T) {
	d := threePanes(t)
	d.pressKeys("ctrl+b", "[", "/")
	find := d.m.dialog.open
	d.rebind(map[keymap.Action][]string{keymap.Accept: {}, keymap.Cancel: {"f6", "dialog f6", "form f6", "picker f6"}, keymap.Close: {"f6", "request f6"}})
	d.m.dialog.open = dialog.NewPrompt("x", "", nil)
	searching := &dialog.Help{}
	searching.Do(d.m.env, keymap.HelpSearch)
	overlays := []dialog.Overlay{
		&dialog.Question{Title: "x", Yes: "yes"}, dialog.NewPrompt("x", "", nil), form.New("x", &form.Field{Input: &field.Field{}}),
		&dialog.Picker{Verb: func(list.Choice) string { return "take" }}, find, &dialog.Help{}, searching,
	}
	for _, o := range overlays {
		for _, h := range o.(interface {
			Hints(dialog.Host) []keymap.Hint
		}).Hints(d.m.env) {
			if strings.Contains(h.Key, "enter") || strings.Contains(h.Key, "esc") || h.Key == "y" || h.Key == "n" {
				t.Errorf("%T offers %q for %q", o, h.Key, h.Does)
			}
		}
	}
}

func TestDialogShowsItsKeysOnce(t *testing.T) {
	d := threePanes(t)
	d.pressKeys("ctrl+b", "x")
	d.waitText("Kill session")
	rows := strings.Split(d.screenText(), "\n")
	if n := strings.Count(d.screenText(), "kill it"); n != 1 || !strings.HasPrefix(rows[len(rows)-1], " y kill it   n cancel ") {
		t.Errorf("the key is told %d times:\n%s", n, d.screenText())
	}
	d.pressKeys("n", "ctrl+b", "z")
	d.waitUntil("it is zoomed", func() bool { return d.m.areas.mode == modeZoomed })
	d.pressKeys("ctrl+b", "x")
	d.waitText("y kill it   n cancel")
}

func TestDialogDimsBackgroundUnlessItPreviewsEffect(t *testing.T) {
	d := threePanes(t)
	tab := string(d.m.theme.look.Tab)
	d.pressKeys("ctrl+b", "x")
	d.waitText("Kill session")
	rows := strings.Split(d.m.frame.view.Content, "\n")
	if strings.Contains(rows[0], tab) || !strings.Contains(rows[0], string(d.m.theme.look.Dimmed)) {
		t.Errorf("the top bar is %q", rows[0])
	}
	if last := rows[len(rows)-1]; !strings.Contains(last, string(d.m.theme.look.BarKey)) {
		t.Errorf("the status bar is %q", last)
	}
	d.pressKeys("n", "ctrl+b", "T")
	d.waitText("keep it")
	if !strings.Contains(d.m.frame.view.Content, tab) {
		t.Error("a theme that is tried cannot be seen")
	}
}

// The user does not expect the note about an event, so it must not move any key hint. The result of
// a key is shown in full.
func TestEventNoteDoesNotMoveHints(t *testing.T) {
	for _, w := range []int{80, 120, 200} {
		e := newFakeEngine()
		d := drive(t, e, w, 36)
		d.pressKeys("alt+2")
		d.waitText("cpu%")
		shown := func() (hints []keymap.Hint, note string) {
			hints, note, _ = d.m.fitHints(w)
			return hints, note
		}
		before, _ := shown()
		long := "claude in the-session is blocked – ctrl+b tab goes there: " + strings.Repeat("May I run it? ", 20)
		d.m.notices.toast.ShowEvent(long, panes.NeedsAnswer)
		hints, note := shown()
		if !strings.Contains(note, "claude in the-session is blocked") || text.Width(note) > max(w*3/4, w-hintsWidth(d.m.statusHints())) {
			t.Errorf("%d columns: the event is %q", w, note)
		}
		if hintsWidth(hints) < min(hintsWidth(before), w/4)-20 || !slices.Equal(hints, before[:len(hints)]) {
			t.Errorf("%d columns: of %v the event leaves %v", w, before, hints)
		}
		d.m.notices.toast.Say(long, true)
		if _, note := shown(); text.Width(note) != w-1 {
			t.Errorf("%d columns: the result of a key is %q", w, note)
		}
	}
}

func TestNoteColourFollowsUrgency(t *testing.T) {
	d, _, away := openTwoSessions(t)
	inks := &d.m.theme.look
	wantInk := func(note string, want look.Ink) {
		t.Helper()
		d.waitText(note)
		if _, ink := d.m.statusNote(); ink != want {
			t.Errorf("%q is shown as %q, not as %q", note, ink, want)
		}
	}
	away.setAgent(api.AgentBlocked, "May I?")
	wantInk("claude in away is blocked", inks.BarWarn)
	away.setAgent(api.AgentDone, "")
	wantInk("claude in away is done", inks.BarGood)
	e := d.nthSession(0).engine
	e.addRequest(newRequest("r1", "make install"))
	wantInk("claude-code/2.1 asks", inks.BarWarn)
	away.setAgent(api.AgentIdle, "")
	away.update(func(p *api.Process) { seven := 7; p.State, p.ExitCode = api.StateExited, &seven })
	wantInk("away exited with", inks.BarBad)
}
