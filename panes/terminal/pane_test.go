package terminal

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/panestest"
)

// A fakeEnv is a dashboard recording its calls.
type fakeEnv struct {
	panestest.Env
	restored *Pane
	started  []string
}

func (e *fakeEnv) CopyRead(Read) tea.Cmd   { return nil }
func (e *fakeEnv) ClosePane(*Pane) tea.Cmd { return nil }

func (e *fakeEnv) SayOnce(text string) tea.Cmd { e.Said = text; return nil }
func (e *fakeEnv) Restore(p *Pane) tea.Cmd     { e.restored = p; return nil }
func (e *fakeEnv) StartNear(_ *Pane, command []string, _ string) tea.Cmd {
	e.started = command
	return nil
}

// findEngine returns an engine finding one match.
func findEngine(match api.Place) panes.Engine {
	engine := panestest.NewEngine()
	panestest.On(engine, api.SessionFind, func(context.Context, api.SessionFindInput) (api.SessionFindOutput, error) {
		return api.SessionFindOutput{Match: &api.SessionMatch{From: match}, Number: 1, Total: 1}, nil
	})
	return engine
}

// newTestPane returns the pane of a session showing lines, and the input sent to its program.
func newTestPane(lines ...string) (*Pane, *fakeEnv, *sentInput) {
	e := &fakeEnv{}
	e.API = findEngine(api.Place{Line: 1})
	e.Known.Processes = []api.Process{{ID: "1", Name: "build", CWD: "/home/ann/src"}}
	p := New(e, &Search{}, "1")
	p.Resize(40, 10)
	box := &sentInput{}
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

func textKey(text string) keys.Key { return keys.Key{Code: keys.Code(text[0]), Text: text} }

func TestKeysGoToTheProgramExceptInScrollMode(t *testing.T) {
	p, _, box := newTestPane("one")
	p.HandleKey(textKey("a"))
	panestest.Press(t, p.Actions(), keymap.ScrollMode)
	p.HandleKey(textKey("b"))
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

func TestCtrlCReportsDroppedText(t *testing.T) {
	p, e, _ := newTestPane("one")
	ctrlC := keys.Key{Code: 'c', Mods: keys.Ctrl}
	p.HandleKey(ctrlC)
	box := &sentInput{reports: true} // the program reads nothing
	p.Feed.Connect(box)
	p.Paste(strings.Repeat("x", 128<<10))
	p.Paste(strings.Repeat("x", 5<<20))
	p.HandleKey(textKey("a"))
	if e.Said != "" {
		t.Errorf("nothing was dropped, but the message is %q", e.Said)
	}
	p.HandleKey(ctrlC)
	if want := "ctrl+c dropped 5.0M of unsent text"; e.Said != want {
		t.Errorf("message %q, want %q", e.Said, want)
	}
	if last := box.sent[len(box.sent)-1]; last.Key == nil || !last.Key.Same(ctrlC) {
		t.Errorf("the last input is %+v", last)
	}
}

func TestLostInputIsReportedOnce(t *testing.T) {
	p, e, _ := newTestPane("one")
	p.ReportLoss()
	if e.Said != "" {
		t.Errorf("nothing was lost, but the message is %q", e.Said)
	}
	p.Feed.Connect(&sentInput{loss: outbox.Loss{Keys: 5000}})
	p.ReportLoss()
	if e.Said != "" {
		t.Errorf("before the dashboard is connected: message %q", e.Said)
	}
	e.Known.Connected = true
	p.ReportLoss()
	if want := "was lost: up to 5000 keys may be missing"; !strings.HasSuffix(e.Said, want) {
		t.Errorf("message: %q", e.Said)
	}
	e.Said = ""
	p.ReportLoss()
	if e.Said != "" {
		t.Errorf("again: %q", e.Said)
	}
}

func TestKeysWaitForARunningSearch(t *testing.T) {
	p, e, _ := newTestPane("one", "two")
	panestest.Press(t, p.Actions(), keymap.ScrollMode)
	panestest.Press(t, p.Actions(), keymap.ScrollSearch)
	line, ok := e.Shown.(*dialog.Find)
	if !ok {
		t.Fatalf("%T is asked", e.Shown)
	}
	search := line.Paste(e, "two")
	line.Do(e, keymap.Accept)
	if e.Pending == nil || e.Pending.Ready() {
		t.Fatal("keys are not held")
	}
	search().(panes.Result)()
	if p.Scroll.CursorPlace().Line != 1 || !e.Pending.Ready() {
		t.Errorf("the cursor is in line %d, keys are held: %t", p.Scroll.CursorPlace().Line, !e.Pending.Ready())
	}
}

func TestCancelledSearchDropsItsAnswer(t *testing.T) {
	p, e, _ := newTestPane("one", "two")
	panestest.Press(t, p.Actions(), keymap.ScrollMode)
	panestest.Press(t, p.Actions(), keymap.ScrollSearch)
	search := e.Shown.(*dialog.Find).Paste(e, "two")
	e.Shown.(*dialog.Find).Do(e, keymap.Accept)
	e.Pending.Cancel()
	if search().(panes.Result)(); p.Scroll.CursorPlace().Line != 0 || !e.Pending.Ready() {
		t.Errorf("the cursor is in line %d, keys are held: %t", p.Scroll.CursorPlace().Line, !e.Pending.Ready())
	}
}

func TestLineOfTheLiveScreenIsCopied(t *testing.T) {
	p, e, _ := newTestPane("one", "two")
	panestest.Press(t, p.Actions(), keymap.ScrollMode)
	panestest.Press(t, p.Actions(), keymap.ScrollCopyLine)
	if e.Copied != "one" || p.Scroll.Active() {
		t.Errorf("%q is copied, scrolling %t", e.Copied, p.Scroll.Active())
	}
}

func TestEnterRestoresAnExitedSession(t *testing.T) {
	p, e, _ := newTestPane("one")
	code := 1
	p.Feed.Receive(api.Output{Ended: &api.Process{ID: "1", State: api.StateExited, ExitCode: &code}})
	p.Sync()
	p.HandleKey(textKey("a"))
	if e.restored != nil || e.Said != "" {
		t.Fatalf("any key does: %q", e.Said)
	}
	p.HandleKey(keys.Key{Code: keys.Enter})
	if e.restored != p {
		t.Error("enter does not")
	}
	if hints, _ := p.Hints(); len(hints) != 2 || hints[0].Does != "restore" {
		t.Errorf("the hints are %v", hints)
	}
}

func TestScrollingFetchesLinesOfAnExitedSession(t *testing.T) {
	p, _, box := newTestPane()
	p.Feed.Receive(api.Output{Frame: screenOf(40, 10, 50, "$ exit")})
	p.Feed.Receive(api.Output{Ended: &api.Process{ID: "1", State: api.StateExited}})
	p.Sync()
	panestest.Press(t, p.Actions(), keymap.ScrollMode)
	box.sent = nil
	p.Scroll.ScrollBy(-20)
	if p.Fetch() == nil || len(box.sent) > 0 {
		t.Errorf("nothing is fetched; the program that has ended was sent %v", box.sent)
	}
	if p.Fetch() != nil {
		t.Error("the same lines are fetched twice")
	}
}

func TestTitleShowsTheFolderOfAShell(t *testing.T) {
	p, e, _ := newTestPane()
	if name, detail, folder := p.Title(); name != "build" || detail != "~/src" || !folder {
		t.Errorf("%q, %q, %t", name, detail, folder)
	}
	e.Known.Processes[0].Argv, e.Known.Processes[0].Command = []string{"make", "all"}, "make all"
	if _, detail, folder := p.Title(); detail != "make all" || folder {
		t.Errorf("%q, %t", detail, folder)
	}
}

func TestTextBrowserRunsInASession(t *testing.T) {
	if !isTextBrowser("/usr/bin/w3m") || isTextBrowser("/usr/bin/firefox") || isTextBrowser("") {
		t.Error("text and graphical browsers are confused")
	}
}

func TestResetKeyResetsTheSession(t *testing.T) {
	p, _, box := newTestPane("$ ")
	box.sent = nil
	panestest.Press(t, p.Actions(), keymap.TerminalReset)
	if len(box.sent) != 1 || !box.sent[0].Reset {
		t.Errorf("sent %+v", box.sent)
	}
}
