package ui

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/panestest"
)

// farAway gives an engine another machine, box, with a session there.
func farAway(e *fakeEngine) (box *fakeEngine) {
	box = newFakeEngine()
	box.add("there")
	e.machines = map[string]*fakeEngine{"box": box}
	e.known = []api.Machine{{Name: "box", State: api.MachineConnected}}
	panestest.On(e.Engine, api.MachineList, func(context.Context, api.MachineListInput) (api.MachineListOutput, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		return api.MachineListOutput{Machines: e.known}, nil
	})
	return box
}

// Reach is the engine of another machine.
func (e *fakeEngine) Reach(_ context.Context, machine string) (panes.Engine, error) {
	if far := e.machines[machine]; far != nil {
		return far, nil
	}
	return nil, errGone
}

// typedInto is what was typed into a session, by its number.
func (e *fakeEngine) typedInto(i int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(e.sessions[i].typed)
}

func (e *fakeEngine) startedAll() []api.SessionStartInput {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.started)
}

// tellMachine has the engine say how it is with box.
func (e *fakeEngine) tellMachine(state api.MachineState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known = []api.Machine{{Name: "box", State: state, Error: "no answer"}}
	e.tell(api.Event{Type: api.EventMachine, Machine: &e.known[0]})
}

func TestNoticeOfAnotherMachineDoesNotHideThisOnes(t *testing.T) {
	e := newFakeEngine()
	e.add("here")
	box := farAway(e)
	d := drive(t, e, 160, 24)
	d.shows("● there")
	notify := func(e *fakeEngine, text string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.tell(api.Event{Type: api.EventNotice, Notice: text})
	}
	notify(e, "config.toml line 2: no such key")
	d.shows("config.toml line 2")
	notify(box, "config.toml line 1: no such theme")
	d.shows("config.toml line 2: no such key; box: config.toml line 1: no such theme")

	d.m.notices.unsay()
	d.update(settingsMsg{Fault: "config.toml line 3: there is no key"})
	d.m.notices.unsay()
	notify(box, "config.toml line 1: no such theme")
	d.shows("config.toml line 3: there is no key; box: config.toml line 1: no such theme")

	d.update(settingsMsg{})
	d.m.notices.unsay()
	notify(box, "config.toml line 1: no such theme")
	d.shows("box: config.toml line 1")
	d.lacks("line 3")
}

func TestSessionsOfAMachineAreAGroupAndAreUsedLikeOwnOnes(t *testing.T) {
	e := newFakeEngine()
	e.add("here")
	box := farAway(e)
	d := drive(t, e, 120, 24)
	d.shows("● there")
	at := strings.Index(d.screen(), "box")
	if at < 0 || at > strings.Index(d.screen(), "● there") || !strings.Contains(d.screen(), "this machine") {
		t.Fatalf("the list:\n%s", d.screen())
	}
	if len(d.m.sessions.tabs.All) != 1 {
		t.Errorf("tabs of sessions that nobody has opened: %d", len(d.m.sessions.tabs.All))
	}
	d.press("ctrl+b", "s", "G", "enter")
	d.shows("─ box/there ")
	d.press("'far")
	d.until("the keys arrive there", func() bool { return box.typedInto(0) == "far" })
	d.press("ctrl+b", "%")
	d.until("a session starts there", func() bool { return len(box.startedAll()) == 1 })
	if in := box.startedAll()[0]; strings.Contains(in.ID, "/") || in.Environ != nil || len(e.startedAll()) > 0 {
		t.Errorf("asked there: %+v, here: %+v", in, e.startedAll())
	}
}

func TestAMachineThatIsAwayIsDimmedAndFailsByName(t *testing.T) {
	e := newFakeEngine()
	e.add("here")
	box := farAway(e)
	d := drive(t, e, 120, 24)
	d.shows("● there")
	e.tellMachine(api.MachineAway)
	d.shows("away")
	d.press("ctrl+b", "s", "G", "n")
	d.shows("box: away: no answer")
	if len(e.startedAll())+len(box.startedAll()) > 0 {
		t.Error("something was started")
	}
	d.shows("● there") // its last snapshot stays
}

func TestALayoutWithAMachineThatIsStillToComeIsKept(t *testing.T) {
	e := newFakeEngine()
	here := e.add("here")
	box := farAway(e)
	there := box.add("second")
	e.known[0].State = api.MachineAway
	e.layouts.current = &api.Layout{Tabs: []api.LayoutTab{{Nodes: []api.LayoutNode{
		{Axis: api.AxisBeside, Share: 5000}, {ID: here.process.ID}, {ID: "box/" + there.process.ID, Name: "second"}}}}}
	d := drive(t, e, 140, 24)
	d.until("the layout is there", func() bool {
		return len(d.m.sessions.tabs.All) == 1 && len(d.m.sessions.tabs.Leaves()) == 2
	})
	e.tellMachine(api.MachineConnected)
	d.shows("─ box/second ")
	d.press("ctrl+b", "right", "'x")
	d.until("it is attached", func() bool { return box.typedInto(1) == "x" })
}

func TestTheListOfMachinesCountsThemAlone(t *testing.T) {
	e := newFakeEngine()
	e.add("here")
	farAway(e)
	d := drive(t, e, 120, 24)
	d.shows("1 machine")
	d.press("ctrl+b", "M")
	d.shows("Add a machine…")
	if line := regexp.MustCompile(`Machines +(\d+) `).FindStringSubmatch(d.screen()); len(line) < 2 || line[1] != "1" {
		t.Errorf("it counts %q:\n%s", line, d.screen())
	}
	d.press("'add")
	d.shows("0 of 1")
}

func TestUpgradingIsOfferedWhereItWorks(t *testing.T) {
	for _, over := range []struct {
		ssh  bool
		want string
	}{{true, "Upgrade"}, {false, "Remove"}} {
		e := newFakeEngine()
		e.add("here")
		farAway(e)
		e.known[0].SSH = over.ssh
		d := drive(t, e, 120, 24)
		d.shows("1 machine")
		d.press("ctrl+b", "M")
		d.shows("Add a machine…")
		d.press("enter")
		d.shows("New session")
		d.shows(over.want)
		if strings.Contains(d.screen(), "Upgrade") != over.ssh {
			t.Errorf("over ssh %v:\n%s", over.ssh, d.screen())
		}
	}
}

func TestAMachineTellsWhatItsAgentsAreDoing(t *testing.T) {
	e := newFakeEngine()
	e.add("here")
	box := farAway(e)
	box.add("second")
	for i, state := range []api.AgentState{api.AgentBlocked, api.AgentWorking} {
		box.sessions[i].process.Agent = &api.CodingAgent{Name: "claude", State: state}
	}
	d := drive(t, e, 120, 24)
	d.shows("1 blocked, 1 working")
	if !regexp.MustCompile(`(?m)^ box +1 blocked, 1 working`).MatchString(d.screen()) {
		t.Errorf("the row of box:\n%s", d.screen())
	}
	if !regexp.MustCompile(`(?m)^ this machine  +[│├┤]`).MatchString(d.screen()) {
		t.Errorf("the row of this machine:\n%s", d.screen())
	}
	d.press("ctrl+b", "M")
	d.shows("Add a machine…")
	d.shows("connected    1 blocked, 1 working")
}
