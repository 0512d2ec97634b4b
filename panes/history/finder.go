package history

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/field"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
)

// typingDelay is how long a search waits for another key.
const typingDelay = 15 * time.Millisecond

// A finder searches the history as its query is typed, in the view or over a terminal.
type finder struct {
	env      panes.Env
	isShown  func() bool // it is on the screen
	onCancel func()      // called if a choice is cancelled; may be nil
	list     List
	field    field.Field

	here, session, failed, today, everyRun bool // filters; everyRun shows equal commands separately
	who                                    int  // index in actorFilters

	fleet fleet

	folder string             // folder of the filter here
	cancel context.CancelFunc // cancels the running request
	chips  []filterChip       // drawn last
}

// actorFilters returns the values of the filter by actor: anyone, you, agents.
func actorFilters() []string { return []string{"", "person", "agent"} }

// buildInput returns the search for the query and filters.
func (f *finder) buildInput() api.HistorySearchInput {
	in := api.HistorySearchInput{Query: f.field.Text(), Failed: f.failed, Unique: !f.everyRun, Actor: actorFilters()[f.who]}
	in.From, in.Query = list.CutFrom(in.Query)
	session, folder := f.env.Session()
	if f.here {
		in.CWD = folder
	}
	if f.session {
		in.Process = session
	}
	if f.fleet.shown {
		f.selectFleetMachines(&in)
	} else {
		f.selectMachines(&in)
	}
	if f.today {
		y, month, d := time.Now().Date()
		since := time.Date(y, month, d, 0, 0, 0, 0, time.Local)
		in.Since = &since
	}
	return in
}

// isFiltered reports whether a query or filter is set.
func (f *finder) isFiltered() bool {
	return f.field.Text() != "" || f.here || f.session || f.failed || f.today || f.who != 0
}

// startSearch searches with the current query and filters, after a delay.
func (f *finder) startSearch(delay time.Duration) {
	f.list.Home = f.env.Home()
	f.list.IsRunning = f.isRunning
	in := f.buildInput()
	if f.folder = in.CWD; len(in.Hosts) == 1 && in.Hosts[0] != "" && in.CWD != "" {
		f.folder = in.Hosts[0] + ":" + in.CWD
	}
	f.list.StartSearch(in, delay)
}

// isRunning reports whether a command without an exit status is still running, as far as known.
func (f *finder) isRunning(c *api.Command) bool {
	if c.DurationMS >= 0 || c.Kind != "exec" && c.Kind != "process" {
		return false
	}
	p, ok := f.env.News().Process(c.Process)
	return ok && !p.State.Ended()
}

// fetchRows loads the missing rows.
func (f *finder) fetchRows() tea.Cmd {
	r, ok := f.list.NextRequest()
	if !ok {
		return nil
	}
	f.cancelFetch()
	ctx, stop := context.WithCancel(f.env.Context())
	f.cancel = stop
	if f.fleet.shown {
		return f.fetchFleet(ctx, r)
	}
	return panes.Ask(ctx, f.env, func(ctx context.Context, e panes.Engine) (api.HistorySearchOutput, error) {
		_ = sleep.For(ctx, r.Delay)
		return api.HistorySearch.Call(ctx, e, r.Input)
	}, func(out api.HistorySearchOutput, err error) tea.Cmd {
		f.storeAnswer(r, out, err)
		return nil
	})
}

func (f *finder) cancelFetch() {
	if f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
}

// storeAnswer stores the answer to a request.
func (f *finder) storeAnswer(r Request, out api.HistorySearchOutput, err error) {
	if err != nil {
		f.list.StoreError(r, err)
	} else if !f.list.StoreAnswer(r, out) {
		return
	}
	f.suggestCommands()
}

// actOnChosen runs an action on the selected command, once the search has been answered.
func (f *finder) actOnChosen(act func(api.HistoryRow) tea.Cmd) tea.Cmd {
	// No answer will come, so use the rows there are.
	if !f.env.News().Connected {
		return f.actOnSelected(act)
	}
	return f.env.Await(panes.Pending{
		Ready: func() bool { return f.list.IsSettled() || f.list.Err() != nil || !f.isShown() },
		Then: func() tea.Cmd {
			// The view was closed while the search ran.
			if !f.isShown() {
				return nil
			}
			return f.actOnSelected(act)
		},
		Cancel: f.onCancel,
	})
}

// actOnSelected runs an action on the selected command, unless it belongs to an earlier search.
func (f *finder) actOnSelected(act func(api.HistoryRow) tea.Cmd) tea.Cmd {
	row, ok := f.list.Selected()
	if !ok || !f.list.IsSettled() {
		return nil
	}
	return act(row)
}

// typeKey handles a key without a command: it moves the cursor by pages or edits the query.
func (f *finder) typeKey(k tea.KeyPressMsg) {
	switch {
	case k.Code == tea.KeyPgDown:
		f.list.Move(f.list.PageRows())
	case k.Code == tea.KeyPgUp:
		f.list.Move(-f.list.PageRows())
	default:
		before := f.field.Text()
		if !f.field.Accepts(k) || !f.field.Accept() {
			f.field.Type(k)
		}
		f.searchIfChanged(before)
	}
}

// suggestCommands suggests found commands to complete the query.
func (f *finder) suggestCommands() {
	var lines []string
	for i := range f.list.rows {
		// A suggestion must look exactly as it will be inserted.
		if line := f.list.rows[i].Command.Command; text.Clean(line) == line {
			lines = append(lines, line)
		}
	}
	f.field.Suggest(lines)
}

func (f *finder) insertText(text string) {
	before := f.field.Text()
	f.field.Paste(text)
	f.searchIfChanged(before)
}

func (f *finder) searchIfChanged(before string) {
	if f.field.Text() != before {
		f.suggestCommands()
		f.startSearch(typingDelay)
	}
}

// toggleFilter switches the filter of an action, and reports whether the action is one of a filter.
func (f *finder) toggleFilter(a keymap.Action) bool {
	switch a {
	case keymap.HistoryHere:
		f.here = !f.here
	case keymap.HistorySession:
		f.session = !f.session
	case keymap.HistoryFailed:
		f.failed = !f.failed
	case keymap.HistoryToday:
		f.today = !f.today
	case keymap.HistoryUnique:
		f.everyRun = !f.everyRun
	case keymap.HistoryWho:
		f.who = (f.who + 1) % len(actorFilters())
	default:
		return false
	}
	f.startSearch(0)
	return true
}

// clearQuery clears the query or, if there is none, the filters.
func (f *finder) clearQuery() (had bool) {
	if !f.isFiltered() {
		return false
	}
	if f.field.Text() != "" {
		f.field.Set("")
	} else {
		f.here, f.session, f.failed, f.today, f.who = false, false, false, false, 0
	}
	f.startSearch(0)
	return true
}
