package terminal

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/panestest"
)

// A fakeEnv is a dashboard that keeps what it is asked for.
type fakeEnv struct {
	panestest.Env
	pressed []keys.Key
	inPlace *Pane
	started []string
}

func (e *fakeEnv) CopyRead(Read) tea.Cmd { return nil }
func (e *fakeEnv) PutAway(*Pane) tea.Cmd { return nil }

func (e *fakeEnv) SayOnce(text string) tea.Cmd  { e.Said = text; return nil }
func (e *fakeEnv) Press(k keys.Key) tea.Cmd     { e.pressed = append(e.pressed, k); return nil }
func (e *fakeEnv) StartInPlace(p *Pane) tea.Cmd { e.inPlace = p; return nil }
func (e *fakeEnv) StartNear(_ *Pane, command []string, _ string) tea.Cmd {
	e.started = command
	return nil
}

// finds is an engine that finds one match.
func finds(match api.Place) panes.Engine {
	engine := panestest.NewEngine()
	panestest.On(engine, api.SessionFind, func(context.Context, api.SessionFindInput) (api.SessionFindOutput, error) {
		return api.SessionFindOutput{Match: &api.SessionMatch{From: match}, Number: 1, Total: 1}, nil
	})
	return engine
}

// shownPane is the pane of a session with lines on its screen, and what its
// program gets.
func shownPane(lines ...string) (*Pane, *fakeEnv, *sentBox) {
	e := &fakeEnv{}
	e.API = finds(api.Place{Line: 1})
	e.Known.Processes = []api.Process{{ID: "1", Name: "build", CWD: "/home/ann/src"}}
	p := New(e, &Search{}, "1")
	p.Resize(40, 10)
	box := &sentBox{}
	p.Feed.Connect(box)
	f := &api.Frame{Full: true, Cols: 40, Rows: 10, Cursor: api.Cursor{Visible: true}}
	for y := range 10 {
		l := api.NumberedLine{N: int64(y)}
		if y < len(lines) {
			l.Line = api.Line{Runs: []api.Run{{Text: lines[y], Cells: len(lines[y])}}}
		}
		f.Lines = append(f.Lines, l)
	}
	p.Feed.Receive(api.Output{Frame: f})
	p.Sync()
	return p, e, box
}

func (p *Pane) press(t *testing.T, a keymap.Action) tea.Cmd {
	t.Helper()
	act := p.Actions()[a]
	if act == nil {
		t.Fatalf("%s does nothing", a)
	}
	return act()
}

func typed(text string) keys.Key { return keys.Key{Code: keys.Code(text[0]), Text: text} }

func TestAKeyGoesToTheProgramUnlessThePaneScrolls(t *testing.T) {
	p, _, box := shownPane("one")
	p.HandleKey(typed("a"))
	p.press(t, keymap.ScrollMode)
	p.HandleKey(typed("b"))
	got := ""
	for _, in := range box.sent {
		if in.Key != nil {
			got += in.Key.Text
		}
	}
	if got != "a" {
		t.Errorf("the program got %q", got)
	}
	if scopes := p.Scopes(); scopes[0] != keymap.ScopeScroll {
		t.Errorf("keys are looked up in %v", scopes)
	}
}

func TestCtrlCSaysHowMuchUnsentTextItDropped(t *testing.T) {
	p, e, box := shownPane("one")
	ctrlC := keys.Key{Code: 'c', Mods: keys.Ctrl}
	p.HandleKey(ctrlC)
	box.out.Accepted(0) // the program reads nothing
	p.Paste(strings.Repeat("x", 128<<10))
	p.Paste(strings.Repeat("x", 5<<20))
	p.HandleKey(typed("a"))
	if e.Said != "" {
		t.Errorf("nothing was dropped, but it says %q", e.Said)
	}
	p.HandleKey(ctrlC)
	if want := "ctrl+c dropped 5.0M of unsent text"; e.Said != want {
		t.Errorf("it says %q, want %q", e.Said, want)
	}
	if last := box.sent[len(box.sent)-1]; last.Key == nil || !last.Key.Same(ctrlC) {
		t.Errorf("the last input is %+v", last)
	}
}

func TestTextThatAnEngineMayHaveLostIsReportedOnce(t *testing.T) {
	p, e, _ := shownPane("one")
	p.TellUnsure()
	if e.Said != "" {
		t.Errorf("nothing was lost, but it says %q", e.Said)
	}
	p.Feed.Connect(&sentBox{unsure: 5000})
	p.TellUnsure()
	if e.Said != "" {
		t.Errorf("before the dashboard is connected it says %q", e.Said)
	}
	e.Known.Connected = true
	p.TellUnsure()
	if want := "the engine exited: up to 5000 bytes typed into "; !strings.HasPrefix(e.Said, want) {
		t.Errorf("it says %q", e.Said)
	}
	e.Said = ""
	p.TellUnsure()
	if e.Said != "" {
		t.Errorf("again: %q", e.Said)
	}
}

func TestKeysTypedWhileASearchIsUnderWayWaitForIt(t *testing.T) {
	p, e, _ := shownPane("one", "two")
	p.press(t, keymap.ScrollMode)
	p.press(t, keymap.ScrollSearch)
	line, ok := e.Shown.(*findLine)
	if !ok {
		t.Fatalf("%T is asked", e.Shown)
	}
	search := line.Paste(e, "two")
	line.Do(e, keymap.Accept)
	if !p.TakeKey(typed("j")) {
		t.Fatal("the key is not held")
	}
	p.Update(search())
	if p.Scroll.Place().Line != 1 || len(e.pressed) != 1 {
		t.Errorf("the cursor is in line %d, %d keys were let go", p.Scroll.Place().Line, len(e.pressed))
	}
	if other, _, _ := shownPane(); other.Update(search()) != nil {
		t.Error("another pane takes the answer")
	}
}

func TestALineOfTheLiveScreenIsCopied(t *testing.T) {
	p, e, _ := shownPane("one", "two")
	p.press(t, keymap.ScrollMode)
	p.press(t, keymap.ScrollCopyLine)
	if e.Copied != "one" || p.Scroll.Active() {
		t.Errorf("%q is copied, scrolling %t", e.Copied, p.Scroll.Active())
	}
}

func TestEnterStartsAShellWhereAProgramHasEnded(t *testing.T) {
	p, e, _ := shownPane("one")
	code := 1
	p.Feed.Receive(api.Output{Ended: &api.Process{ID: "1", State: api.StateExited, ExitCode: &code}})
	p.Sync()
	p.HandleKey(typed("a"))
	if e.inPlace != nil || e.Said != "" {
		t.Fatalf("any key does: %q", e.Said)
	}
	p.HandleKey(keys.Key{Code: keys.Enter})
	if e.inPlace != p {
		t.Error("enter does not")
	}
	if hints, _ := p.Hints(); len(hints) != 2 || hints[0].Does != "new shell" {
		t.Errorf("the hints are %v", hints)
	}
}

func TestLinesOfAnEndedSessionAreFetchedWhenScrolledTo(t *testing.T) {
	p, _, box := shownPane()
	p.Feed.Receive(api.Output{Frame: screenOf(40, 10, 50, "$ exit")})
	p.Feed.Receive(api.Output{Ended: &api.Process{ID: "1", State: api.StateExited}})
	p.Sync()
	p.press(t, keymap.ScrollMode)
	box.sent = nil
	p.Scroll.By(-20)
	if p.Fetch() == nil || len(box.sent) > 0 {
		t.Errorf("nothing is fetched; the program that has ended was sent %v", box.sent)
	}
	if p.Fetch() != nil {
		t.Error("the same lines are fetched twice")
	}
}

func TestATitleSaysWhereAShellIs(t *testing.T) {
	p, e, _ := shownPane()
	if name, detail, folder := p.Title(); name != "build" || detail != "~/src" || !folder {
		t.Errorf("%q, %q, %t", name, detail, folder)
	}
	e.Known.Processes[0].Argv, e.Known.Processes[0].Command = []string{"make", "all"}, "make all"
	if _, detail, folder := p.Title(); detail != "make all" || folder {
		t.Errorf("%q, %t", detail, folder)
	}
}

func TestTextBrowserGetsASession(t *testing.T) {
	if !onTerminals("/usr/bin/w3m") || onTerminals("/usr/bin/firefox") || onTerminals("") {
		t.Error("browsers are taken for what they are not")
	}
}

func TestResetKeyResetsTheSession(t *testing.T) {
	p, _, box := shownPane("$ ")
	box.sent = nil
	p.press(t, keymap.TerminalReset)
	if len(box.sent) != 1 || !box.sent[0].Reset {
		t.Errorf("sent %+v", box.sent)
	}
}
