package list

import (
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
)

// A MachineRow is the heading above the sessions of a machine.
type MachineRow struct {
	Name   string
	Status string // in a word or two
	Ink    look.Ink
}

// machineRowID returns the id of the row with a machine's heading. No session has such an id.
func machineRowID(machine string) string { return machine + "/" }

// ThisMachine is the name shown for this machine if other machines are shown too.
const ThisMachine = "this machine"

// groupByMachine puts the rows of each machine below a heading, unless this machine is the only
// one. If there is a filter, machines without a match get no heading. A strip has no headings at
// all, and keeps the order of the tabs.
func (p *Pane) groupByMachine(rows []Row) []Row {
	known := p.env.News().Machines
	if len(known) == 0 {
		return rows
	}
	if p.h == 1 {
		return slices.DeleteFunc(rows, func(r Row) bool {
			on, _ := api.MachineOf(r.Process.ID)
			return on != "" && p.env.News().Machine(on) == nil
		})
	}
	var out []Row
	add := func(machine string, head MachineRow, away bool) {
		at := len(out)
		for _, r := range rows {
			if on, _ := api.MachineOf(r.Process.ID); on == machine {
				r.Offline = away
				out = append(out, r)
			}
		}
		if p.filter == "" || len(out) > at {
			out = slices.Insert(out, at, Row{Process: api.Process{ID: machineRowID(machine)}, Machine: &head, Offline: away})
		}
	}
	own := MachineRow{Name: ThisMachine, Ink: p.env.Look().Dim}
	p.addAgentSummary(&own, "")
	add("", own, false)
	for i := range known {
		m := &known[i]
		add(m.Name, p.machineRow(m), m.State != api.MachineConnected)
	}
	return out
}

// addAgentSummary adds the states of a machine's coding agents to its heading.
func (p *Pane) addAgentSummary(h *MachineRow, machine string) {
	doing, blocked := p.env.News().AgentSummary(machine)
	if doing != "" {
		h.Status = doing
	}
	if blocked {
		h.Ink = p.env.Look().Warn
	}
}

func (p *Pane) machineRow(m *panes.Machine) MachineRow {
	look := p.env.Look()
	h := MachineRow{Name: m.Name, Status: m.OfflineReason(time.Now()), Ink: look.Dim}
	switch m.State {
	case api.MachineConnected:
		h.Status = "connected"
		p.addAgentSummary(&h, m.Name)
	case api.MachineNeedsYou:
		h.Ink = look.Warn
	}
	return h
}

// Machine returns the machine under the cursor, "" for this one.
func (p *Pane) Machine() string {
	machine, _ := api.MachineOf(p.list.Selected())
	return machine
}

// matchesFilter reports whether a session matches a filter: it contains each word, and its machine
// matches the value of host:, if there is one.
func matchesFilter(p api.Process, filter string) bool {
	machine, words := list.CutHost(filter)
	on, _ := api.MachineOf(p.ID)
	if !list.OnHost(machine, on) {
		return false
	}
	text := p.Name + " " + p.ShownName() + " " + p.Command + " " + p.CWD + " " + p.Actor + " " + on
	if p.Terminal != nil {
		text += " " + p.Terminal.Title
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(words))
}
