package history

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
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

// selectMachines moves host: and label: from the query to the filter of the machines. A folder filter
// matches the same path on every machine.
func (t *fleet) selectMachines(in *api.HistorySearchInput) {
	var machines, words []string
	for _, word := range strings.Fields(in.Query) {
		if strings.HasPrefix(word, "host:") || strings.HasPrefix(word, "label:") {
			machines = append(machines, word)
		} else {
			words = append(words, word)
		}
	}
	if t.machines = strings.Join(machines, " "); len(machines) > 0 {
		in.Query = strings.Join(words, " ")
	}
	_, in.CWD = api.PathOf(in.CWD)
	t.refresh = true
}

// nextInput returns the input for a search.
func (t *fleet) nextInput(search api.HistorySearchInput) api.FleetHistoryInput {
	in := api.FleetHistoryInput{Search: search, Machines: t.machines, Key: t.key, Since: t.answer.Serial, WaitMS: int(maxFleetWait / time.Millisecond)}
	if t.refresh {
		in.Since = 0
	}
	t.refresh = false
	return in
}

// storeAnswer stores an answer but its rows, and returns these as rows of other machines.
func (t *fleet) storeAnswer(out api.FleetHistoryOutput) []api.HistoryRow {
	rows := make([]api.HistoryRow, len(out.Rows))
	for i, row := range out.Rows {
		rows[i] = row.HistoryRow
		rows[i].Host, rows[i].Process = row.Machine, api.OnMachine(row.Machine, row.Process)
	}
	t.answer = out
	t.answer.Rows = nil // the list keeps them
	return rows
}

// summary returns how many of the machines have answered, and why the others have not.
func (t *fleet) summary(machines int) string {
	out := &t.answer
	if !t.shown || out.Serial == 0 {
		return text.Count(machines, "machine")
	}
	summary := text.Thousands(out.Answered) + " of " + text.Count(out.Machines, "machine")
	summary = panes.WithCounts(summary, panes.Count{N: out.Away, What: "offline"}, panes.Count{N: out.Slow, What: "slow"}, panes.Count{N: out.Failed, What: "failed"})
	if out.Found > out.Total {
		summary += ", " + text.Thousands(out.Found) + " found"
	}
	return summary
}

// fetchFleet loads rows of the fleet. ctx is cancelled by the next request.
func (f *finder) fetchFleet(ctx context.Context, r Request) tea.Cmd {
	in := f.fleet.nextInput(r.Input)
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
		first := f.list.cursor == 0
		f.storeAnswer(r, api.HistorySearchOutput{Rows: f.fleet.storeAnswer(out), Total: out.Total}, nil)
		if first { // newer rows are inserted above; stay at the newest
			f.list.MoveTo(0)
		}
		// Some machines have not answered yet, so ask for the rest.
		if out.Asking {
			f.list.Refresh()
		}
		return nil
	})
}

// switchFleet switches between the history of the fleet and the one here.
func (f *finder) switchFleet() {
	f.fleet = fleet{shown: !f.fleet.shown, key: api.NewID()}
	if f.fleet.shown {
		f.query.session = false // a session is on one machine
	}
	f.list.Clear()
	f.startSearch(0)
}

// drawTabs draws the choice between both histories, with the state of the fleet's search.
func (f *finder) drawTabs(w int) string {
	hint := f.env.Bindings().WithKey("", keymap.HistoryFleet, " switches", keymap.ScopeHistory)
	switch out := &f.fleet.answer; {
	case !f.fleet.shown:
	case f.list.err != nil:
		hint = text.Clean(panes.ErrorText(f.list.err))
	case out.Asking || !f.list.IsSettled():
		hint = "asking…"
	case len(out.Problems) > 0:
		hint = text.Clean(out.Problems[0])
	}
	return panes.DrawFleetTabs(f.env.Look(), f.fleet.shown, "here", "fleet "+f.fleet.summary(f.env.News().Fleet.Machines), hint, w)
}
