package history

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/panestest"
	"tandem/themes"
)

// fleetPane returns a pane of a dashboard with a fleet; answer answers the searches, recorded in
// asked.
func fleetPane(t *testing.T, answer func(api.FleetHistoryInput) (api.FleetHistoryOutput, error)) (p *Pane, asked *[]api.FleetHistoryInput) {
	t.Helper()
	p, e, here := newTestPane("ls")
	here()
	asked = new([]api.FleetHistoryInput)
	engine := panestest.NewEngine()
	panestest.On(engine, api.FleetHistory, func(_ context.Context, in api.FleetHistoryInput) (api.FleetHistoryOutput, error) {
		*asked = append(*asked, in)
		return answer(in)
	})
	e.API = engine
	e.Inks = look.Look{Glyphs: themes.UnicodeGlyphs()}
	e.Known.Fleet = &api.FleetSummary{Machines: 1000, Away: 3}
	return p, asked
}

// answerFetch answers the current request.
func (p *Pane) answerFetch(t *testing.T) {
	t.Helper()
	cmd := p.finder.fetchRows()
	if cmd == nil {
		t.Fatal("nothing is asked for")
	}
	if then, ok := cmd().(panes.Result); ok {
		then()
	}
}

func (p *Pane) drawText() string { return ansi.Strip(strings.Join(p.Draw(), "\n")) }

func fleetRow(machine, command string, ago time.Duration) api.FleetHistoryRow {
	return api.FleetHistoryRow{Machine: machine, HistoryRow: api.HistoryRow{Runs: 1, Command: api.Command{ID: 7, Command: command, Process: "s", StartedAt: time.Now().Add(-ago)}}}
}

func TestFleetHistoryCountsMachinesWithoutWaiting(t *testing.T) {
	out := api.FleetHistoryOutput{Rows: []api.FleetHistoryRow{fleetRow("m18", "id", time.Second), fleetRow("m17", "reboot", time.Minute)}, Total: 2, Found: 2, Serial: 5, Asking: true, Machines: 1000, Answered: 400, Away: 3}
	p, asked := fleetPane(t, func(in api.FleetHistoryInput) (api.FleetHistoryOutput, error) { return out, nil })
	if s := p.drawText(); !strings.Contains(s, "fleet 1,000 machines") {
		t.Errorf("before the fleet is shown:\n%s", s)
	}
	panestest.Press(t, p.Actions(), keymap.HistoryFleet)
	p.answerFetch(t)
	if s := p.drawText(); !strings.Contains(s, "fleet 400 of 1,000 machines, 3 offline ") || !strings.Contains(s, "asking…") || !strings.Contains(s, "m17   reboot") {
		t.Errorf("during the search:\n%s", s)
	}
	out = api.FleetHistoryOutput{Rows: append([]api.FleetHistoryRow{fleetRow("m20", "uptime", time.Second)}, out.Rows...), Total: 1000, Found: 48_211, Serial: 9, Machines: 1000, Answered: 990, Away: 3, Slow: 7}
	p.finder.list.Move(1)
	p.answerFetch(t)
	if in := (*asked)[1]; in.Since != 5 || in.WaitMS == 0 || in.Key != (*asked)[0].Key || (*asked)[0].Since != 0 {
		t.Errorf("asked %+v", *asked)
	}
	if s := p.drawText(); !strings.Contains(s, "fleet 990 of 1,000 machines, 3 offline, 7 slow, 48,211 found") || strings.Contains(s, "asking") || !strings.Contains(s, "uptime") {
		t.Errorf("after the search:\n%s", s)
	}
	if row, _ := p.Selected(); row.Host != "m17" || row.Process != "m17/s" {
		t.Errorf("the cursor is on %+v", row)
	}
	p.HandleNews(&panes.News{})
	if p.finder.fetchRows() != nil && p.finder.list.total <= p.finder.list.height {
		t.Error("they are asked again")
	}
	panestest.Press(t, p.Actions(), keymap.HistoryFleet)
	if r, ok := p.finder.list.NextRequest(); !ok || p.finder.fleet.shown || !r.reset {
		t.Errorf("back on this machine: request %+v, %v", r, ok)
	}
}

func TestFleetQuerySelectsMachines(t *testing.T) {
	p, asked := fleetPane(t, func(in api.FleetHistoryInput) (api.FleetHistoryOutput, error) {
		return api.FleetHistoryOutput{Serial: 1}, nil
	})
	panestest.Press(t, p.Actions(), keymap.HistoryFleet)
	p.finder.query.here = true
	p.finder.query.field.Set("make host:web-* label:zone=a test")
	p.finder.startSearch(0)
	p.answerFetch(t)
	in := (*asked)[0]
	if in.Machines != "host:web-* label:zone=a" || in.Search.Query != "make test" || in.Search.CWD != "/home/ann/src" {
		t.Errorf("asked %+v", in)
	}
	panestest.Press(t, p.Actions(), keymap.HistorySession)
	if p.finder.query.session {
		t.Error("a session is looked for on all machines")
	}
}

func TestFleetSearchIsRetriedAfterAnError(t *testing.T) {
	broken := true
	p, _ := fleetPane(t, func(in api.FleetHistoryInput) (out api.FleetHistoryOutput, err error) {
		if broken {
			return out, api.Errorf(api.CodeUnavailable, "the hub cannot be reached")
		}
		return api.FleetHistoryOutput{Serial: 1, Total: 1, Rows: []api.FleetHistoryRow{fleetRow("m", "make", 0)}}, nil
	})
	panestest.Press(t, p.Actions(), keymap.HistoryFleet)
	p.answerFetch(t)
	if s := p.drawText(); !strings.Contains(s, "the hub cannot be reached") {
		t.Errorf("shown:\n%s", s)
	}
	broken = false
	p.finder.list.Refresh() // happens after a while
	p.answerFetch(t)
	if s := p.drawText(); !strings.Contains(s, "make") {
		t.Errorf("after the retry:\n%s", s)
	}
}
