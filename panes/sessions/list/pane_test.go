package list

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/panestest"
)

// A fakeEnv is a dashboard with a fake engine. It records the calls.
type fakeEnv struct {
	panestest.Env
	note    string
	urgency panes.Urgency
	focused string // the session of the terminal with the keyboard
	looks   string // the visible session
	killed  []string
}

func (e *fakeEnv) FocusList() tea.Cmd { return nil }
func (e *fakeEnv) HideSession(string) {}

func (e *fakeEnv) Open(id string) tea.Cmd               { e.Opened = id; return nil }
func (e *fakeEnv) Focused() (string, bool)              { return e.focused, e.focused != "" }
func (e *fakeEnv) IsVisible(id string) bool             { return e.looks == id }
func (e *fakeEnv) ShowNote(text string, _ bool) tea.Cmd { e.note = text; return nil }
func (e *fakeEnv) ReportEvent(text, _ string, urgency panes.Urgency) tea.Cmd {
	e.note, e.urgency = text, urgency
	return nil
}

func (e *fakeEnv) ShowRequest(string) tea.Cmd { return nil }
func (e *fakeEnv) IsVisit(string) bool        { return false }

func (e *fakeEnv) killSession(_ context.Context, in api.IDInput) (api.Process, error) {
	e.killed = append(e.killed, in.ID)
	return api.Process{}, nil
}

// newTestPane returns a list of three sessions: a and b in one tab, and c.
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
	if !p.NeedsInput("c") || e.note != "session-c asks for a password" || e.urgency != panes.NeedsAnswer {
		t.Errorf("reported: %q", e.note)
	}
	e.looks = "c"
	p.Refresh()
	if p.NeedsInput("c") {
		t.Error("the mark stays")
	}
}

// refuse makes the engine refuse an operation.
func refuse[In any](e *fakeEnv, o api.Operation[In, api.Process]) {
	panestest.On(e.API.(*panestest.Engine), o, func(context.Context, In) (api.Process, error) {
		return api.Process{}, api.Errorf(api.CodeUnavailable, "box: away")
	})
}

func TestKeyboardChangeIsReportedOnceItApplies(t *testing.T) {
	for _, test := range []struct {
		action   keymap.Action
		terminal api.Terminal
		want     string
	}{
		{keymap.SessionKeyboard, api.Terminal{}, "Agents can't type into session-a"},
		{keymap.SessionKeyboard, api.Terminal{Keyboard: "person"}, "Agents can type into session-a"},
		{keymap.SessionOpen, api.Terminal{}, "Sandboxed agents can type into session-a"},
		{keymap.SessionOpen, api.Terminal{Open: true}, "Sandboxed agents can't type into session-a"},
	} {
		for _, refused := range []bool{false, true} {
			p, e := newTestPane()
			e.Known.Processes[0].Terminal = &test.terminal
			panestest.On(e.API.(*panestest.Engine), api.SessionKeyboard, func(context.Context, api.SessionKeyboardInput) (api.Process, error) {
				return api.Process{}, nil
			})
			want := test.want
			if refused {
				refuse(e, api.SessionKeyboard)
				want = "box: away"
			}
			cmd := panestest.Press(t, p.Actions(), test.action)
			if q, ok := e.Shown.(*dialog.Question); ok {
				cmd = q.Then()
			}
			if e.Said != "" {
				t.Errorf("before the answer: said %q", e.Said)
			}
			if panestest.RunAll(cmd); !strings.HasPrefix(e.Said, want) || e.SaidBad != refused {
				t.Errorf("%s: said %q, want %q", test.action, e.Said, want)
			}
		}
	}
}

// exit reports the exit of session c.
func (e *fakeEnv) exit(p *Pane) {
	before := e.Known
	e.Known.Processes = slices.Clone(e.Known.Processes)
	e.Known.Processes[2].State = api.StateStopped
	before.Snapshots = 1
	p.HandleNews(&before)
}

func TestFailedKillIsForgotten(t *testing.T) {
	p, e := newTestPane()
	refuse(e, api.SessionKill)
	if panestest.RunAll(p.KillSession("c")); e.Said != "box: away" || len(p.stopping)+len(p.Trees.killed) > 0 {
		t.Errorf("said %q, remembered %v, %v", e.Said, p.stopping, p.Trees.killed)
	}
	e.exit(p)
	p.ReportExit(&api.Process{ID: "c", Name: "session-c", State: api.StateStopped, EndedBy: "agent:codex"})
	if e.note != "session-c was stopped by codex" {
		t.Errorf("reported: %q", e.note)
	}
}

func TestKillIsRememberedForOneRun(t *testing.T) {
	p, e := newTestPane()
	for i := range e.Known.Processes {
		e.Known.Processes[i].StartedAt = time.Unix(1, 0)
	}
	panestest.RunAll(p.KillSession("c"))
	e.exit(p)
	if len(p.Trees.killed) > 0 {
		t.Errorf("after the exit %v are remembered", p.Trees.killed)
	}
	// The session was hidden, so its exit did not clear the record that the user stopped it. An
	// agent stops the next run.
	again := &e.Known.Processes[2]
	again.State, again.StartedAt = api.StateRunning, again.StartedAt.Add(time.Hour)
	ended := *again
	ended.State, ended.EndedBy = api.StateStopped, "agent:codex"
	if p.ReportExit(&ended); e.note != "session-c was stopped by codex" {
		t.Errorf("reported: %q", e.note)
	}
	for _, id := range []string{"a", "b", "c"} {
		panestest.RunAll(p.KillSession(id))
	}
	e.Known.Processes = e.Known.Processes[1:2]
	p.HandleNews(&panes.News{Snapshots: 1, Processes: e.Known.Processes})
	if p.ExpectStop("b"); len(p.stopping) != 1 || len(p.Trees.killed) != 1 {
		t.Errorf("deleted sessions are remembered: %v, %v", p.stopping, p.Trees.killed)
	}
}

func TestExpectedStopOfUnknownSessionIsNotReported(t *testing.T) {
	p, e := newTestPane()
	p.ExpectStop("new")
	p.ExpectStop("a")
	if p.ReportExit(&api.Process{ID: "new", State: api.StateStopped, EndedBy: "person", StartedAt: time.Unix(1, 0)}); e.note != "" {
		t.Errorf("reported: %q", e.note)
	}
}
