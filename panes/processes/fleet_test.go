package processes

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/panestest"
	"tandem/themes"
)

// A fakeFleet is an engine with a fleet of many processes, named by their numbers. It records the
// queries.
type fakeFleet struct {
	total int
	asked []api.FleetProcessesInput
	away  bool
	first int // number of the first one
}

func (f *fakeFleet) processes(_ context.Context, in api.FleetProcessesInput) (api.FleetProcessesOutput, error) {
	f.asked = append(f.asked, in)
	out := api.FleetProcessesOutput{Serial: int64(len(f.asked)), Offset: in.Offset, Total: f.total, Matching: f.total, All: f.total, At: -1, Machines: 1000, Labels: []string{"role"}}
	if in.Find != "" {
		_, _ = fmt.Sscanf(in.Find, "box/id%d", &out.At)
		out.At -= f.first
	}
	for i := in.Offset; i < min(in.Offset+in.Limit, f.total); i++ {
		id := i + f.first
		out.Lines = append(out.Lines, api.FleetLine{Host: "box", Away: f.away,
			Process: &api.Process{ID: fmt.Sprintf("id%d", id), Name: fmt.Sprintf("n%05d", id), Kind: api.KindProcess, State: api.StateRunning}})
	}
	if in.Group != "" {
		out.Lines = []api.FleetLine{{Group: &api.FleetGroup{Name: "web", Machines: 7, Processes: 50, Running: 49, Failed: 1}}}
		out.Total = 1
	}
	return out, nil
}

// fleetPane returns a pane showing a fleet.
func fleetPane(t *testing.T, total int) (*Pane, *fakeEnv, *fakeFleet) {
	t.Helper()
	p, e := newTestPane(service("1", "mine", nil))
	f := &fakeFleet{total: total}
	panestest.On(e.API.(*panestest.Engine), api.FleetProcesses, f.processes)
	e.Inks = look.Look{Glyphs: themes.UnicodeGlyphs()}
	e.Known.Fleet = &api.FleetSummary{Machines: 1000, Away: 3, Processes: total, Failed: 12}
	p.HandleNews(&e.Known)
	panestest.Press(t, p.Actions(), keymap.ProcessFleet)
	runFetch(p)
	return p, e, f
}

// runFetch runs the current query and stores its answer.
func runFetch(p *Pane) {
	if cmd := p.tables.fetch(p.arrangement.layout().table.H - 1); cmd != nil {
		if then, ok := cmd().(panes.Result); ok {
			then()
		}
	}
}

func screenOf(p *Pane) string { return ansi.Strip(strings.Join(p.Draw(), "\n")) }

func TestFleetWindowFollowsTheCursor(t *testing.T) {
	p, _, f := fleetPane(t, 50_000)
	if s := screenOf(p); !strings.Contains(s, "n00000") || !strings.Contains(s, "1/50000") || !strings.Contains(s, "fleet 50,000 on 1,000 machines, 12 failed, 3 offline") {
		t.Errorf("shown:\n%s", s)
	}
	panestest.Press(t, p.Actions(), keymap.MoveLast)
	if s := screenOf(p); !strings.Contains(s, "…") {
		t.Errorf("before the rows are there:\n%s", s)
	}
	runFetch(p)
	if s := screenOf(p); !strings.Contains(s, "n49999") {
		t.Errorf("at the end:\n%s", s)
	}
	if one, ok := p.Selected(); !ok || one.ID != "box/id49999" {
		t.Errorf("the cursor is on %+v", one)
	}
	panestest.Press(t, p.Actions(), keymap.MoveUp)
	asked := len(f.asked)
	runFetch(p)
	if last := f.asked[len(f.asked)-1]; len(f.asked) != asked+1 || last.WaitMS == 0 || last.Find != "box/id49998" {
		t.Errorf("near the end of the window: query %+v", last)
	}
}

func TestFleetTableListsSessions(t *testing.T) {
	p, _, f := fleetPane(t, 50_000)
	panestest.Press(t, p.Actions(), keymap.ProcessFleet) // back to the local processes
	p.ShowFleet("kind:session")
	runFetch(p)
	if last := f.asked[len(f.asked)-1]; last.Filter != "kind:session" || !p.tables.fleet.shown {
		t.Errorf("query: %+v", last)
	}
	one, e := newTestPane(service("1", "mine", nil))
	one.ShowFleet("kind:session")
	if one.tables.shown().rows.filter != "" || one.tables.fleet.shown || !strings.Contains(e.Said, "no large fleet") {
		t.Errorf("without a fleet: message %q, filter %q", e.Said, one.tables.shown().rows.filter)
	}
}

// Other processes come before it.
func TestFleetCursorStaysOnItsProcess(t *testing.T) {
	p, _, f := fleetPane(t, 50_000)
	for range 5 {
		panestest.Press(t, p.Actions(), keymap.MoveDown)
	}
	f.first = -3
	runFetch(p)
	if one, _ := p.Selected(); one.ID != "box/id5" || p.tables.shown().cursor != 8 {
		t.Errorf("the cursor is on %s in row %d", one.ID, p.tables.shown().cursor)
	}
}

func TestFleetQueryCarriesFilterOrderAndGroup(t *testing.T) {
	p, e, f := fleetPane(t, 50_000)
	p.tables.shown().SetFilter("host:web-* state:failed")
	panestest.Press(t, p.Actions(), keymap.ProcessSortName)
	panestest.Press(t, p.Actions(), keymap.ProcessReverse)
	runFetch(p)
	if last := f.asked[len(f.asked)-1]; last.Filter != "host:web-* state:failed" || last.Sort != api.FleetByName || !last.Reversed || last.WaitMS != 0 {
		t.Errorf("query: %+v", last)
	}
	p.tables.shown().SetFilter("")
	panestest.Press(t, p.Actions(), keymap.ProcessGroup)
	u := e.Shown.(*dialog.Picker)
	u.Type(e, tea.KeyPressMsg{Text: "role"})
	u.Do(e, keymap.Accept)
	runFetch(p)
	if s := screenOf(p); !strings.Contains(s, "▸ web") || !strings.Contains(s, "49/50 up, 1 failed  7 machines") {
		t.Errorf("in groups:\n%s", s)
	}
	panestest.Press(t, p.Actions(), keymap.Open)
	runFetch(p)
	if last := f.asked[len(f.asked)-1]; last.Group != "label:role" || strings.Join(last.Open, " ") != "web" {
		t.Errorf("with an open group: query %+v", last)
	}
}

// A key typed after a filter must apply to a match, even before the engine has answered.
func TestFleetFilterAppliesBeforeTheReply(t *testing.T) {
	p, e, _ := fleetPane(t, 50_000)
	p.tables.shown().SetFilter("n00007")
	panestest.Press(t, p.Actions(), keymap.MoveLast)
	panestest.Press(t, p.Actions(), keymap.ProcessStop)
	if q, ok := e.Shown.(*dialog.Question); !ok || q.Title != "Stop box/n00007?" {
		t.Errorf("dialog: %+v", e.Shown)
	}
	p.tables.shown().SetFilter("host:b* n00007") // only the engine can evaluate this
	if s := screenOf(p); !strings.Contains(s, "…") {
		t.Errorf("shown:\n%s", s)
	}
	runFetch(p)
}

func TestActionReachesMarkedFleetProcessesOutsideTheWindow(t *testing.T) {
	p, e, _ := fleetPane(t, 50_000)
	panestest.Press(t, p.Actions(), keymap.Mark)
	panestest.Press(t, p.Actions(), keymap.MoveLast)
	runFetch(p)
	panestest.Press(t, p.Actions(), keymap.Mark)
	panestest.Press(t, p.Actions(), keymap.ProcessStop)
	q, ok := e.Shown.(*dialog.Question)
	if !ok || q.Title != "Stop 2 processes?" {
		t.Fatalf("dialog: %+v", e.Shown)
	}
	q.Then()().(panes.Result)()
	if got := strings.Join(e.Stopped, " "); got != "box/id0 box/id49999" {
		t.Errorf("it stops %s", got)
	}
}

func TestRowsOfAnOfflineMachineAreDim(t *testing.T) {
	p, _, f := fleetPane(t, 10)
	f.away = true
	runFetch(p)
	if one, _ := p.Selected(); one.State != "away" || !strings.Contains(screenOf(p), "?   n00001        box       away") {
		t.Errorf("%+v\n%s", one, screenOf(p))
	}
	f.away = false
	runFetch(p)
	if one, _ := p.Selected(); one.State != api.StateRunning {
		t.Errorf("after the reconnect: %+v", one)
	}
}

func TestFleetTableClosesWithoutAFleet(t *testing.T) {
	p, e, _ := fleetPane(t, 10)
	e.Known.Fleet = nil
	p.HandleNews(&e.Known)
	if s := screenOf(p); !strings.Contains(s, "mine") || strings.Contains(s, "fleet") {
		t.Errorf("shown:\n%s", s)
	}
	if panestest.Press(t, p.Actions(), keymap.ProcessFleet); e.Said == "" || p.tables.fleet.shown {
		t.Error("the key is not answered")
	}
}

func TestClearWithoutAFilterKeepsTheGroups(t *testing.T) {
	p, _, _ := fleetPane(t, 50_000)
	p.tables.fleet.group = "host"
	runFetch(p)
	panestest.Press(t, p.Actions(), keymap.Clear)
	if s := screenOf(p); !strings.Contains(s, "▸ web") {
		t.Errorf("shown:\n%s", s)
	}
}
