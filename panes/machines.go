package panes

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
)

// A Machine is another machine and its connection state.
type Machine struct {
	api.Machine
	Known bool // its sessions and processes are known, perhaps from before it went offline
}

// OfflineReason returns in a few words why a machine cannot be called; "" if it is connected.
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

// AgentSummary counts the coding agents on a machine by state: "1 blocked, 2 working". The empty
// name is this machine.
func (n *News) AgentSummary(machine string) (text string, blocked bool) {
	var count api.AgentCount
	for i := range n.Processes {
		if on, _ := api.MachineOf(n.Processes[i].ID); on == machine {
			count.Add(n.Processes[i].Agent)
		}
	}
	return count.String(), count.Blocked > 0
}

// CanReach reports whether calls for an id can succeed: it is of this machine, or of a connected
// one.
func (n *News) CanReach(id string) bool {
	name, _ := api.MachineOf(id)
	m := n.Machine(name)
	return name == "" || m != nil && m.State == api.MachineConnected
}

// MayHave reports whether an unknown process may exist: its machine has not reported its processes
// yet.
func (n *News) MayHave(id string) bool {
	name, _ := api.MachineOf(id)
	m := n.Machine(name)
	return name != "" && m != nil && !m.Known
}
