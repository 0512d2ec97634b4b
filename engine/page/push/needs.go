package push

import (
	"maps"

	"tandem/engine/api"
)

// Needs tracks what needs the user, from an engine's events: blocked agents, open requests, failed
// processes. Processes in the first snapshot are not news. Open requests are, since an agent is
// waiting.
type Needs struct {
	processes map[string]bool // by id; true once the user was notified
	requests  map[string]bool
}

// Take processes an event.
func (n *Needs) Take(e api.Event) {
	switch {
	case e.Type == api.EventSnapshot:
		n.takeSnapshot(e.Processes)
	case e.Type == api.EventProcess && e.Process != nil:
		setNeed(n.processes, e.Process.ID, needsUser(*e.Process))
	case e.Type == api.EventRemoved:
		setNeed(n.processes, e.ID, false)
	case e.Type == api.EventRequest && e.Request != nil:
		setNeed(n.requests, e.Request.ID, e.Request.Answer == "")
	}
}

func (n *Needs) takeSnapshot(all []api.Process) {
	before, first := n.processes, n.processes == nil
	n.processes = map[string]bool{}
	for _, p := range all {
		if needsUser(p) {
			n.processes[p.ID] = first || before[p.ID]
		}
	}
	if first {
		n.requests = map[string]bool{}
	}
	// Requests still open follow the snapshot as events.
	maps.DeleteFunc(n.requests, func(_ string, told bool) bool { return !told })
}

func setNeed(all map[string]bool, id string, needed bool) {
	if !needed {
		delete(all, id)
		return
	}
	// Keep the mark of a known one: it must not be sent twice.
	if _, known := all[id]; !known && all != nil {
		all[id] = false
	}
}

// needsUser reports whether a process needs the user. A process that restarts by itself does not.
func needsUser(p api.Process) bool {
	switch {
	case p.Agent != nil && p.Agent.State == api.AgentBlocked && !p.State.Ended():
		return true
	case p.Kind != api.KindProcess || p.Supervision != nil && p.Supervision.Transient:
		return false
	}
	return p.State == api.StateFailed || p.State == api.StateExited && (p.ExitCode == nil || *p.ExitCode != 0)
}

// News reports whether something needs the user that no notification was about yet.
func (n *Needs) News() bool { return hasNews(n.processes) || hasNews(n.requests) }

func hasNews(all map[string]bool) bool {
	for _, notified := range all {
		if !notified {
			return true
		}
	}
	return false
}

// Told marks everything as notified.
func (n *Needs) Told() {
	for _, all := range []map[string]bool{n.processes, n.requests} {
		for id := range all {
			all[id] = true
		}
	}
}
