package panes

import (
	"cmp"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/layout"
)

// News is the state of the engine as received so far. Copying it gives a snapshot.
type News struct {
	Serial        int  // counts changes
	Connected     bool // a snapshot has arrived on this connection
	Snapshots     int  // number of connections so far
	Attempts      int  // failed attempts to connect, in a row
	Err           error
	Info          api.Info
	Processes     []api.Process     // oldest first, those of other machines last; never changed in place
	Machines      []Machine         // the others, by name; never changed in place
	Fleet         *api.FleetSummary // of a fleet with more machines than Machines; nil without one
	Requests      []api.Request     // open ones of agents, oldest first, those of connected machines last; never changed in place
	Answered      []api.Request     // those with a standing answer, in the order of the answers; never changed in place
	History       int64             // counts changes of the history
	Notices       []string
	RemoteNotices []string    // notices of other machines, prefixed with their names
	Layout        *api.Layout // never changed in place
	Revision      int64       // of Layout
	Show          string      // session to go to now, if session ShowIn has the keyboard; handed out once
	ShowIn        string
	Policy        string // why policy.toml does not apply as written; "" if it does
	Stopped       string // why the engine will not come back; "" if it will

	removed []string // ids of the processes removed last; never changed in place
	every   requests
}

// requests are the open and the answered requests of all machines, including offline ones.
type requests struct{ open, answered []api.Request }

const maxRemoved = 100

// Apply updates the state with an event of the engine.
func (n *News) Apply(e api.Event) {
	n.Serial++
	if e.Host != "" || e.Type == api.EventMachines {
		n.applyRemote(e)
		return
	}
	switch e.Type {
	case api.EventSnapshot:
		n.Connected, n.Attempts, n.Err = true, 0, nil
		n.Snapshots++
		n.Policy = ""
		n.Layout, n.Revision = e.Layout, e.Revision
		n.putMachines(e.Machines, e.Fleet)
		n.putSnapshot("", e.Processes)
		if e.Info != nil {
			n.Info = *e.Info
		}
	case api.EventHistory:
		n.History++
	case api.EventLayout:
		if e.Revision > n.Revision {
			var before api.Layout
			if n.Layout != nil {
				before = *n.Layout
			}
			after := layout.Apply(before, e.Changes...)
			n.Layout, n.Revision = &after, e.Revision
		}
	case api.EventShow:
		n.Show, n.ShowIn = e.Show, e.ID
	case api.EventPolicy:
		n.Policy = e.Fault
	case api.EventStopped:
		n.Stopped = e.Notice
	case api.EventNotice:
		n.Notices = append(slices.Clip(n.Notices), e.Notice)
	default:
		n.applyChange(e)
	}
}

// applyChange applies a change of a process or request, on any machine.
func (n *News) applyChange(e api.Event) {
	switch e.Type {
	case api.EventProcess:
		if e.Process != nil {
			n.Processes = putProcess(n.Processes, *e.Process)
		}
	case api.EventRemoved:
		n.Processes = dropProcess(n.Processes, e.ID)
		// Keep the id, so that a late reply cannot bring the process back; see AddProcess.
		n.removed = append(slices.Clone(n.removed[max(len(n.removed)-maxRemoved, 0):]), e.ID)
	case api.EventRequest:
		if e.Request != nil {
			n.every.open = updateRequests(n.every.open, *e.Request, e.Request.Answer == "")
			n.every.answered = updateRequests(n.every.answered, *e.Request, e.Request.Always)
			n.showRequests()
		}
	}
}

// putSnapshot replaces the processes of a machine, "" for this one. It also drops the machine's
// requests, because the open ones follow as events.
func (n *News) putSnapshot(machine string, processes []api.Process) {
	processes = slices.Clone(processes)
	slices.SortStableFunc(processes, compareAge)
	n.dropMachine(machine)
	n.Processes = slices.Insert(n.Processes, endOf(n.Processes, machine, processID), processes...)
}

// AddProcess adds a process from a reply. A reply and the events about a process travel separately,
// so either may arrive first: AddProcess changes nothing if the process is known or was removed
// already.
func (n *News) AddProcess(p api.Process) {
	if slices.Contains(n.removed, p.ID) {
		return
	}
	n.Serial++
	if !slices.ContainsFunc(n.Processes, func(other api.Process) bool { return other.ID == p.ID }) {
		n.Processes = putProcess(n.Processes, p)
	}
}

// RecordExit stores the exit of a process, unless that exit or a later run is known already.
func (n *News) RecordExit(p api.Process) {
	for i := range n.Processes {
		if known := &n.Processes[i]; known.ID == p.ID && !known.State.Ended() && known.StartedAt.Equal(p.StartedAt) {
			n.Processes = putProcess(n.Processes, p)
			return
		}
	}
}

// DropInterruptions makes interrupted sessions count as exited, so that none is offered for
// restoring.
func (n *News) DropInterruptions() {
	interrupted := func(p api.Process) bool { return p.Interrupted != nil }
	if !slices.ContainsFunc(n.Processes, interrupted) {
		return
	}
	n.Processes = slices.Clone(n.Processes)
	for i := range n.Processes {
		n.Processes[i].Interrupted = nil
	}
}

func (n *News) Process(id string) (api.Process, bool) {
	for i := range n.Processes {
		if n.Processes[i].ID == id {
			return n.Processes[i], true
		}
	}
	return api.Process{}, false
}

// ByID returns the processes by their ids. Use it to look up many processes, and Process for a
// single one.
func (n *News) ByID() map[string]*api.Process {
	all := make(map[string]*api.Process, len(n.Processes))
	for i := range n.Processes {
		all[n.Processes[i].ID] = &n.Processes[i]
	}
	return all
}

func compareAge(a, b api.Process) int {
	return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID))
}

// putProcess returns a copy of list with p in place of its former state. A new process is inserted
// after the others of its machine.
func putProcess(list []api.Process, p api.Process) []api.Process {
	for i := range list {
		if list[i].ID == p.ID {
			list = slices.Clone(list)
			list[i] = p
			return list
		}
	}
	return slices.Insert(slices.Clone(list), endOf(list, machineOf(p.ID), processID), p)
}

func processID(p api.Process) string { return p.ID }

func requestID(r api.Request) string { return r.ID }

func machineOf(id string) string {
	machine, _ := api.MachineOf(id)
	return machine
}

// endOf returns the index at which the rows of a machine end in a list sorted by machine.
func endOf[T any](list []T, machine string, id func(T) string) int {
	at := slices.IndexFunc(list, func(row T) bool { return machineOf(id(row)) > machine })
	if at < 0 {
		return len(list)
	}
	return at
}

func dropProcess(list []api.Process, id string) []api.Process {
	return slices.DeleteFunc(slices.Clone(list), func(p api.Process) bool { return p.ID == id })
}

// updateRequests returns a copy of list with r in place of its former state if keep is set, and
// without r otherwise.
func updateRequests(list []api.Request, r api.Request, keep bool) []api.Request {
	list = slices.DeleteFunc(slices.Clone(list), func(other api.Request) bool { return other.ID == r.ID })
	if keep {
		list = slices.Insert(list, endOf(list, machineOf(r.ID), requestID), r)
	}
	return list
}
