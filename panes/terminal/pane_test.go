package terminal

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// A fakeEnv is a dashboard that keeps what it is asked for. What is not asked of
// it here is nil.
type fakeEnv struct {
	Env
	news    panes.News
	look    widget.Look
	engine  panes.Engine
	shown   overlay.Overlay
	copied  string
	said    string
	pressed []keys.Key
	inPlace *Pane
	started []string
}

func (e *fakeEnv) Context() context.Context                     { return context.Background() }
func (e *fakeEnv) Engine(context.Context) (panes.Engine, error) { return e.engine, nil }
func (e *fakeEnv) News() *panes.News                            { return &e.news }
func (e *fakeEnv) Look() *widget.Look                           { return &e.look }
func (e *fakeEnv) Bindings() keymap.Bindings                    { return keymap.DefaultBindings() }
func (e *fakeEnv) Home() string                                 { return "/home/ann" }
func (e *fakeEnv) Ask(o overlay.Overlay)                        { e.shown = o }
func (e *fakeEnv) Shows(o overlay.Overlay) bool                 { return e.shown == o }
func (e *fakeEnv) Close()                                       { e.shown = nil }
func (e *fakeEnv) Copy(text, _ string) tea.Cmd                  { e.copied = text; return nil }
func (e *fakeEnv) Say(text string, _ bool) tea.Cmd              { e.said = text; return nil }
func (e *fakeEnv) SayOnce(text string) tea.Cmd                  { e.said = text; return nil }
func (e *fakeEnv) Press(k keys.Key) tea.Cmd                     { e.pressed = append(e.pressed, k); return nil }
func (e *fakeEnv) StartInPlace(p *Pane) tea.Cmd                 { e.inPlace = p; return nil }
func (e *fakeEnv) StartNear(_ *Pane, command []string, _ string) tea.Cmd {
	e.started = command
	return nil
}

// fakeFind is an engine that finds one match.
type fakeFind struct {
	panes.Engine
	match api.Place
}

func (f fakeFind) Find(context.Context, api.SessionFindInput) (api.SessionFindOutput, error) {
	return api.SessionFindOutput{Match: &api.SessionMatch{From: f.match}, Number: 1, Total: 1}, nil
}

// shownPane is the pane of a session with lines on its screen, and what its
// program gets.
func shownPane(lines ...string) (*Pane, *fakeEnv, *sentBox) {
	e := &fakeEnv{engine: fakeFind{match: api.Place{Line: 1}}}
	e.news.Processes = []api.Process{{ID: "1", Name: "build", CWD: "/home/ann/src"}}
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
	p.Key(typed("a"))
	p.press(t, keymap.ScrollMode)
	p.Key(typed("b"))
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

func TestKeysTypedWhileASearchIsUnderWayWaitForIt(t *testing.T) {
	p, e, _ := shownPane("one", "two")
	p.press(t, keymap.ScrollMode)
	p.press(t, keymap.ScrollSearch)
	line, ok := e.shown.(*findLine)
	if !ok {
		t.Fatalf("%T is asked", e.shown)
	}
	search := line.Paste(e, "two")
	line.Do(e, keymap.Accept)
	if !p.Take(typed("j")) {
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
	if e.copied != "one" || p.Scroll.Active() {
		t.Errorf("%q is copied, scrolling %t", e.copied, p.Scroll.Active())
	}
}

func TestEnterStartsAShellWhereAProgramHasEnded(t *testing.T) {
	p, e, _ := shownPane("one")
	code := 1
	p.Feed.Receive(api.Output{Ended: &api.Process{ID: "1", State: api.StateExited, ExitCode: &code}})
	p.Sync()
	p.Key(typed("a"))
	if e.inPlace != nil || e.said != "" {
		t.Fatalf("any key does: %q", e.said)
	}
	p.Key(keys.Key{Code: keys.Enter})
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
	e.news.Processes[0].Argv, e.news.Processes[0].Command = []string{"make", "all"}, "make all"
	if _, detail, folder := p.Title(); detail != "make all" || folder {
		t.Errorf("%q, %t", detail, folder)
	}
}

func TestTextBrowserGetsASession(t *testing.T) {
	if !onTerminals("/usr/bin/w3m") || onTerminals("/usr/bin/firefox") || onTerminals("") {
		t.Error("browsers are taken for what they are not")
	}
}
