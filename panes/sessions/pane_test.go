package sessions

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/panestest"
	"tandem/ui/overlay"
)

// A fakeEnv is a dashboard, and an engine that keeps what it is asked.
type fakeEnv struct {
	panestest.Env
	told            string
	focused         string // the session of the terminal that has the keyboard
	looks           string // the session in sight
	started, killed []string
}

func (e *fakeEnv) FocusList() tea.Cmd { return nil }

func (e *fakeEnv) Open(id string) tea.Cmd           { e.Opened = id; return nil }
func (e *fakeEnv) Focused() (string, bool)          { return e.focused, e.focused != "" }
func (e *fakeEnv) LooksAt(id string) bool           { return e.looks == id }
func (e *fakeEnv) Tell(text string, _ bool) tea.Cmd { e.told = text; return nil }
func (e *fakeEnv) Notify(string) tea.Cmd            { return nil }
func (e *fakeEnv) ShowRequest(string) tea.Cmd       { return nil }
func (e *fakeEnv) Covered() bool                    { return e.Shown != nil }
func (e *fakeEnv) LongCommand() time.Duration       { return 0 }

func (e *fakeEnv) start(_ context.Context, in api.SessionStartInput) (api.Process, error) {
	e.started = append(e.started, in.ID)
	return session(in.ID, "new", api.StateRunning), nil
}

func (e *fakeEnv) kill(_ context.Context, in api.IDInput) (api.Process, error) {
	e.killed = append(e.killed, in.ID)
	return api.Process{}, nil
}

// shownPane is the list of sessions a and b, which are in a tab, and c.
func shownPane() (*Pane, *fakeEnv) {
	e := &fakeEnv{}
	engine := panestest.NewEngine()
	panestest.On(engine, api.SessionStart, e.start)
	panestest.On(engine, api.SessionKill, e.kill)
	e.API = engine
	for _, id := range []string{"a", "b", "c"} {
		e.Known.Processes = append(e.Known.Processes, session(id, "session-"+id, api.StateRunning))
	}
	p := New(e)
	p.Show()
	p.Focus(true)
	p.Resize(30, 10)
	p.SetTabs([][]string{{"a", "b"}, {"c"}}, "a")
	return p, e
}

func (p *Pane) press(t *testing.T, a keymap.Action) tea.Cmd {
	t.Helper()
	act := p.Actions()[a]
	if act == nil {
		t.Fatalf("%s does nothing", a)
	}
	return act()
}

func TestWhatIsUnderTheCursorIsOpened(t *testing.T) {
	p, e := shownPane()
	p.press(t, keymap.MoveDown)
	p.press(t, keymap.Open)
	if e.Opened != "b" {
		t.Errorf("opened %q", e.Opened)
	}
	p.Mouse(keys.Mouse{X: 4, Y: 3, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	if e.Opened != "c" {
		t.Errorf("a click opened %q", e.Opened)
	}
}

func TestTheSessionOfTheTerminalWithTheKeyboardIsMeant(t *testing.T) {
	p, e := shownPane()
	e.focused = "c"
	p.press(t, keymap.SessionKill)
	q, ok := e.Shown.(*overlay.Question)
	if !ok || !strings.Contains(q.Title, "session-c") {
		t.Fatalf("asked is %+v", e.Shown)
	}
	q.Then().(panes.Result)()()
	if len(e.killed) != 1 || e.killed[0] != "c" {
		t.Errorf("killed %v", e.killed)
	}
	if p.TellEnded(&api.Process{ID: "c", State: api.StateStopped}); e.told != "" {
		t.Errorf("what was done here is told of: %s", e.told)
	}
}

func TestWhatAsksOutOfSightIsMarkedUntilItIsLookedAt(t *testing.T) {
	p, e := shownPane()
	before := panes.News{Snapshots: 1, Processes: e.Known.Processes}
	asking := e.Known.Processes[2]
	asking.Terminal = &api.Terminal{Waiting: "secret"}
	e.Known.Processes = []api.Process{e.Known.Processes[0], e.Known.Processes[1], asking}
	p.HandleNews(&before)
	if !p.Asks("c") || e.told != "session-c asks for a password" {
		t.Errorf("told: %q", e.told)
	}
	e.looks = "c"
	p.Refresh()
	if p.Asks("c") {
		t.Error("the mark stays")
	}
}

// startOf is a start that the engine is asked for by its command.
func startOf(id string) Start {
	return Start{ID: id, Size: func() api.Size { return api.Size{} }, Where: func() (string, string) { return "", "" }}
}

func TestCancelledStartIsKilledAndDelaysNoOther(t *testing.T) {
	_, e := shownPane()
	var started []string
	s := NewStarter(e, func(out Started) tea.Cmd {
		started = append(started, out.ID)
		return nil
	})
	first := s.Start(startOf("one"))
	if s.Start(startOf("two")) != nil {
		t.Fatal("the second does not wait for the first")
	}
	answer := first().(panes.Result)
	for _, cmd := range s.Cancel("one")().(tea.BatchMsg) {
		cmd().(panes.Result)()
	}
	answer()
	if diff := cmp.Diff([]string{"two"}, started); diff != "" || !s.Has("one") {
		t.Errorf("what was cancelled is shown: %s", diff)
	}
	if len(e.killed) != 1 || e.killed[0] != "one" || len(s.Waiting()) != 0 {
		t.Errorf("killed %v, waiting %v", e.killed, s.Waiting())
	}
}
