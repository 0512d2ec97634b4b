package processes

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/panestest"
	"tandem/themes"
)

// A fakeEnv is a dashboard with a fake engine that records which processes are stopped.
type fakeEnv struct {
	panestest.Env
	mu      sync.Mutex // guards stopped: several are stopped concurrently
	stopped []string
}

func (e *fakeEnv) recordStop(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = append(e.stopped, text)
}

func (e *fakeEnv) stopProcess(_ context.Context, in api.ProcessStopInput) (api.Process, error) {
	e.recordStop(in.ID + " " + in.Signal)
	return api.Process{}, nil
}

// newTestPane returns a visible pane with these processes, sorted by name.
func newTestPane(all ...api.Process) (*Pane, *fakeEnv) {
	e := &fakeEnv{}
	engine := panestest.NewEngine()
	panestest.On(engine, api.ProcessStop, e.stopProcess)
	e.API = engine
	e.Known.Connected, e.Known.Processes = true, all
	p := New(e)
	p.table.order = order{by: columnState} // what runs comes first
	p.Resize(100, 24)
	p.Show()
	return p, e
}

func TestHiddenPaneFetchesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, e := newTestPane(service("1", "web", nil))
		if p.Fetch() == nil {
			t.Error("nothing is fetched while it is shown")
		}
		p.table.storeMetrics(api.ProcessListOutput{}, nil)().(panes.Result)()
		p.Hide()
		if p.Fetch() != nil {
			t.Error("something is fetched while it is hidden")
		}
		p.Resize(0, 0)
		p.Show()
		if p.Fetch() != nil {
			t.Error("something is asked for where there is no room")
		}
		e.Known.Connected = false
	})
}

func TestOpenShowsASessionOrFocusesTheLog(t *testing.T) {
	shell := service("1", "bash", func(p *api.Process) { p.Kind = api.KindSession })
	p, e := newTestPane(shell, service("2", "web", nil))
	p.Select("1")
	panestest.Press(t, p.Actions(), keymap.Open)
	if e.Opened != "1" {
		t.Errorf("%q is opened", e.Opened)
	}
	p.Select("2")
	panestest.Press(t, p.Actions(), keymap.Open)
	if p.Scopes()[0] != keymap.ScopeLog {
		t.Error("the log has not got the keyboard")
	}
	panestest.Press(t, p.Actions(), keymap.LogLeave)
	if p.Scopes()[0] != keymap.ScopeProcesses {
		t.Error("the table has not got the keyboard back")
	}
}

func TestOpenRestoresASessionThatHasNoPaneAnyMore(t *testing.T) {
	session := func(id string, change func(p *api.Process)) api.Process {
		return service(id, id, func(p *api.Process) { p.Kind = api.KindSession; change(p) })
	}
	seven := 7
	p, e := newTestPane(
		session("killed", func(p *api.Process) { p.State = api.StateStopped }),
		session("failed", func(p *api.Process) { p.State, p.ExitCode = api.StateExited, &seven }),
		session("lost", func(p *api.Process) {
			p.State, p.Interrupted = api.StateExited, &api.Interruption{By: api.ByReboot}
		}),
	)
	for id, restored := range map[string]bool{"killed": true, "failed": false, "lost": false} {
		e.Restored, e.Opened = "", ""
		p.Select(id)
		panestest.Press(t, p.Actions(), keymap.Open)
		if (e.Restored == id) != restored || (e.Opened == id) == restored {
			t.Errorf("%s: restored %q, opened %q", id, e.Restored, e.Opened)
		}
	}
}

func TestStopAsksFirstAndAnnouncesTheExit(t *testing.T) {
	p, e := newTestPane(service("1", "web", nil))
	panestest.Press(t, p.Actions(), keymap.ProcessStop)
	q, ok := e.Shown.(*dialog.Question)
	if !ok || q.Title != "Stop web?" {
		t.Fatalf("dialog: %+v", e.Shown)
	}
	cmd := q.Then()().(panes.Result)()
	if len(e.Stopped) != 1 {
		t.Error("the dashboard does not know who ends it")
	}
	if panestest.RunAll(cmd); e.Said != "" || len(e.Stopped) != 1 {
		t.Errorf("said %q, stopped here %v", e.Said, e.Stopped)
	}
	if got := strings.Join(e.stopped, ", "); got != "1 " {
		t.Errorf("stopped %q", got)
	}
}

func TestDraggingMovesTheBorderUntilRelease(t *testing.T) {
	p, _ := newTestPane(service("1", "web", nil))
	p.Fetch()
	border := func() int {
		for y, row := range p.Draw() {
			if strings.HasPrefix(ansi.Strip(row), "─") {
				return y
			}
		}
		return -1
	}
	y := border()
	at := func(kind keys.MouseKind, y int) {
		p.Mouse(keys.Mouse{X: 5, Y: y, Kind: kind, Button: keys.ButtonLeft})
	}
	at(keys.MouseDown, y)
	at(keys.MouseMove, y+3)
	at(keys.MouseUp, y+4)
	at(keys.MouseMove, y+9)
	if got := border(); got != y+4 {
		t.Errorf("it went from %d to %d", y, got)
	}
}

func TestFilterSuggestsProcessNames(t *testing.T) {
	p, e := newTestPane(service("1", "web", nil), service("2", "worker", nil))
	panestest.Press(t, p.Actions(), keymap.Filter)
	o := e.Shown.(*dialog.Prompt)
	for _, r := range "wo" {
		o.Type(e, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	o.Type(e, tea.KeyPressMsg{Code: tea.KeyTab})
	if p.table.filter != "worker" {
		t.Errorf("the filter is %q", p.table.filter)
	}
}

func TestDetailShowsTheFailureReasonFirst(t *testing.T) {
	ended := noon.Add(-time.Minute)
	p, e := newTestPane(service("1", "web", func(p *api.Process) {
		p.State, p.PID, p.Error, p.ExitedAt = api.StateFailed, 0, "exited with 7; gave up after 3 restarts (none lasted 30s)", &ended
		p.Supervision.Automatic, p.Supervision.SplitLog = 3, true
	}))
	e.Inks.Glyphs = themes.UnicodeGlyphs()
	p.Fetch()
	rows := panestest.PlainRows(p.Draw())
	at := slices.IndexFunc(rows, func(row string) bool { return strings.HasPrefix(row, "─") })
	if !strings.Contains(rows[at], "serve web") || !strings.HasPrefix(rows[at+1], " ✗ exited with 7; gave up after 3 restarts (none lasted 30s), ran 1h29m, ") {
		t.Errorf("the detail begins with\n%s\n%s", rows[at], rows[at+1])
	}
	if p.logs.shown().Stream != "stderr" {
		t.Errorf("the log below is that of %s", p.logs.shown().Stream)
	}
}

func TestLogOfARunningProcessStartsBelowItsHeading(t *testing.T) {
	p, e := newTestPane(service("1", "web", nil))
	e.Inks.Glyphs = themes.UnicodeGlyphs()
	p.Fetch()
	parts := p.arrangement.layout()
	if parts.reason.H != 0 || parts.log.Y != parts.heading.Y+1 {
		t.Errorf("the log is at %+v below the heading at %+v", parts.log, parts.heading)
	}
}

func TestDeleteExitedAsksAndIgnoresMarks(t *testing.T) {
	ended := func(p *api.Process) { p.State, p.PID = api.StateStopped, 0 }
	p, e := newTestPane(service("1", "web", nil), service("2", "old", ended), service("3", "older", ended),
		service("4", "db", func(p *api.Process) { ended(p); p.Metrics = &api.Metrics{Processes: 1} }),
		service("5", "cache", func(p *api.Process) {
			ended(p)
			p.Project = &api.ProjectEntry{File: "/shop/tandem.yaml", Name: "cache"}
		}),
		service(api.OnMachine("pi", "6"), "distant", ended))
	panestest.On(e.API.(*panestest.Engine), api.ProcessRemove, func(_ context.Context, in api.IDInput) (api.Empty, error) {
		e.recordStop(in.ID)
		return api.Empty{}, nil
	})
	p.table.ToggleMark() // a mark makes no difference
	panestest.Press(t, p.Actions(), keymap.ProcessDeleteAll)
	q, ok := e.Shown.(*dialog.Question)
	if !ok || q.Title != "Delete 2 exited processes?" {
		t.Fatalf("dialog: %+v", e.Shown)
	}
	if note := strings.Join(q.Lines, " "); !strings.Contains(note, "Left out: db (processes it started still run), 1 of projects, 1 on other machines.") {
		t.Errorf("it says %q", note)
	}
	q.Then()()
	slices.Sort(e.stopped)
	if got := strings.Join(e.stopped, ", "); got != "2, 3" {
		t.Errorf("deleted %q", got)
	}
}

func TestRepeatingASearchWithoutAPatternAsksOnTheLog(t *testing.T) {
	p, e := newTestPane(service("1", "web", nil))
	panestest.Press(t, p.Actions(), keymap.LogNext)
	if e.Shown == nil || p.Scopes()[0] != keymap.ScopeLog {
		t.Errorf("dialog: %v, keys go to %v", e.Shown, p.Scopes())
	}
}
