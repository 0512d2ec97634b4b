package sessions

import (
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/widget"
)

// A Head is the row above the sessions of a machine.
type Head struct {
	Name string
	How  string // it is, in a word or two
	Ink  widget.Ink
}

// headID is what stands for a machine where sessions have their ids.
func headID(machine string) string { return machine + "/" }

// ThisMachine is what the own machine is called beside others.
const ThisMachine = "this machine"

// grouped puts the rows of each machine below a row of its own, where there are
// others than this one. A filter leaves only machines that have what matches.
func (p *Pane) grouped(rows []Row) []Row {
	known := p.env.News().Machines
	if len(known) == 0 {
		return rows
	}
	var out []Row
	add := func(machine string, head Head, away bool) {
		at := len(out)
		for _, r := range rows {
			if on, _ := api.MachineOf(r.Process.ID); on == machine {
				r.Away = away
				out = append(out, r)
			}
		}
		if p.h != 1 && (p.filter == "" || len(out) > at) {
			out = slices.Insert(out, at, Row{Process: api.Process{ID: headID(machine)}, Head: &head, Away: away})
		}
	}
	own := Head{Name: ThisMachine, Ink: p.env.Look().Dim}
	p.addDoing(&own, "")
	add("", own, false)
	for i := range known {
		m := &known[i]
		add(m.Name, p.head(m), m.State != api.MachineConnected)
	}
	return out
}

// addDoing has a row say what the coding agents on its machine are doing, if there are any.
func (p *Pane) addDoing(h *Head, machine string) {
	doing, blocked := p.env.News().AgentSummary(machine)
	if doing != "" {
		h.How = doing
	}
	if blocked {
		h.Ink = p.env.Look().Warn
	}
}

func (p *Pane) head(m *panes.Machine) Head {
	look := p.env.Look()
	h := Head{Name: m.Name, How: m.OfflineReason(time.Now()), Ink: look.Dim}
	switch m.State {
	case api.MachineConnected:
		h.How = "connected"
		p.addDoing(&h, m.Name)
	case api.MachineNeedsYou:
		h.Ink = look.Warn
	}
	return h
}

// Machine is the machine that the cursor is at, "" for the own one.
func (p *Pane) Machine() string {
	machine, _ := api.MachineOf(p.list.Selected())
	return machine
}

// matches reports whether a filter leaves a session: each of its words is somewhere
// in what is told of it, but for host:, which is about its machine.
func matches(p api.Process, filter string) bool {
	machine, words := widget.CutHost(filter)
	on, _ := api.MachineOf(p.ID)
	if !widget.OnHost(machine, on) {
		return false
	}
	text := p.Name + " " + p.Command + " " + p.CWD + " " + p.Actor + " " + on
	if p.Terminal != nil {
		text += " " + p.Terminal.Title
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(words))
}
