package history

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
)

const (
	// fleetWait is how long the engine waits for machines to answer before it tells what it has,
	// and fleetLater how long it is let be after an error.
	fleetWait  = 500 * time.Millisecond
	fleetLater = 2 * time.Second
)

// A fleet is the history of a fleet of many machines, which the own engine asks when it is shown
// in place of that of the machines that the dashboard is connected to.
type fleet struct {
	on       bool
	key      string // of its searches
	machines string // which are asked, as api.FleetHistoryInput has it
	anew     bool   // they are asked with the next request, whatever is known
	out      api.FleetHistoryOutput
}

// ofFleet says what machines of the fleet are asked: what is about a folder is about all of that
// name.
func (f *finder) ofFleet(in *api.HistorySearchInput) {
	var machines, words []string
	for _, word := range strings.Fields(in.Query) {
		if strings.HasPrefix(word, "host:") || strings.HasPrefix(word, "label:") {
			machines = append(machines, word)
		} else {
			words = append(words, word)
		}
	}
	if f.fleet.machines = strings.Join(machines, " "); len(machines) > 0 {
		in.Query = strings.Join(words, " ")
	}
	_, in.CWD = api.PathOf(in.CWD)
	f.fleet.anew = true
}

// fetchFleet asks for rows of the fleet. ctx ends with the next request.
func (f *finder) fetchFleet(ctx context.Context, r Request) tea.Cmd {
	in := api.FleetHistoryInput{Search: r.Input, Machines: f.fleet.machines, Key: f.fleet.key, Since: f.fleet.out.Serial, WaitMS: int(fleetWait / time.Millisecond)}
	if f.fleet.anew {
		in.Since = 0
	}
	f.fleet.anew = false
	return panes.Ask(ctx, f.env, func(ctx context.Context, e panes.Engine) (api.FleetHistoryOutput, error) {
		_ = sleep.For(ctx, r.Delay)
		return api.FleetHistory.Call(ctx, e, in)
	}, func(out api.FleetHistoryOutput, err error) tea.Cmd {
		if ctx.Err() != nil || !f.fleet.on {
			return nil // something else is asked for
		}
		if err != nil {
			f.take(r, api.HistorySearchOutput{}, err)
			return panes.After(fleetLater, func() tea.Cmd {
				f.list.Refresh()
				return nil
			})
		}
		rows := make([]api.HistoryRow, len(out.Rows))
		for i, row := range out.Rows {
			rows[i] = row.HistoryRow
			rows[i].Host, rows[i].Process = row.Machine, api.OnMachine(row.Machine, row.Process)
		}
		f.fleet.out = out
		f.fleet.out.Rows = nil // the list has them
		first := f.list.cursor == 0
		f.take(r, api.HistorySearchOutput{Rows: rows, Total: out.Total}, nil)
		if first { // what comes above is what is looked for
			f.list.First()
		}
		if out.Asking {
			f.list.Refresh()
		}
		return nil
	})
}

// toggleFleet shows the history of the fleet, or that of here again.
func toggleFleet(p *Pane) tea.Cmd {
	if !p.fleet.on && p.env.News().Fleet == nil {
		return p.env.Say("machines of a fleet are searched here, as they are few", false)
	}
	p.fleet = fleet{on: !p.fleet.on, key: api.NewID()}
	p.moved, p.typing, p.onDetail = false, false, false
	if p.fleet.on && p.session {
		p.session = false // it is on one machine
	}
	p.list.Unmark()
	p.list.rows, p.list.first, p.list.total = nil, 0, 0
	p.search(0)
	return nil
}

// drawTabs says whose history is shown, and how many machines of the fleet it is of.
func drawTabs(p *Pane, w int) string {
	hint := panes.WithKey(p.env.Bindings(), "", keymap.HistoryFleet, " switches", keymap.ScopeHistory)
	switch out := &p.fleet.out; {
	case !p.fleet.on:
	case p.list.Err() != nil:
		hint = widget.Clean(panes.ErrorText(p.list.Err()))
	case out.Asking || !p.list.Settled():
		hint = "asking…"
	case len(out.Problems) > 0:
		hint = widget.Clean(out.Problems[0])
	}
	return panes.DrawFleetTabs(p.env, p.fleet.on, "here", "fleet "+p.asked(), hint, w)
}

// asked says how many machines have answered, and what of the others.
func (f *finder) asked() string {
	out := &f.fleet.out
	if !f.fleet.on || out.Serial == 0 {
		return widget.Count(f.env.News().Fleet.Machines, "machine")
	}
	text := widget.Thousands(out.Answered) + " of " + widget.Count(out.Machines, "machine")
	text = panes.WithCounts(text, panes.Count{N: out.Away, What: "away"}, panes.Count{N: out.Slow, What: "slow"}, panes.Count{N: out.Failed, What: "failed"})
	if out.Found > out.Total {
		text += ", " + widget.Thousands(out.Found) + " found"
	}
	return text
}
