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
	"tandem/panes/kit/text"
)

const (
	// maxFleetWait is how long the engine waits for machines before it returns partial results, and
	// fleetRetryDelay the pause after an error.
	maxFleetWait    = 500 * time.Millisecond
	fleetRetryDelay = 2 * time.Second
)

// A fleet is the history of all machines of a fleet. The engine searches it, in place of the
// history of the connected machines.
type fleet struct {
	shown    bool
	key      string // of its searches; a new one cancels the last
	machines string // filter of the machines; see api.FleetHistoryInput
	refresh  bool   // the next request starts a new search
	answer   api.FleetHistoryOutput
}

// selectFleetMachines moves host: and label: from the query to the filter of the machines. A folder
// filter matches the same path on every machine.
func (f *finder) selectFleetMachines(in *api.HistorySearchInput) {
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
	f.fleet.refresh = true
}

// fetchFleet loads rows of the fleet. ctx is cancelled by the next request.
func (f *finder) fetchFleet(ctx context.Context, r Request) tea.Cmd {
	in := api.FleetHistoryInput{Search: r.Input, Machines: f.fleet.machines, Key: f.fleet.key, Since: f.fleet.answer.Serial, WaitMS: int(maxFleetWait / time.Millisecond)}
	if f.fleet.refresh {
		in.Since = 0
	}
	f.fleet.refresh = false
	return panes.Ask(ctx, f.env, func(ctx context.Context, e panes.Engine) (api.FleetHistoryOutput, error) {
		_ = sleep.For(ctx, r.Delay)
		return api.FleetHistory.Call(ctx, e, in)
	}, func(out api.FleetHistoryOutput, err error) tea.Cmd {
		if ctx.Err() != nil || !f.fleet.shown {
			return nil // another request has replaced it
		}
		if err != nil {
			f.storeAnswer(r, api.HistorySearchOutput{}, err)
			return panes.After(fleetRetryDelay, func() tea.Cmd {
				f.list.Refresh()
				return nil
			})
		}
		rows := make([]api.HistoryRow, len(out.Rows))
		for i, row := range out.Rows {
			rows[i] = row.HistoryRow
			rows[i].Host, rows[i].Process = row.Machine, api.OnMachine(row.Machine, row.Process)
		}
		f.fleet.answer = out
		f.fleet.answer.Rows = nil // the list keeps them
		first := f.list.cursor == 0
		f.storeAnswer(r, api.HistorySearchOutput{Rows: rows, Total: out.Total}, nil)
		if first { // newer rows are inserted above; stay at the newest
			f.list.MoveToFirst()
		}
		// Some machines have not answered yet, so ask for the rest.
		if out.Asking {
			f.list.Refresh()
		}
		return nil
	})
}

// toggleFleet switches between the history of the fleet and the one here.
func toggleFleet(p *Pane) tea.Cmd {
	if !p.fleet.shown && p.env.News().Fleet == nil {
		return p.env.Say("this fleet is small: its machines are already searched here", false)
	}
	p.fleet = fleet{shown: !p.fleet.shown, key: api.NewID()}
	p.rowChosen, p.typing, p.detailFocused = false, false, false
	if p.fleet.shown && p.session {
		p.session = false // a session is on one machine
	}
	p.list.ClearMarks()
	p.list.rows, p.list.first, p.list.total = nil, 0, 0
	p.startSearch(0)
	return nil
}

// drawTabs draws the choice between both histories, with the state of the fleet's search.
func drawTabs(p *Pane, w int) string {
	hint := p.env.Bindings().WithKey("", keymap.HistoryFleet, " switches", keymap.ScopeHistory)
	switch out := &p.fleet.answer; {
	case !p.fleet.shown:
	case p.list.Err() != nil:
		hint = text.Clean(panes.ErrorText(p.list.Err()))
	case out.Asking || !p.list.IsSettled():
		hint = "asking…"
	case len(out.Problems) > 0:
		hint = text.Clean(out.Problems[0])
	}
	return panes.DrawFleetTabs(p.env.Look(), p.fleet.shown, "here", "fleet "+p.machineSummary(), hint, w)
}

// machineSummary returns how many machines have answered, and why the others have not.
func (f *finder) machineSummary() string {
	out := &f.fleet.answer
	if !f.fleet.shown || out.Serial == 0 {
		return text.Count(f.env.News().Fleet.Machines, "machine")
	}
	summary := text.Thousands(out.Answered) + " of " + text.Count(out.Machines, "machine")
	summary = panes.WithCounts(summary, panes.Count{N: out.Away, What: "away"}, panes.Count{N: out.Slow, What: "slow"}, panes.Count{N: out.Failed, What: "failed"})
	if out.Found > out.Total {
		summary += ", " + text.Thousands(out.Found) + " found"
	}
	return summary
}
