package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/terminal"
	"tandem/ui/screen"
)

// addTabs adds running sessions to the dashboard.
func (d *driver) addTabs(n int) {
	d.t.Helper()
	before := len(d.m.sessions.Tabs.All)
	for i := range n {
		s := d.engine.addSession(fmt.Sprintf("s%d", i), "$ ")
		d.engine.announce(api.Event{Type: api.EventProcess, Process: &s.process})
	}
	d.waitUntil("the tabs are there", func() bool { return len(d.m.sessions.Tabs.All) == before+n })
}

// visitEditor opens a file in the editor and waits until its session is shown. It returns its number.
func (d *driver) visitEditor(name string) (session int) {
	d.t.Helper()
	session = d.countSessions()
	open := len(d.m.visits.open)
	d.onFile(name)
	d.pressKeys("e")
	d.waitStarted(session + 1)
	d.waitUntil("the editor is shown", func() bool {
		return len(d.m.visits.open) == open+1 && d.m.visits.open[open].started
	})
	return session
}

func TestEndOfEditorDoesNotTakeTheKeyboard(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed -v")
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1"})
	editor := d.visitEditor("a")
	d.pressKeys("ctrl+b", "n")
	d.nthSession(editor).exitWith(api.StateExited, new(int))
	d.waitText("alt+4 goes back to Files")
	if d.m.views.action() != keymap.ViewSessions {
		t.Error("the view has changed")
	}
	d.pressKeys("'D")
	d.waitUntil("the shell gets the key", func() bool { return d.nthSession(0).typedText() == "D" })
	d.waitExists(dir+"/a", true)
}

func TestVisitLastsAsLongAsItsProgram(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed -v")
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2"})
	d.addTabs(5)
	d.onFile("a")
	d.pressKeys("space", "space", "R")
	d.waitUntil("the editor is shown", func() bool { return len(d.m.visits.open) == 1 && d.m.visits.open[0].started })
	editor := d.m.visits.open[0].id
	if in := d.engine.started[len(d.engine.started)-1]; in.Name != "rename" || in.Actor != api.Tandem {
		t.Errorf("the session is called %q and started by %q", in.Name, in.Actor)
	}
	list := listOfNames(t, d.engine.started[len(d.engine.started)-1].Command)
	for range 6 {
		d.pressKeys("ctrl+b", "n")
	}
	// A second visit does not replace the first.
	d.pressKeys("alt+4")
	second := d.visitEditor("b")
	d.nthSession(second).exitWith(api.StateExited, new(int))
	d.waitUntil("the second visit has ended", func() bool { return len(d.m.visits.open) == 1 })
	if err := os.WriteFile(list, []byte("x\ny\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.sessionOf(editor).exitWith(api.StateExited, new(int))
	d.waitText("ctrl+b enter answers: Rename 2 items?")
	d.waitExists(dir+"/a", true)
	d.pressKeys("ctrl+b", "enter")
	d.waitText("a → x")
	d.pressKeys("y")
	d.waitExists(dir+"/x", true)
	d.waitExists(dir+"/y", true)
}

// listOfNames returns the file with the names that an editor is to change.
func listOfNames(t *testing.T, command []string) string {
	t.Helper()
	for _, word := range strings.FieldsFunc(command[len(command)-1], func(r rune) bool { return r == ' ' || r == '\'' || r == '>' }) {
		if strings.Contains(word, "/rename-") {
			return word
		}
	}
	t.Fatalf("no list in %q", command)
	return ""
}

func TestQueuedKeysSurviveTheirTabBeingHidden(t *testing.T) {
	e := newFakeEngine()
	for i := range 6 {
		e.addSession(fmt.Sprintf("s%d", i), fmt.Sprintf("$%d ", i))
	}
	d := drive(t, e, 120, 36)
	d.waitText("$0")
	next := d.loseEngine()
	d.pressKeys("'abc")
	for range 5 {
		d.pressKeys("ctrl+b", "n")
	}
	if n := d.m.sessions.CountQueued(); n != 3 {
		t.Errorf("%d keys are queued", n)
	}
	d.restoreEngine(next)
	d.waitUntil("the session gets the keys", func() bool { return d.nthSession(0).typedText() == "abc" })
}

func TestHiddenPaneKeepsItsState(t *testing.T) {
	e := newFakeEngine()
	for i := range 6 {
		e.addSession(fmt.Sprintf("s%d", i), fmt.Sprintf("$%d ", i))
	}
	d := drive(t, e, 120, 36)
	d.waitText("$0")
	p := d.m.sessions.FocusedPane()
	for range 6 {
		d.pressKeys("ctrl+b", "n")
	}
	if d.m.sessions.FocusedPane() != p {
		t.Error("the session has another pane")
	}
	d.pressKeys("'x")
	d.waitUntil("the session gets the key", func() bool { return d.nthSession(0).typedText() == "x" })
}

func TestInputBeforeTheFirstSessionKeepsItsOrder(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("shell", "$ ")
	d := drive(t, e, 120, 36)
	d.pressKeys("'n")
	d.pressKeys("alt+2")
	d.waitUntil("the session gets the key", func() bool { return s.typedText() == "n" })
	if d.m.dialog.open != nil || d.m.views.action() != keymap.ViewProcesses {
		t.Errorf("open is %+v over %s", d.m.dialog.open, d.m.views.action())
	}
}

func TestConflictOfQueuedCopyLeavesFormAlone(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "new", "b": "old", "c": "1"})
	d.onFile("c")
	next := d.loseEngine()
	d.pressKeys("D")
	d.waitTransfer(true)
	d.onFile("a")
	d.pressKeys("C")
	d.waitText("Copy a to")
	d.pressKeys("ctrl+u", "'"+dir+"/b", "enter")
	d.pressKeys("alt+2", "'n", "'half a command")
	d.restoreEngine(next)
	d.waitUntil("the question waits", func() bool { return len(d.m.dialog.waiting) == 1 })
	d.pressKeys("' run")
	d.waitText("half a command run")
	d.pressKeys("esc")
	d.waitText("ctrl+b enter answers: b already exists")
	if text, _ := os.ReadFile(dir + "/b"); string(text) != "old" {
		t.Errorf("b is %q", text)
	}
	d.pressKeys("ctrl+b", "enter", "'r")
	d.waitUntil("b is replaced", func() bool {
		text, _ := os.ReadFile(dir + "/b")
		return string(text) == "new"
	})
}

func TestConflictOfFirstCopyIsAnsweredByTheNextKey(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "new", "b": "old"})
	d.onFile("a")
	d.pressKeys("C")
	d.waitText("Copy a to")
	d.pressKeys("ctrl+u", "'"+dir+"/b", "enter", "'r")
	d.waitUntil("b is replaced", func() bool {
		text, _ := os.ReadFile(dir + "/b")
		return string(text) == "new"
	})
}

func TestQuestionsOfEventsWaitInOrder(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 120, 36)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", "enter")
	d.waitText("ctrl+b enter does nothing here")
	d.pressKeys("ctrl+b", "?")
	told := d.captureNotifications()
	d.sendEvent(screen.Event{Kind: keys.EventFocusOut})
	for _, title := range []string{"First?", "Second?"} {
		d.m.env.Ask(&dialog.Question{Title: title})
	}
	d.update(nil)
	d.waitText("show the keys")
	d.pressKeys("esc")
	d.waitText("ctrl+b enter answers: First? (1 more)")
	if got := told(); !slices.Equal(got, []string{"First? (1 more)"}) {
		t.Errorf("the desktop shows %q", got)
	}
	before := d.m.theme.look.BarGood
	if d.m.notices.toast.isUrgent() {
		t.Error("the question is shown as an error")
	}
	d.m.notices.toast.ClearMessage()
	if note, ink := d.m.statusNote(); !strings.Contains(note, "First?") || ink != before {
		t.Errorf("the bar shows %q in another colour", note)
	}
	if !d.m.env.Shows(nil) {
		t.Error("a queued dialog counts as open")
	}
	d.pressKeys("ctrl+b", "enter")
	d.waitMatch(`│ First\? +│`)
	d.pressKeys("esc")
	d.waitText("ctrl+b enter answers: Second?")
	d.pressKeys("ctrl+b", "enter", "esc")
	d.waitNoText("answers:")
}

// Every action is bound to a key after the prefix, so that the list of keys may show all of them.
func TestActionsListedAfterThePrefixWorkInEveryView(t *testing.T) {
	changes := map[keymap.Action][]string{}
	for n, a := range everyAction() {
		changes[a] = []string{"prefix " + []string{"", "alt+", "ctrl+alt+", "super+", "super+alt+", "hyper+", "hyper+alt+", "hyper+super+"}[n/26] + string(rune('a'+n%26))}
	}
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 200, 200)
	d.waitText("$ ")
	d.rebind(changes)
	for _, v := range keymap.Views() {
		d.showView(v.Action)
		d.m.keyboard.press(d.m.o.Bindings.PrefixKeys()[0])
		d.m.keyboard.prefix.long = true
		d.screenText()
		listed := map[keymap.Action]bool{}
		groups, w, h := d.m.keyboard.prefix.groups()
		for y := range h {
			for x := range w {
				if a, ok := dialog.PrefixKeyAt(groups, w, h, x, y); ok {
					listed[a] = true
				}
			}
		}
		if len(listed) < 30 {
			t.Errorf("%s lists %d actions", v.Name, len(listed))
		}
		for a := range listed {
			if d.m.keyboard.findAction(a) == nil {
				t.Errorf("%s lists %s", v.Name, a)
			}
		}
		d.m.keyboard.resolver.Cancel()
	}
}

func TestEveryActionOfThePaletteRunsInEveryView(t *testing.T) {
	for _, v := range keymap.Views() {
		ran := 0
		for i := 0; ; i++ {
			e := newFakeEngine()
			e.addSession("shell", "$ ")
			e.addProcess("web", "listening\n")
			d := drive(t, e, 120, 36)
			d.waitText("$ ")
			d.showView(v.Action)
			d.pressKeys("ctrl+b", ":")
			p, ok := d.m.dialog.open.(*palette)
			if !ok {
				t.Fatalf("%s: %T is open", v.Name, d.m.dialog.open)
			}
			if i == len(p.actions) {
				break
			}
			ran++
			d.m.dialog.open = nil
			d.run(d.m.dialog.ForUser(p.handlers[p.actions[i].Number]))
			d.screenText()
		}
		if ran < 30 {
			t.Errorf("%s lists %d actions", v.Name, ran)
		}
	}
}

// everyAction returns the actions of all views.
func everyAction() (all []keymap.Action) {
	for _, section := range keymap.DefaultBindings().Help(keymap.ScopeGlobal, keymap.ScopeList, keymap.ScopeLog, keymap.ScopePreview, keymap.ScopeFiles, keymap.ScopeProcesses, keymap.ScopeHistory, keymap.ScopePrefix) {
		for _, row := range section.Rows {
			if row.Action != keymap.Prefix && !slices.Contains(all, row.Action) {
				all = append(all, row.Action)
			}
		}
	}
	return all
}

func TestActionsRunByEventsMoveNothing(t *testing.T) {
	e := newFakeEngine()
	for i := range 3 {
		e.addSession(fmt.Sprint("s", i), "$ ")
	}
	web := e.addProcess("web", "listening\n").process.ID
	d := drive(t, e, 120, 36)
	d.waitText("$ ")
	other := d.nthSession(2).process.ID
	events := map[string]func() tea.Cmd{
		"ShowSession":  func() tea.Cmd { return d.m.env.ShowSession(other) },
		"StartSession": func() tea.Cmd { return d.m.env.StartSession(nil, "/home") },
		"StartOn":      func() tea.Cmd { return d.m.env.StartOn("") },
		"Visit":        func() tea.Cmd { return d.m.env.Visit("", []string{"vi"}, "/home", nil) },
		"Insert":       func() tea.Cmd { return d.m.env.Insert("make") },
		"OpenSession":  func() tea.Cmd { return d.m.sessions.OpenSession(other) },
		"showTerminal": panes.ActionOf(d.m.showTerminal),
		"showProcess":  func() tea.Cmd { return d.m.showProcess(web) },
		"showFolder":   func() tea.Cmd { return d.m.showFolder("/home") },
		"showLog":      d.m.showEngineLog,
	}
	moved := []keymap.Action{keymap.PaneClose, keymap.PaneBreak} // take the pane itself out of its tab
	for _, a := range everyAction() {
		if a != keymap.Detach && a != keymap.Quit && !slices.Contains(moved, a) {
			events[string(a)] = func() tea.Cmd {
				if act := d.m.keyboard.findAction(a); act != nil {
					return act()
				}
				return nil
			}
		}
	}
	type state struct {
		view   keymap.Action
		pane   *terminal.Pane
		dialog dialog.Overlay
		zoomed bool
	}
	now := func() state {
		return state{d.m.views.action(), d.m.sessions.FocusedPane(), d.m.dialog.open, d.m.sessions.IsZoomed()}
	}
	for _, v := range keymap.Views() {
		d.showView(v.Action)
		for name, event := range events {
			before := now()
			if event(); now() != before {
				t.Errorf("in %s, %s of an event changes %+v to %+v", v.Name, name, before, now())
				d.m.dialog.open = nil
				d.showView(v.Action)
			}
			d.m.input.cancelPending()
		}
	}
}

func (d *driver) countSessions() int {
	d.engine.mu.Lock()
	defer d.engine.mu.Unlock()
	return len(d.engine.sessions)
}

func TestPasteOfACopyBeingReadPrecedesLaterKeys(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 36)
	d.waitText("$ ")
	release := make(chan error)
	read := func(context.Context, panes.Engine) (string, bool, error) { return "copied ", false, <-release }
	d.run(d.m.env.CopyRead(read))
	d.pressKeys("ctrl+b", "]", "'then")
	close(release)
	d.waitUntil("the paste arrives first", func() bool { return strings.HasSuffix(d.nthSession(0).typedText(), "then") })
	if got := d.nthSession(0).typedText(); !strings.Contains(got, "copied ") || strings.Index(got, "copied ") > strings.Index(got, "then") {
		t.Errorf("typed %q", got)
	}
	release = make(chan error, 1)
	d.run(d.m.env.CopyRead(read))
	d.pressKeys("ctrl+b", "]", "'x")
	release <- errors.New("away")
	d.waitText("away")
	d.waitUntil("the key arrives", func() bool { return strings.HasSuffix(d.nthSession(0).typedText(), "thenx") })
}

func TestPasteOfACopyBeingReadGoesToNoOtherPane(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 36)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", "%")
	d.waitStarted(2)
	release := make(chan error)
	d.run(d.m.env.CopyRead(func(context.Context, panes.Engine) (string, bool, error) { return "secret", false, <-release }))
	meant := d.m.sessions.CurrentPane()
	d.pressKeys("ctrl+b", "]")
	d.sessionOf(meant.ID).exitWith(api.StateExited, new(int))
	d.waitUntil("the other pane has the focus", func() bool { return d.m.sessions.CurrentPane() != meant })
	close(release)
	d.waitText("not pasted")
	for i := range 2 {
		if got := d.nthSession(i).typedText(); strings.Contains(got, "secret") {
			t.Errorf("session %d has %q", i, got)
		}
	}
}

// An action that runs after an event has waited is not the user's, whether the event waited for an
// answer of the engine or for a change in the dashboard.
func TestDialogThatAnEventWaitedForIsQueued(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 36)
	d.waitText("$ ")
	for name, wait := range map[string]func(ask func()) tea.Cmd{
		"for an answer": func(ask func()) tea.Cmd {
			return panes.AwaitAnswer(t.Context(), d.m.env, func(context.Context, panes.Engine) (int, error) { return 0, nil }, func(int, error) tea.Cmd {
				ask()
				return nil
			})
		},
		"for a change": func(ask func()) tea.Cmd {
			looks := 0
			return d.m.env.Await(panes.Pending{Ready: func() bool { looks++; return looks > 1 }, Then: func() tea.Cmd {
				ask()
				return nil
			}})
		},
	} {
		d.pressKeys("ctrl+b", "?")
		help, queued := d.m.dialog.open, len(d.m.dialog.waiting)
		if help == nil {
			t.Fatal("no help")
		}
		asked := false
		d.update(panes.Result(func() tea.Cmd {
			return wait(func() {
				asked = true
				d.m.env.Ask(&dialog.Question{Title: "Probe?"})
			})
		}))
		if d.m.input.isHeld() {
			t.Errorf("%s: what is typed is held", name)
		}
		d.waitUntil("asked", func() bool { d.update(nil); return asked })
		if d.m.dialog.open != help || len(d.m.dialog.waiting) != queued+1 {
			t.Errorf("%s: %T is open, %d wait", name, d.m.dialog.open, len(d.m.dialog.waiting))
		}
		d.pressKeys("esc")
	}
}

// sessionOf returns the session with an id.
func (d *driver) sessionOf(id string) *fakeSession {
	d.engine.mu.Lock()
	defer d.engine.mu.Unlock()
	return d.engine.sessions[slices.IndexFunc(d.engine.sessions, func(s *fakeSession) bool { return s.process.ID == id })]
}

func TestEditorThatCannotStartShowsItsError(t *testing.T) {
	t.Setenv("VISUAL", "/nonexistent/ed")
	d, _ := onFolder(t, 120, 30, map[string]string{"a": "1"})
	d.engine.mu.Lock()
	d.engine.refuse = api.Errorf(api.CodeInvalid, "start session: /nonexistent/ed not found")
	d.engine.mu.Unlock()
	d.onFile("a")
	d.pressKeys("e")
	d.waitText("/nonexistent/ed not found")
	d.waitUntil("the visit is dropped", func() bool { return len(d.m.visits.open) == 0 })
	if note := d.m.notices.toast.text; !strings.Contains(note, "not found") {
		t.Errorf("the note is %q", note)
	}
}

func TestEndOfHiddenEditorNamesTheKeyThatGoesBack(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed -v")
	for name, end := range map[string]func(*fakeSession){
		"event first": func(s *fakeSession) {
			s.updateTerminal(func(p *api.Process) { p.State, p.PID, p.ExitCode = api.StateExited, 0, new(int) })
		},
		"output first": func(s *fakeSession) {
			s.reportExit(api.Process{State: api.StateExited, ExitCode: new(int), CWD: "/"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := onFolder(t, 120, 30, map[string]string{"a": "1"})
			session := d.nthSession(d.visitEditor("a"))
			d.pressKeys("alt+3")
			end(session)
			d.waitText(" exited with status 0; alt+4 goes back to Files")
			// A late event may report a state from before the exit, and another event may report
			// the exit again. Neither may change the note.
			running := session.process
			running.State, running.ExitCode, running.PID = api.StateRunning, nil, 1
			d.engine.announce(api.Event{Type: api.EventProcess, Process: &running})
			d.waitUntil("it runs again", func() bool { p, _ := d.m.news.Process(running.ID); return p.State == api.StateRunning })
			session.exitWith(api.StateExited, new(int))
			d.waitUntil("it has exited again", func() bool { p, _ := d.m.news.Process(running.ID); return p.State.Ended() })
			d.waitText(" exited with status 0; alt+4 goes back to Files")
		})
	}
}
