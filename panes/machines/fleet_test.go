package machines

import (
	"context"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/panestest"
)

// onFleet shows a fleet of three machines.
func onFleet(t *testing.T) *view {
	t.Helper()
	d := onMachines(t)
	d.env.Known.Fleet = &api.FleetSummary{Machines: 3, Away: 1}
	panestest.On(d.engine, api.FleetStatus, func(context.Context, api.Empty) (api.FleetStatusOutput, error) {
		return api.FleetStatusOutput{Hub: "tls://hub:4222", As: []api.FleetSelf{{Kind: "person", Name: "ann", Role: "operator"}}, RTTMS: 3, InMessages: 10, OutMessages: 4, Reconnects: 2}, nil
	})
	panestest.On(d.engine, api.FleetList, func(context.Context, api.FleetListInput) (api.FleetListOutput, error) {
		return api.FleetListOutput{Machines: []api.FleetMachine{
			{Name: "fine", State: api.FleetConnected, Version: "1.2", Processes: 4, RTTMS: 7, Labels: map[string]string{"rack": "a", "os": "linux"}},
			{Name: "off", State: api.FleetAway, Version: "1.1", LastSeen: time.Now().Add(-2 * time.Hour)},
			{Name: "sick", State: api.FleetConnected, Version: "1.2", Processes: 5, Failed: 2},
		}}, nil
	})
	d.dialog.UpdateChoices()
	d.WaitText("The fleet…")
	d.Press("'fleet", "enter")
	return d
}

func TestFleetShowsHubThenMachinesByUrgency(t *testing.T) {
	d := onFleet(t)
	d.WaitText("2 of 3 machines connected")
	for _, want := range []string{"hub hub:4222", "ann, may operator  3 ms", "9 up, 2 failed", "1.2 × 2  1.1 × 1", "10 in, 4 out, 2 reconnections", "fine  rack=a", "4 up  7 ms  1.2", "5 up, 2 failed", "away for 2h"} {
		d.WaitText(want)
	}
	screen := d.Screen()
	off, sick, fine := strings.Index(screen, " off "), strings.Index(screen, " sick "), strings.Index(screen, " fine ")
	if off > sick || sick > fine {
		t.Errorf("not in order of urgency:\n%s", screen)
	}
	d.CheckRows()
}

func TestFleetReportsUnreachableEngine(t *testing.T) {
	d := onMachines(t)
	panestest.On(d.engine, api.FleetStatus, func(context.Context, api.Empty) (api.FleetStatusOutput, error) {
		return api.FleetStatusOutput{}, api.Errorf(api.CodeUnavailable, "no hub")
	})
	d.Run(d.dialog.showFleet())
	d.WaitText("no hub")
}

func TestFleetShowsHubWithoutItsMachines(t *testing.T) {
	h := &health{status: api.FleetStatusOutput{Hub: "hub", As: []api.FleetSelf{{Kind: "person", Error: "token revoked"}}}, at: time.Now()}
	env := &panestest.Env{}
	var lines []string
	for _, c := range h.listChoices(api.Errorf(api.CodeUnavailable, "timed out"), env.Look()) {
		lines = append(lines, c.Text+": "+c.Detail)
	}
	for _, want := range []string{"hub hub: token revoked", "cannot list the machines: timed out"} {
		if !strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("no %q in %q", want, lines)
		}
	}
}

func TestTrafficIsARateOnceTwoStatesAreKnown(t *testing.T) {
	first := &health{status: api.FleetStatusOutput{InMessages: 10, OutMessages: 20, InBytes: 1000, OutBytes: 1000}, at: time.Unix(100, 0)}
	if got := first.trafficText(); got != "10 in, 20 out" {
		t.Errorf("first: %q", got)
	}
	second := &health{status: api.FleetStatusOutput{InMessages: 30, OutMessages: 40, InBytes: 2024, OutBytes: 2024}, at: time.Unix(102, 0), before: first}
	if got := second.trafficText(); got != "10/s in, 10/s out, 1.0K/s" {
		t.Errorf("second: %q", got)
	}
}

func TestFleetMachineIsShownOrStartsASession(t *testing.T) {
	d := onFleet(t)
	d.WaitText("2 of 3 machines connected")
	var asked []api.MachineConnectInput
	panestest.On(d.engine, api.MachineConnect, func(_ context.Context, in api.MachineConnectInput) (api.Machine, error) {
		asked = append(asked, in)
		return api.Machine{State: api.MachineConnecting}, nil
	})
	d.Press("'fine", "enter")
	d.WaitText("its sessions, processes, history and files here")
	d.Press("'Show", "enter")
	d.WaitText("connecting to fine…")
	d.Run(d.dialog.askFleetAction("off"))
	d.WaitText("off is offline")
	d.env.Known.Machines = []panes.Machine{machine("fine", api.MachineConnected, ofFleet)}
	d.Run(d.dialog.askFleetAction("fine"))
	d.WaitText("hides it from the dashboard")
	d.Press("'Hide", "enter")
	d.WaitText("fine is no longer shown")
	if len(asked) != 2 || asked[0].Name != "fine" || asked[0].Close || !asked[1].Close {
		t.Errorf("asked for %+v", asked)
	}
}

func TestRoundTripIsRounded(t *testing.T) {
	for ms, want := range map[float64]string{0: "", -1: "", 0.4: "<1 ms", 1: "1 ms", 12.6: "13 ms"} {
		if got := formatRoundTrip(ms); got != want {
			t.Errorf("%v: %q, want %q", ms, got, want)
		}
	}
}
