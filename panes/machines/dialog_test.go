package machines

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/panestest"
	"tandem/themes"
)

// A view is the dialog on a screen, in a dashboard with other machines.
type view struct {
	*panestest.Driver
	env    *panestest.Env
	dialog *Dialog
	engine *panestest.Engine
}

// ran returns the arguments of the tandem command that was started in a session.
func (d *view) ran() []string {
	if d.env.Visited == nil {
		return nil
	}
	return d.env.Visited[1:]
}

func onMachines(t *testing.T, all ...panes.Machine) *view {
	t.Helper()
	env := &panestest.Env{}
	engine := panestest.NewEngine()
	env.API = engine
	env.Inks.Glyphs = themes.UnicodeGlyphs()
	env.Known.Machines = all
	dialog := New(env)
	d := &view{panestest.DriveDialogs(t, env, 120, 30), env, dialog, engine}
	d.Run(dialog.Show())
	d.WaitText("Add a machine…")
	return d
}

// machine returns a machine reached by ssh.
func machine(name string, state api.MachineState, change ...func(*panes.Machine)) panes.Machine {
	m := panes.Machine{Machine: api.Machine{Name: name, State: state, Target: "me@" + name, SSH: true, Version: "1.2"}}
	for _, f := range change {
		f(&m)
	}
	return m
}

func ofFleet(m *panes.Machine) { m.Fleet, m.SSH = true, false }

func TestListShowsStateOfEachMachine(t *testing.T) {
	seen := time.Now().Add(-5 * time.Minute)
	d := onMachines(t,
		machine("box", api.MachineConnected, func(m *panes.Machine) { m.RTTMS = 12 }),
		machine("far", api.MachineAway, func(m *panes.Machine) { m.LastSeen, m.Error = &seen, "no\x1b[2J answer" }),
		machine("new", api.MachineNeedsYou))
	for _, want := range []string{"● box  me@box", "connected  12 ms  1.2", "far  me@far", "away for 5m: no", "new  me@new", "needs you"} {
		d.WaitText(want)
	}
	d.CheckRows()
	d.Press("'add")
	d.WaitText("0 of 3") // adding is no machine
}

func TestListCountsAgentsOfEachMachineByState(t *testing.T) {
	d := onMachines(t, machine("box", api.MachineConnected))
	for i, state := range []api.AgentState{api.AgentBlocked, api.AgentWorking} {
		d.env.Known.Processes = append(d.env.Known.Processes, api.Process{ID: "box/" + string(rune('a'+i)), Agent: &api.CodingAgent{Name: "claude", State: state}})
	}
	d.dialog.UpdateChoices()
	d.WaitText("1 blocked, 1 working")
}

func TestOpenMachineListIsUpdatedByNews(t *testing.T) {
	d := onMachines(t, machine("box", api.MachineConnected))
	d.env.Known.Machines = []panes.Machine{machine("box", api.MachineAway)}
	d.dialog.UpdateChoices()
	d.WaitText("away")
	d.WaitNoText("connected")
	d.Press("esc")
	d.dialog.UpdateChoices() // does not open it again
	d.WaitNoText("Add a machine…")
}

func TestOnlyPossibleActionsAreOffered(t *testing.T) {
	offline := func(m *panes.Machine) { m.State = api.MachineAway }
	command := func(m *panes.Machine) { m.SSH = false }
	for _, test := range []struct {
		change []func(*panes.Machine)
		fleet  bool
		want   string
	}{
		{nil, false, "New session, Upgrade, Remove"},
		{[]func(*panes.Machine){command}, false, "New session, Remove"},
		{[]func(*panes.Machine){offline}, false, "Connect, Upgrade, Remove"},
		{[]func(*panes.Machine){ofFleet}, true, "New session, Hide"},
		{[]func(*panes.Machine){ofFleet, offline}, true, "Connect, Hide"},
		{[]func(*panes.Machine){ofFleet}, false, "New session"},
	} {
		d := onMachines(t)
		if test.fleet {
			d.env.Known.Fleet = &api.FleetSummary{Machines: 1}
		}
		m := machine("box", api.MachineConnected, test.change...)
		var offered []string
		for _, action := range d.dialog.actionsFor(&m) {
			offered = append(offered, action.text)
		}
		if got := strings.Join(offered, ", "); got != test.want {
			t.Errorf("%+v: offered %s, want %s", m, got, test.want)
		}
	}
}

func TestActionsRunOnTheChosenMachine(t *testing.T) {
	d := onMachines(t, machine("box", api.MachineConnected), machine("far", api.MachineConnected))
	d.Press("down", "enter")
	d.WaitText("New session")
	d.Press("enter")
	if d.env.StartedOn != "far" {
		t.Errorf("started on %q", d.env.StartedOn)
	}
	d.Run(d.dialog.Show())
	d.WaitText("Add a machine…")
	d.Press("enter", "'upgr", "enter")
	if want := []string{"machine", "upgrade", "box"}; !slices.Equal(d.ran(), want) {
		t.Errorf("ran %q, want %q", d.ran(), want)
	}
}

func TestRemovedMachineHasNoActions(t *testing.T) {
	d := onMachines(t, machine("box", api.MachineConnected))
	d.env.Known.Machines = nil
	d.Press("enter")
	d.WaitText("machine box was removed")
}

func TestRemovingAMachineAsksFirst(t *testing.T) {
	d := onMachines(t, machine("box", api.MachineConnected))
	d.Press("enter", "'remove", "enter")
	d.WaitText("Remove machine box?")
	d.WaitText("Programs there keep running.")
	d.Press("esc")
	d.WaitNoText("Remove machine box?")
}

func TestConnectReportsItsResult(t *testing.T) {
	for _, test := range []struct {
		now  api.Machine
		err  error
		want string
	}{
		{api.Machine{State: api.MachineConnected}, nil, "connected to box"},
		{api.Machine{State: api.MachineAway, Error: "no route"}, nil, "box: away: no route"},
		{api.Machine{}, api.Errorf(api.CodeNotFound, "no machine box"), "no machine box"},
	} {
		d := onMachines(t, machine("box", api.MachineAway))
		panestest.On(d.engine, api.MachineConnect, func(_ context.Context, in api.MachineConnectInput) (api.Machine, error) {
			if in.Name != "box" {
				t.Errorf("connects to %q", in.Name)
			}
			return test.now, test.err
		})
		d.Press("enter", "enter")
		d.WaitText(test.want)
	}
}

func TestOpenMachineStartsSessionOrConnects(t *testing.T) {
	for state, want := range map[api.MachineState]string{
		api.MachineConnected: "session on box",
		api.MachineNeedsYou:  "machine connect box", // it may ask for a password
		api.MachineAway:      "call",
	} {
		d := onMachines(t, machine("box", state))
		called := false
		panestest.On(d.engine, api.MachineConnect, func(context.Context, api.MachineConnectInput) (api.Machine, error) {
			called = true
			return api.Machine{State: api.MachineConnected}, nil
		})
		d.Run(d.dialog.OpenMachine("box"))
		got := ""
		switch {
		case d.env.StartedOn != "":
			got = "session on " + d.env.StartedOn
		case d.ran() != nil:
			got = strings.Join(d.ran(), " ")
		default:
			d.WaitText("connected to box")
			if called {
				got = "call"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}

func TestAddingAMachineRunsTandemInASession(t *testing.T) {
	d := onMachines(t)
	d.Press("enter")
	d.WaitText("NAME me@host, or NAME and the command that reaches it")
	for _, bad := range []string{"box", "box 'me"} {
		d.Press("ctrl+u", "'"+bad, "enter")
		d.WaitText("needs a name, and user@host or a command")
		if d.ran() != nil {
			t.Errorf("%s: ran %q", bad, d.ran())
		}
	}
	d.Press("ctrl+u", "'box me@box", "enter")
	if want := []string{"machine", "add", "box", "me@box"}; !slices.Equal(d.ran(), want) {
		t.Errorf("ran %q, want %q", d.ran(), want)
	}
	d.Run(d.dialog.askAdd())
	d.WaitText("NAME me@host")
	d.Press("'box docker exec -i 'a b' tandem", "enter")
	if want := []string{"machine", "add", "box", "--", "docker", "exec", "-i", "a b", "tandem"}; !slices.Equal(d.ran(), want) {
		t.Errorf("ran %q, want %q", d.ran(), want)
	}
}

func TestSummaryCountsMachinesByState(t *testing.T) {
	box, far, you := machine("box", api.MachineConnected), machine("far", api.MachineAway), machine("new", api.MachineNeedsYou)
	fleet := machine("fleet1", api.MachineConnected, ofFleet)
	for _, test := range []struct {
		all         []panes.Machine
		fleet       *api.FleetSummary
		long, short string
		bad         bool
	}{
		{nil, nil, "", "", false},
		{[]panes.Machine{box}, nil, "1 machine", "", false},
		{[]panes.Machine{box, far, you}, nil, "3 machines, 1 offline, 1 waiting for you", "1/3", true},
		{[]panes.Machine{box, fleet}, nil, "2 machines", "", false},
		{[]panes.Machine{box, fleet}, &api.FleetSummary{Machines: 40, Away: 2}, "41 machines, 2 offline", "39/41", true},
	} {
		n := &panes.News{Machines: test.all, Fleet: test.fleet}
		long, bad := Summary(n, false)
		short, _ := Summary(n, true)
		if long != test.long || short != test.short || bad != test.bad {
			t.Errorf("%d machines, fleet %+v: %q, %q, %v", len(test.all), test.fleet, long, short, bad)
		}
	}
}
