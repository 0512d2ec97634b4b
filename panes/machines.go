package panes

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
)

// A Machine is another machine with the state of the connection to it.
type Machine struct {
	api.Machine
	Known bool // its sessions and processes are known, perhaps from before it went offline
}

// applyRemote applies an event of another machine, or the list of all other machines.
func (n *News) applyRemote(e api.Event) {
	switch e.Type {
	case api.EventMachines:
		n.putMachines(e.Machines, e.Fleet)
	case api.EventSnapshot:
		n.putSnapshot(e.Host, e.Processes)
		n.Machines = slices.Clone(n.Machines)
		if m := n.Machine(e.Host); m != nil {
			m.Known = true
		}
	case api.EventHistory:
		n.History++
	case api.EventNotice:
		n.RemoteNotices = append(slices.Clip(n.RemoteNotices), e.Host+": "+e.Notice)
	default:
		n.applyChange(e)
	}
}

// putMachines replaces the list of machines. It drops all that is known of machines missing in the
// new list.
func (n *News) putMachines(list []api.Machine, fleet *api.FleetSummary) {
	before := n.Machines
	n.Machines, n.Fleet = nil, fleet
	for _, m := range list {
		known := slices.ContainsFunc(before, func(old Machine) bool { return old.Name == m.Name && old.Known })
		n.Machines = append(n.Machines, Machine{Machine: m, Known: known})
	}
	for _, m := range before {
		if n.Machine(m.Name) == nil {
			n.dropMachine(m.Name)
		}
	}
	n.showRequests()
}

// dropMachine drops the processes and requests of a machine, "" for this one.
func (n *News) dropMachine(machine string) {
	n.Processes = slices.DeleteFunc(slices.Clone(n.Processes), func(p api.Process) bool { return machineOf(p.ID) == machine })
	of := func(r api.Request) bool { return machineOf(r.ID) == machine }
	n.every.open, n.every.answered = slices.DeleteFunc(slices.Clone(n.every.open), of), slices.DeleteFunc(slices.Clone(n.every.answered), of)
	n.showRequests()
}

// showRequests updates Requests and Answered. It leaves out the requests of offline machines, which
// cannot be answered.
func (n *News) showRequests() {
	away := func(r api.Request) bool { return !n.CanReach(r.ID) }
	n.Requests, n.Answered = slices.DeleteFunc(slices.Clone(n.every.open), away), slices.DeleteFunc(slices.Clone(n.every.answered), away)
}

// OfflineReason returns, in a few words, why a machine cannot be reached; "" if it is connected.
func (m *Machine) OfflineReason(now time.Time) string {
	switch {
	case m.State == api.MachineConnected:
		return ""
	case m.State == api.MachineNeedsYou:
		return "needs you"
	case m.State == api.MachineConnecting:
		return "connecting"
	case m.LastSeen == nil || now.Sub(*m.LastSeen) < time.Second:
		return "away"
	}
	return "away for " + units.Age(now.Sub(*m.LastSeen))
}

// Machine returns another machine by name; nil if there is none.
func (n *News) Machine(name string) *Machine {
	at := slices.IndexFunc(n.Machines, func(m Machine) bool { return m.Name == name })
	if at < 0 {
		return nil
	}
	return &n.Machines[at]
}

// AgentSummary counts the coding agents on a machine by state, as in "1 blocked, 2 working". The
// name of this machine is "".
func (n *News) AgentSummary(machine string) (text string, blocked bool) {
	var count api.AgentCount
	for i := range n.Processes {
		if on, _ := api.MachineOf(n.Processes[i].ID); on == machine {
			count.Add(n.Processes[i].Agent)
		}
	}
	return count.String(), count.Blocked > 0
}

// CanReach reports whether calls for the process with this id can succeed: it is on this machine or
// on a connected one.
func (n *News) CanReach(id string) bool {
	name, _ := api.MachineOf(id)
	m := n.Machine(name)
	return name == "" || m != nil && m.State == api.MachineConnected
}

// MayHave reports whether a process that is not listed may exist, because its machine has not
// reported its processes yet.
func (n *News) MayHave(id string) bool {
	name, _ := api.MachineOf(id)
	m := n.Machine(name)
	return name != "" && m != nil && !m.Known
}
