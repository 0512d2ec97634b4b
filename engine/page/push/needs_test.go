package push

import (
	"testing"

	"tandem/engine/api"
)

func process(id string, state api.State, code int) api.Event {
	return api.Event{Type: api.EventProcess, Process: &api.Process{ID: id, Kind: api.KindProcess, State: state, ExitCode: &code}}
}

func agent(id string, state api.AgentState) api.Event {
	return api.Event{Type: api.EventProcess, Process: &api.Process{ID: id, Kind: api.KindSession, State: api.StateRunning, Agent: &api.CodingAgent{State: state}}}
}

func request(id, answer string) api.Event {
	return api.Event{Type: api.EventRequest, Request: &api.Request{ID: id, Answer: answer}}
}

func snapshot(events ...api.Event) api.Event {
	out := api.Event{Type: api.EventSnapshot}
	for _, e := range events {
		out.Processes = append(out.Processes, *e.Process)
	}
	return out
}

func TestNeedsRecognisesProcessesThatNeedTheUser(t *testing.T) {
	oneOff := process("a", api.StateExited, 1)
	oneOff.Process.Supervision = &api.Supervision{Transient: true}
	left := process("a", api.StateExited, 1)
	left.Process.Kind = api.KindSession
	unknown := process("a", api.StateExited, 0)
	unknown.Process.ExitCode = nil
	for _, test := range []struct {
		name   string
		events []api.Event
		news   bool
	}{
		{"an agent is blocked", []api.Event{agent("a", api.AgentWorking), agent("a", api.AgentBlocked)}, true},
		{"it was for a moment", []api.Event{agent("a", api.AgentBlocked), agent("a", api.AgentWorking)}, false},
		{"it is done", []api.Event{agent("a", api.AgentDone)}, false},
		{"its session is gone", []api.Event{agent("a", api.AgentBlocked), {Type: api.EventRemoved, ID: "a"}}, false},
		{"a request waits", []api.Event{request("q", "")}, true},
		{"it was answered", []api.Event{request("q", ""), request("q", "allow")}, false},
		{"a process has failed", []api.Event{process("a", api.StateRunning, 0), process("a", api.StateFailed, 1)}, true},
		{"it has exited with 1", []api.Event{process("a", api.StateExited, 1)}, true},
		{"nobody knows how it ended", []api.Event{unknown}, true},
		{"it is restarted", []api.Event{process("a", api.StateBackoff, 1)}, false},
		{"it has ended well", []api.Event{process("a", api.StateExited, 0)}, false},
		{"the user stopped it", []api.Event{process("a", api.StateStopped, 0)}, false},
		{"a command of an agent has failed", []api.Event{oneOff}, false},
		{"somebody left a shell", []api.Event{left}, false},
		{"the engine was away meanwhile", []api.Event{snapshot(agent("a", api.AgentBlocked))}, true},
	} {
		var n Needs
		n.Take(snapshot())
		for _, e := range test.events {
			n.Take(e)
		}
		if n.News() != test.news {
			t.Errorf("%s: %v", test.name, n.News())
		}
		n.Told()
		n.Take(test.events[len(test.events)-1])
		if n.News() {
			t.Errorf("%s: told again", test.name)
		}
	}
}

func TestFirstSnapshotTriggersNoPush(t *testing.T) {
	var n Needs
	n.Take(snapshot(agent("a", api.AgentBlocked), process("b", api.StateFailed, 1)))
	if n.News() {
		t.Error("it tells of what it found")
	}
	n.Take(request("q", ""))
	if !n.News() {
		t.Error("a request that waits is not told of")
	}
	n.Told()
	n.Take(snapshot(agent("a", api.AgentBlocked))) // another engine
	n.Take(request("q", ""))
	if n.News() {
		t.Error("what was told is told again")
	}
	n.Take(agent("a", api.AgentWorking))
	n.Take(agent("a", api.AgentBlocked))
	if !n.News() {
		t.Error("an agent that is blocked once more is not told of")
	}
}
