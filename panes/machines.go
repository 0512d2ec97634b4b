package panes

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/units"
)

// A Machine is another machine and what is known of it.
type Machine struct {
	api.Machine
	Told bool // its sessions and processes are known, be it from before it went away
}

// Away says in a few words why a machine cannot be asked for anything; "" if it can.
func (m *Machine) Away(now time.Time) string {
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

// Machine is what is known of another machine; nil if there is none of this name.
func (n *News) Machine(name string) *Machine {
	at := slices.IndexFunc(n.Machines, func(m Machine) bool { return m.Name == name })
	if at < 0 {
		return nil
	}
	return &n.Machines[at]
}

// Doing is how many coding agents on a machine, "" for the own one, are blocked, have done
// what nobody has looked at, and work: "1 blocked, 2 working".
func (n *News) Doing(machine string) (text string, blocked bool) {
	var count api.AgentCount
	for i := range n.Processes {
		if on, _ := api.MachineOf(n.Processes[i].ID); on == machine {
			count.Add(n.Processes[i].Agent)
		}
	}
	return count.String(), count.Blocked > 0
}

// Reaches reports whether what is called id can be asked for anything: it is here,
// or on a machine that is connected.
func (n *News) Reaches(id string) bool {
	name, _ := api.MachineOf(id)
	m := n.Machine(name)
	return name == "" || m != nil && m.State == api.MachineConnected
}

// With is all processes, and those of a layout that are expected.
func (n *News) With(l api.Layout) []api.Process {
	all := slices.Clip(n.Processes)
	tabs := l.Tabs
	if l.Float != nil {
		tabs = append(slices.Clip(tabs), *l.Float)
	}
	for _, tab := range tabs {
		for _, node := range tab.Nodes {
			if n.Expects(node.ID) {
				all = append(all, api.Process{ID: node.ID, Name: node.Name, Kind: api.KindSession, State: api.StateRunning})
			}
		}
	}
	return all
}

// Expects reports whether a process may be there though nothing is known of it: it
// is on a machine that has told nothing yet.
func (n *News) Expects(id string) bool {
	name, _ := api.MachineOf(id)
	m := n.Machine(name)
	return name != "" && m != nil && !m.Told
}
