package panes

import (
	"slices"
	"strings"

	"tandem/engine/api"
)

// News is what is known of the engine. A copy shares nothing that changes.
type News struct {
	Serial    int  // counts changes
	Connected bool // a snapshot has arrived on the present connection
	Snapshots int  // one for each connection so far
	Attempts  int  // to connect that failed since the last one that did not
	Err       error
	Info      api.Info
	Processes []api.Process     // oldest first, those of other machines behind; never changed in place
	Machines  []Machine         // others, by name; never changed in place
	Fleet     *api.FleetSummary // more machines than are among Machines; nil: there are none
	Requests  []api.Request     // of agents, that nobody has answered, oldest first; never changed in place
	History   int64             // changes of the history, as far as the engine told
	Notices   []string
	Elsewhere []string    // notices of other machines, after their names
	Layout    *api.Layout // that a dashboard had last
	Revision  int64       // its number
	Show      *api.Layout // that shall be shown now; handed out once
	Policy    string      // why policy.toml does not apply as written; empty if it does
	Stopped   string      // why the engine will not come back; empty if it will

	gone []string // ids of processes that were removed last; never changed in place
}

// mostGone is how many of the removed processes are remembered.
const mostGone = 100

// Apply brings the news up to an event of the engine.
func (n *News) Apply(e api.Event) {
	n.Serial++
	switch e.Type {
	case api.EventSnapshot:
		n.Connected, n.Attempts, n.Err = true, 0, nil
		n.Snapshots++
		n.Requests, n.Policy = nil, ""
		n.Layout, n.Revision = e.Layout, e.Revision
		n.Processes = slices.Clone(e.Processes)
		slices.SortStableFunc(n.Processes, older)
		if e.Info != nil {
			n.Info = *e.Info
		}
	case api.EventProcess:
		if e.Process != nil {
			n.Processes = with(n.Processes, *e.Process)
		}
	case api.EventRemoved:
		n.Processes = without(n.Processes, e.ID)
		n.gone = append(slices.Clone(n.gone[max(len(n.gone)-mostGone, 0):]), e.ID)
	case api.EventRequest:
		if e.Request != nil {
			n.Requests = asked(n.Requests, *e.Request)
		}
	case api.EventHistory:
		n.History = e.History
	case api.EventKept:
		if e.Revision > n.Revision {
			n.Layout, n.Revision = e.Layout, e.Revision
		}
	case api.EventLayout:
		n.Show = e.Layout
	case api.EventPolicy:
		n.Policy = e.Fault
	case api.EventStopped:
		n.Stopped = e.Notice
	case api.EventNotice:
		n.Notices = append(slices.Clip(n.Notices), e.Notice)
	}
}

// Learn takes in a process that an operation has answered with, unless events
// have told more of it already: the answer and the events come on their own ways,
// and either may be first.
func (n *News) Learn(p api.Process) {
	if slices.Contains(n.gone, p.ID) {
		return
	}
	n.Serial++
	if !slices.ContainsFunc(n.Processes, func(other api.Process) bool { return other.ID == p.ID }) {
		n.Processes = with(n.Processes, p)
	}
}

// Ended takes in how a process has ended, if that run of it is not known to have.
func (n *News) Ended(p api.Process) {
	for i := range n.Processes {
		if was := &n.Processes[i]; was.ID == p.ID && !was.State.Ended() && was.StartedAt.Equal(p.StartedAt) {
			n.Processes = with(n.Processes, p)
			return
		}
	}
}

// Process is what is known of a process.
func (n *News) Process(id string) (api.Process, bool) {
	for i := range n.Processes {
		if n.Processes[i].ID == id {
			return n.Processes[i], true
		}
	}
	return api.Process{}, false
}

func older(a, b api.Process) int {
	if c := a.StartedAt.Compare(b.StartedAt); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

// with is list with p in it, in place of its former state or at the end.
func with(list []api.Process, p api.Process) []api.Process {
	for i := range list {
		if list[i].ID == p.ID {
			list = slices.Clone(list)
			list[i] = p
			return list
		}
	}
	return append(slices.Clip(list), p)
}

// without is list less the process with that id.
func without(list []api.Process, id string) []api.Process {
	for i := range list {
		if list[i].ID == id {
			return slices.Delete(slices.Clone(list), i, i+1)
		}
	}
	return list
}

// asked is list with r in it, or without it once it has been answered.
func asked(list []api.Request, r api.Request) []api.Request {
	at := slices.IndexFunc(list, func(other api.Request) bool { return other.ID == r.ID })
	list = slices.Clone(list)
	switch {
	case r.Answer != "" && at >= 0:
		return slices.Delete(list, at, at+1)
	case r.Answer != "":
		return list
	case at >= 0:
		list[at] = r
		return list
	}
	return append(list, r)
}
