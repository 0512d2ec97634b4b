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
	"tandem/panes/panestest"
	"tandem/panes/widget"
	"tandem/themes"
)

// fleetPane is a pane beside a fleet, whose histories answer gives to what is asked of them.
func fleetPane(t *testing.T, answer func(api.FleetHistoryInput) (api.FleetHistoryOutput, error)) (p *Pane, asked *[]api.FleetHistoryInput) {
	t.Helper()
	p, e, here := shownPane("ls")
	here()
	asked = new([]api.FleetHistoryInput)
	engine := panestest.NewEngine()
	panestest.On(engine, api.FleetHistory, func(_ context.Context, in api.FleetHistoryInput) (api.FleetHistoryOutput, error) {
		*asked = append(*asked, in)
		return answer(in)
	})
	e.API = engine
	e.Inks = widget.Look{Glyphs: themes.UnicodeGlyphs()}
	e.Known.Fleet = &api.FleetSummary{Machines: 1000, Away: 3}
	return p, asked
}

// step has what is asked for now answered.
func (p *Pane) step(t *testing.T) {
	t.Helper()
	cmd := p.fetch()
	if cmd == nil {
		t.Fatal("nothing is asked for")
	}
	if then, ok := cmd().(panes.Result); ok {
		then()
	}
}

func (p *Pane) screen() string { return ansi.Strip(strings.Join(p.Draw(), "\n")) }

func ran(machine, command string, ago time.Duration) api.FleetHistoryRow {
	return api.FleetHistoryRow{Machine: machine, HistoryRow: api.HistoryRow{Runs: 1, Command: api.Command{ID: 7, Command: command, Process: "s", StartedAt: time.Now().Add(-ago)}}}
}

func TestTheHistoryOfAFleetCountsMachinesAndWaitsForNone(t *testing.T) {
	out := api.FleetHistoryOutput{Rows: []api.FleetHistoryRow{ran("m18", "id", time.Second), ran("m17", "reboot", time.Minute)}, Total: 2, Found: 2, Serial: 5, Asking: true, Machines: 1000, Answered: 400, Away: 3}
	p, asked := fleetPane(t, func(in api.FleetHistoryInput) (api.FleetHistoryOutput, error) { return out, nil })
	if s := p.screen(); !strings.Contains(s, "fleet 1,000 machines") {
		t.Errorf("before it is\n%s", s)
	}
	p.press(t, keymap.HistoryFleet)
	p.step(t)
	if s := p.screen(); !strings.Contains(s, "fleet 400 of 1,000 machines, 3 away ") || !strings.Contains(s, "asking…") || !strings.Contains(s, "m17   reboot") {
		t.Errorf("while they are asked it is\n%s", s)
	}
	out = api.FleetHistoryOutput{Rows: append([]api.FleetHistoryRow{ran("m20", "uptime", time.Second)}, out.Rows...), Total: 1000, Found: 48_211, Serial: 9, Machines: 1000, Answered: 990, Away: 3, Slow: 7}
	p.list.Move(1)
	p.step(t)
	if in := (*asked)[1]; in.Since != 5 || in.WaitMS == 0 || in.Key != (*asked)[0].Key || (*asked)[0].Since != 0 {
		t.Errorf("asked %+v", *asked)
	}
	if s := p.screen(); !strings.Contains(s, "fleet 990 of 1,000 machines, 3 away, 7 slow, 48,211 found") || strings.Contains(s, "asking") || !strings.Contains(s, "uptime") {
		t.Errorf("at the end it is\n%s", s)
	}
	if row, _ := p.Selected(); row.Host != "m17" || row.Process != "m17/s" {
		t.Errorf("the cursor is on %+v", row)
	}
	p.HandleNews(&panes.News{})
	if p.fetch() != nil && p.list.total <= p.list.height {
		t.Error("they are asked again")
	}
	p.press(t, keymap.HistoryFleet)
	if r, ok := p.list.Next(); !ok || p.fleet.on || !r.anew {
		t.Errorf("back here it asks %+v, %v", r, ok)
	}
}

func TestAQueryOfAFleetSaysWhichMachinesAreAsked(t *testing.T) {
	p, asked := fleetPane(t, func(in api.FleetHistoryInput) (api.FleetHistoryOutput, error) {
		return api.FleetHistoryOutput{Serial: 1}, nil
	})
	p.press(t, keymap.HistoryFleet)
	p.here = true
	p.field.Set("make host:web-* label:zone=a test")
	p.search(0)
	p.step(t)
	in := (*asked)[0]
	if in.Machines != "host:web-* label:zone=a" || in.Search.Query != "make test" || in.Search.CWD != "/home/ann/src" {
		t.Errorf("asked %+v", in)
	}
	p.press(t, keymap.HistorySession)
	if p.session {
		t.Error("a session is looked for on all machines")
	}
}

func TestAFleetThatCannotBeSearchedIsTriedAgain(t *testing.T) {
	broken := true
	p, _ := fleetPane(t, func(in api.FleetHistoryInput) (out api.FleetHistoryOutput, err error) {
		if broken {
			return out, api.Errorf(api.CodeUnavailable, "the hub cannot be reached")
		}
		return api.FleetHistoryOutput{Serial: 1, Total: 1, Rows: []api.FleetHistoryRow{ran("m", "make", 0)}}, nil
	})
	p.press(t, keymap.HistoryFleet)
	p.step(t)
	if s := p.screen(); !strings.Contains(s, "the hub cannot be reached") {
		t.Errorf("it says\n%s", s)
	}
	broken = false
	p.list.Refresh() // it does after a while
	p.step(t)
	if s := p.screen(); !strings.Contains(s, "make") {
		t.Errorf("then it says\n%s", s)
	}
}
