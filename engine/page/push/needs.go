package push

import (
	"maps"

	"tandem/engine/api"
)

// Needs are what needs the person, as an engine's events tell: agents that are blocked,
// requests that wait, processes that have failed. What was so in the first snapshot is no
// news; a request that is open then is, for somebody waits for the answer.
type Needs struct {
	processes map[string]bool // by id; true once the person was told
	requests  map[string]bool
}

// Take learns an event.
func (n *Needs) Take(e api.Event) {
	switch {
	case e.Type == api.EventSnapshot:
		n.snapshot(e.Processes)
	case e.Type == api.EventProcess && e.Process != nil:
		set(n.processes, e.Process.ID, needs(*e.Process))
	case e.Type == api.EventRemoved:
		set(n.processes, e.ID, false)
	case e.Type == api.EventRequest && e.Request != nil:
		set(n.requests, e.Request.ID, e.Request.Answer == "")
	}
}

func (n *Needs) snapshot(all []api.Process) {
	before, first := n.processes, n.processes == nil
	n.processes = map[string]bool{}
	for _, p := range all {
		if needs(p) {
			n.processes[p.ID] = first || before[p.ID]
		}
	}
	if first {
		n.requests = map[string]bool{}
	}
	// Those that are open still are told after it.
	maps.DeleteFunc(n.requests, func(_ string, told bool) bool { return !told })
}

func set(all map[string]bool, id string, needed bool) {
	if !needed {
		delete(all, id)
		return
	}
	if _, known := all[id]; !known && all != nil {
		all[id] = false
	}
}

// needs reports whether a process needs the person. One that is restarted by itself does not.
func needs(p api.Process) bool {
	switch {
	case p.Agent != nil && p.Agent.State == api.AgentBlocked && !p.State.Ended():
		return true
	case p.Kind != api.KindProcess || p.Supervision != nil && p.Supervision.Transient:
		return false
	}
	return p.State == api.StateFailed || p.State == api.StateExited && (p.ExitCode == nil || *p.ExitCode != 0)
}

// News reports whether something needs the person that nobody was told of.
func (n *Needs) News() bool { return untold(n.processes) || untold(n.requests) }

func untold(all map[string]bool) bool {
	for _, told := range all {
		if !told {
			return true
		}
	}
	return false
}

// Told notes that the person knows of all of it.
func (n *Needs) Told() {
	for _, all := range []map[string]bool{n.processes, n.requests} {
		for id := range all {
			all[id] = true
		}
	}
}
