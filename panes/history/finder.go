package history

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/text"
)

// typingDelay is how long a search waits for another key.
const typingDelay = 15 * time.Millisecond

// A finder searches the history while the user types a query, in the view or in the dialog over a
// terminal.
type finder struct {
	env      panes.Env
	isShown  func() bool // it is on the screen
	onCancel func()      // called if a choice is cancelled; may be nil
	query    query
	list     List

	folder   string // folder of the filter here
	fetching panes.LatestCall
}

func newFinder(env panes.Env) finder {
	return finder{env: env, query: query{env: env}, list: List{Home: env.Home(), IsRunning: commandRunning(env)}}
}

// commandRunning returns a function that reports whether a command that has no exit status is known
// to be running.
func commandRunning(env panes.Env) func(*api.Command) bool {
	return func(c *api.Command) bool {
		if c.DurationMS >= 0 || c.Kind != "exec" && c.Kind != "process" {
			return false
		}
		p, ok := env.News().Process(c.Process)
		return ok && !p.State.Ended()
	}
}

// startSearch starts a search with the current query and filters, after a delay.
func (f *finder) startSearch(delay time.Duration) {
	in := f.query.buildInput()
	if f.folder = in.CWD; len(in.Hosts) == 1 && in.Hosts[0] != "" && in.CWD != "" {
		f.folder = in.Hosts[0] + ":" + in.CWD
	}
	f.list.StartSearch(in, delay)
}

// fetchRows loads the missing rows.
func (f *finder) fetchRows() tea.Cmd {
	r, ok := f.list.NextRequest()
	if !ok {
		return nil
	}
	ctx := f.fetching.Begin(f.env.Context())
	return panes.Call(ctx, f.env, func(ctx context.Context, e panes.Engine) (api.HistorySearchOutput, error) {
		_ = sleep.For(ctx, r.Delay)
		return api.HistorySearch.Call(ctx, e, r.Input)
	}, func(out api.HistorySearchOutput, err error) tea.Cmd {
		f.storeAnswer(r, out, err)
		return nil
	})
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

// actOnChosen calls act with the selected command. If a search is running, it waits for its answer
// first.
func (f *finder) actOnChosen(act func(api.HistoryRow) tea.Cmd) tea.Cmd {
	// No answer will come, so use the rows there are.
	if !f.env.News().Connected {
		return f.actOnSelected(act)
	}
	return f.env.Await(panes.Pending{
		Ready: func() bool { return f.list.IsSettled() || f.list.err != nil || !f.isShown() },
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

// actOnSelected calls act with the selected command, unless the rows are still those of an earlier
// search.
func (f *finder) actOnSelected(act func(api.HistoryRow) tea.Cmd) tea.Cmd {
	row, ok := f.list.Selected()
	if !ok || !f.list.IsSettled() {
		return nil
	}
	return act(row)
}

// actOnMarked calls act with the marked commands or, if none is marked, with the selected one.
func (f *finder) actOnMarked(act func([]api.HistoryRow) tea.Cmd) tea.Cmd {
	if rows := f.list.marks.sortRows(); len(rows) > 0 {
		return act(rows)
	}
	return f.actOnChosen(func(row api.HistoryRow) tea.Cmd { return act([]api.HistoryRow{row}) })
}

// typeKey handles a key that is not bound: it moves the cursor by pages or edits the query.
func (f *finder) typeKey(k tea.KeyPressMsg) {
	switch {
	case k.Code == tea.KeyPgDown:
		f.list.Move(f.list.PageRows())
	case k.Code == tea.KeyPgUp:
		f.list.Move(-f.list.PageRows())
	default:
		field := &f.query.field
		before := field.Text()
		if !field.Accepts(k) || !field.Accept() {
			field.Type(k)
		}
		f.searchIfChanged(before)
	}
}

// suggestCommands suggests the commands found so far as completions of the query.
func (f *finder) suggestCommands() {
	var lines []string
	for i := range f.list.rows {
		// A suggestion must look exactly as it will be inserted.
		if line := f.list.rows[i].Command.Command; text.Clean(line) == line {
			lines = append(lines, line)
		}
	}
	f.query.field.Suggest(lines)
}

func (f *finder) insertText(text string) {
	before := f.query.field.Text()
	f.query.field.Paste(text)
	f.searchIfChanged(before)
}

func (f *finder) searchIfChanged(before string) {
	if f.query.field.Text() != before {
		f.suggestCommands()
		f.startSearch(typingDelay)
	}
}

// toggleFilter switches the filter that action a toggles. It does nothing if a is not the action of
// a filter.
func (f *finder) toggleFilter(a keymap.Action) {
	if f.query.toggle(a) {
		f.startSearch(0)
	}
}

// clearQuery clears the query or, if there is none, the filters.
func (f *finder) clearQuery() {
	if f.query.clear() {
		f.startSearch(0)
	}
}

// drawQuery returns the row with the query, w cells wide, and the column of the cursor.
func (f *finder) drawQuery(w int, typing bool) (row string, x int) {
	n := f.list.Total()
	note := f.query.countText(n)
	if n > 0 {
		note = text.Thousands(f.list.cursor+1) + "/" + note
	}
	if f.folder != "" {
		note += " in " + text.ClipLeft(text.ShortPath(f.folder, f.env.Home()), w/3)
	}
	return f.query.draw(w, typing, note)
}

// missingNote says which of the selected machines were not searched, and why; "" if all were
// searched.
func (f *finder) missingNote(now time.Time) string {
	// The list shows the reason of a single one.
	if len(f.list.search.Hosts) == 1 {
		return ""
	}
	all := slices.Clone(f.list.missing)
	for _, host := range f.list.search.Hosts {
		if m := f.env.News().Machine(host); m != nil && m.OfflineReason(now) != "" {
			all = append(all, text.Clean(host)+": "+m.OfflineReason(now))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "without " + strings.Join(all, ", ")
}

// drawList draws h rows of w cells: the list and, below, a note on machines that were not searched.
// The slice is valid until the next call.
func (f *finder) drawList(w, h int, now time.Time) []string {
	look := f.env.Look()
	f.list.Hosts = len(f.env.News().Machines) > 0
	missing := f.missingNote(now)
	if missing == "" || h < 3 {
		return f.list.Draw(w, h, now, look)
	}
	rows := f.list.Draw(w, h-1, now, look)
	return append(rows, look.Warn.Text(text.Fit(" "+text.Clip(text.Clean(missing), w-1), w)))
}
