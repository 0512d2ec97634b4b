package panes

import (
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/qualify"
)

// machinesAre is the event that lists machines, each "name=state".
func machinesAre(list ...string) api.Event {
	e := api.Event{Type: api.EventMachines}
	for _, text := range list {
		name, state, _ := strings.Cut(text, "=")
		e.Machines = append(e.Machines, api.Machine{Name: name, State: api.MachineState(state)})
	}
	return e
}

// snapshotOf is a snapshot of a machine, "" for this one.
func snapshotOf(machine string, ids ...string) api.Event {
	e := api.Event{Type: api.EventSnapshot}
	for _, id := range ids {
		e.Processes = append(e.Processes, api.Process{ID: id})
	}
	if machine == "" {
		return e
	}
	return qualify.Event(machine, e)
}

func requestOf(machine, id string) api.Event {
	return qualify.Event(machine, api.Event{Type: api.EventRequest, Request: &api.Request{ID: id}})
}

// describe returns the ids of all processes, a bar, and the ids of all requests.
func describe(n *News) string {
	var ids []string
	for _, p := range n.Processes {
		ids = append(ids, p.ID)
	}
	ids = append(ids, "|")
	for _, r := range n.Requests {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func TestNewsKeepsTheMachinesApart(t *testing.T) {
	var n News
	for i, step := range []struct {
		event api.Event
		want  string
	}{
		{snapshotOf("", "a"), "a |"},
		{machinesAre("box=connected", "pi=connected"), "a |"},
		{snapshotOf("pi", "1", "2"), "a pi/1 pi/2 |"},
		{snapshotOf("box", "1"), "a box/1 pi/1 pi/2 |"},
		{api.Event{Type: api.EventProcess, Process: &api.Process{ID: "b"}}, "a b box/1 pi/1 pi/2 |"},
		{qualify.Event("box", api.Event{Type: api.EventProcess, Process: &api.Process{ID: "2"}}), "a b box/1 box/2 pi/1 pi/2 |"},
		{qualify.Event("pi", api.Event{Type: api.EventRemoved, ID: "1"}), "a b box/1 box/2 pi/2 |"},
		{requestOf("pi", "q"), "a b box/1 box/2 pi/2 | pi/q"},
		{requestOf("box", "q"), "a b box/1 box/2 pi/2 | box/q pi/q"},
		// An unstable link hides the requests of its machine, because they cannot be answered, and
		// shows them again.
		{machinesAre("box=away", "pi=connected"), "a b box/1 box/2 pi/2 | pi/q"},
		{machinesAre("box=connected", "pi=connected"), "a b box/1 box/2 pi/2 | box/q pi/q"},
		// A new engine there sends its open requests again.
		{snapshotOf("box", "2"), "a b box/2 pi/2 | pi/q"},
		{requestOf("box", "q"), "a b box/2 pi/2 | box/q pi/q"},
		// After a restart, the engine here knows the machines and connects to them again.
		{api.Event{Type: api.EventSnapshot, Machines: machinesAre("box=connecting", "pi=connecting").Machines, Processes: snapshotOf("", "a").Processes}, "a box/2 pi/2 |"},
		{machinesAre("box=connected"), "a box/2 | box/q"},
		{machinesAre(), "a |"},
	} {
		before := n
		old := slices.Clone(before.Processes)
		n.Apply(step.event)
		if got := describe(&n); got != strings.TrimSpace(step.want) && got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
		for j := range old {
			if before.Processes[j].ID != old[j].ID {
				t.Errorf("step %d changes a snapshot", i)
			}
		}
	}
}

func TestMachineIsKnownOnceItHasReportedItsProcesses(t *testing.T) {
	var n News
	n.Apply(machinesAre("box=connecting"))
	if !n.MayHave("box/1") || n.MayHave("pi/1") {
		t.Error("what an unknown machine may have")
	}
	n.Apply(snapshotOf("box"))
	n.Apply(machinesAre("box=away"))
	if n.MayHave("box/1") || !n.Machine("box").Known {
		t.Error("a machine that is offline is not known any more")
	}
	n.Apply(machinesAre())
	n.Apply(machinesAre("box=connecting"))
	if n.Machine("box").Known {
		t.Error("a machine that is configured anew is known")
	}
}

func TestNewsCountsChangesOfAllHistories(t *testing.T) {
	var n News
	for _, e := range []api.Event{{Type: api.EventHistory, History: 7}, qualify.Event("box", api.Event{Type: api.EventHistory, History: 7}), {Type: api.EventHistory, History: 1}} {
		before := n.History
		if n.Apply(e); n.History == before {
			t.Errorf("%+v is not a change", e)
		}
	}
	n.Apply(qualify.Event("box", api.Event{Type: api.EventNotice, Notice: "full"}))
	if !slices.Equal(n.RemoteNotices, []string{"box: full"}) || n.Notices != nil {
		t.Errorf("notices %q and %q", n.RemoteNotices, n.Notices)
	}
}
