package list

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/panestest"
)

// A fakeEnv is a dashboard with an engine, recording calls.
type fakeEnv struct {
	panestest.Env
	note    string
	focused string // the session of the terminal with the keyboard
	looks   string // the visible session
	killed  []string
}

func (e *fakeEnv) FocusList() tea.Cmd { return nil }

func (e *fakeEnv) Open(id string) tea.Cmd               { e.Opened = id; return nil }
func (e *fakeEnv) Focused() (string, bool)              { return e.focused, e.focused != "" }
func (e *fakeEnv) IsVisible(id string) bool             { return e.looks == id }
func (e *fakeEnv) ShowNote(text string, _ bool) tea.Cmd { e.note = text; return nil }
func (e *fakeEnv) Notify(string) tea.Cmd                { return nil }
func (e *fakeEnv) ShowRequest(string) tea.Cmd           { return nil }

func (e *fakeEnv) killSession(_ context.Context, in api.IDInput) (api.Process, error) {
	e.killed = append(e.killed, in.ID)
	return api.Process{}, nil
}

// newTestPane returns the list of sessions a and b in one tab, and c.
func newTestPane() (*Pane, *fakeEnv) {
	e := &fakeEnv{}
	engine := panestest.NewEngine()
	panestest.On(engine, api.SessionKill, e.killSession)
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

func TestOpenShowsTheSessionUnderTheCursor(t *testing.T) {
	p, e := newTestPane()
	panestest.Press(t, p.Actions(), keymap.MoveDown)
	panestest.Press(t, p.Actions(), keymap.Open)
	if e.Opened != "b" {
		t.Errorf("opened %q", e.Opened)
	}
	p.Mouse(keys.Mouse{X: 4, Y: 3, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	if e.Opened != "c" {
		t.Errorf("a click opened %q", e.Opened)
	}
}

func TestActionTargetsTheFocusedTerminal(t *testing.T) {
	p, e := newTestPane()
	e.focused = "c"
	panestest.Press(t, p.Actions(), keymap.SessionKill)
	q, ok := e.Shown.(*dialog.Question)
	if !ok || !strings.Contains(q.Title, "session-c") {
		t.Fatalf("dialog: %+v", e.Shown)
	}
	q.Then()()
	if len(e.killed) != 1 || e.killed[0] != "c" {
		t.Errorf("killed %v", e.killed)
	}
	if p.ReportExit(&api.Process{ID: "c", State: api.StateStopped}); e.note != "" {
		t.Errorf("a stop made here is reported: %s", e.note)
	}
}

func TestHiddenQuestionIsMarkedUntilSeen(t *testing.T) {
	p, e := newTestPane()
	before := panes.News{Snapshots: 1, Processes: e.Known.Processes}
	asking := e.Known.Processes[2]
	asking.Terminal = &api.Terminal{Waiting: "secret"}
	e.Known.Processes = []api.Process{e.Known.Processes[0], e.Known.Processes[1], asking}
	p.HandleNews(&before)
	if !p.NeedsInput("c") || e.note != "session-c asks for a password" {
		t.Errorf("reported: %q", e.note)
	}
	e.looks = "c"
	p.Refresh()
	if p.NeedsInput("c") {
		t.Error("the mark stays")
	}
}
