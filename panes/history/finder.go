package history

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
)

// typingDelay is how long a search waits for the next key of the query.
const typingDelay = 15 * time.Millisecond

// A finder searches the history while its query is typed: that of the view and
// that of the overlay.
type finder struct {
	env   panes.Env
	shows func() bool // it is on the screen
	leave func()      // called if a choice is cancelled; may be nil
	list  List
	field widget.Field

	here, session, failed, today, every bool // filters; every shows equal commands each time
	who                                 int  // of actors

	fleet fleet

	folder string             // that here is about
	stop   context.CancelFunc // ends the request under way
	chips  []chip             // as they were drawn last
}

// actors are those whose commands can be shown: anyone's, the person's, agents'.
func actors() []string { return []string{"", "person", "agent"} }

// input is what the finder looks for.
func (f *finder) input() api.HistorySearchInput {
	in := api.HistorySearchInput{Query: f.field.Text(), Failed: f.failed, Unique: !f.every, Actor: actors()[f.who]}
	in.From, in.Query = widget.CutFrom(in.Query)
	session, folder := f.env.Session()
	if f.here {
		in.CWD = folder
	}
	if f.session {
		in.Process = session
	}
	if f.fleet.on {
		f.ofFleet(&in)
	} else {
		f.onMachines(&in)
	}
	if f.today {
		y, month, d := time.Now().Date()
		since := time.Date(y, month, d, 0, 0, 0, 0, time.Local)
		in.Since = &since
	}
	return in
}

// narrowed reports whether something is left out.
func (f *finder) narrowed() bool {
	return f.field.Text() != "" || f.here || f.session || f.failed || f.today || f.who != 0
}

// search looks anew.
func (f *finder) search(delay time.Duration) {
	f.list.Home = f.env.Home()
	f.list.Runs = f.stillRuns
	in := f.input()
	if f.folder = in.CWD; len(in.Hosts) == 1 && in.Hosts[0] != "" && in.CWD != "" {
		f.folder = in.Hosts[0] + ":" + in.CWD
	}
	f.list.Search(in, delay)
}

// stillRuns reports whether a command that has no exit status is still running,
// as far as that can be told.
func (f *finder) stillRuns(c *api.Command) bool {
	if c.DurationMS >= 0 || c.Kind != "exec" && c.Kind != "process" {
		return false
	}
	p, ok := f.env.News().Process(c.Process)
	return ok && !p.State.Ended()
}

// fetch asks for the rows that are needed now.
func (f *finder) fetch() tea.Cmd {
	r, ok := f.list.Next()
	if !ok {
		return nil
	}
	f.end()
	ctx, stop := context.WithCancel(f.env.Context())
	f.stop = stop
	if f.fleet.on {
		return f.fetchFleet(ctx, r)
	}
	return panes.Ask(ctx, f.env, func(ctx context.Context, e panes.Engine) (api.HistorySearchOutput, error) {
		_ = sleep.For(ctx, r.Delay)
		return api.HistorySearch.Call(ctx, e, r.Input)
	}, func(out api.HistorySearchOutput, err error) tea.Cmd {
		f.take(r, out, err)
		return nil
	})
}

// end gives up the request under way.
func (f *finder) end() {
	if f.stop != nil {
		f.stop()
		f.stop = nil
	}
}

// take takes in an answer.
func (f *finder) take(r Request, out api.HistorySearchOutput, err error) {
	if err != nil {
		f.list.Fail(r, err)
	} else if !f.list.Take(r, out) {
		return
	}
	f.suggest()
}

// pick acts on the chosen command, once the query is answered.
func (f *finder) pick(act func(api.HistoryRow) tea.Cmd) tea.Cmd {
	if !f.env.News().Connected {
		return f.withSelected(act)
	}
	return f.env.Await(panes.Pending{
		Ready: func() bool { return f.list.Settled() || f.list.Err() != nil || !f.shows() },
		Then: func() tea.Cmd {
			if !f.shows() {
				return nil
			}
			return f.withSelected(act)
		},
		Cancel: f.leave,
	})
}

// withSelected acts on the chosen command, if there is one that is not a remnant
// of an earlier search.
func (f *finder) withSelected(act func(api.HistoryRow) tea.Cmd) tea.Cmd {
	row, ok := f.list.Selected()
	if !ok || !f.list.Settled() {
		return nil
	}
	return act(row)
}

// typeKey takes a key that is not a command: it moves the cursor by pages, or
// changes the query.
func (f *finder) typeKey(k tea.KeyPressMsg) {
	switch {
	case k.Code == tea.KeyPgDown:
		f.list.Move(f.list.Page())
	case k.Code == tea.KeyPgUp:
		f.list.Move(-f.list.Page())
	default:
		before := f.field.Text()
		if !f.field.Accepts(k) || !f.field.Accept() {
			f.field.Type(k)
		}
		f.changed(before)
	}
}

// suggest suggests those of the commands found that the query begins.
func (f *finder) suggest() {
	var lines []string
	for i := range f.list.rows {
		if line := f.list.rows[i].Command.Command; widget.Clean(line) == line {
			lines = append(lines, line)
		}
	}
	f.field.Suggest(lines)
}

func (f *finder) insert(text string) {
	before := f.field.Text()
	f.field.Paste(text)
	f.changed(before)
}

func (f *finder) changed(before string) {
	if f.field.Text() != before {
		f.suggest()
		f.search(typingDelay)
	}
}

// toggle switches the filter of an action; it reports whether that is one.
func (f *finder) toggle(a keymap.Action) bool {
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
		f.every = !f.every
	case keymap.HistoryWho:
		f.who = (f.who + 1) % len(actors())
	default:
		return false
	}
	f.search(0)
	return true
}

// clear takes back the query or, if there is none, the filters.
func (f *finder) clear() (had bool) {
	if !f.narrowed() {
		return false
	}
	if f.field.Text() != "" {
		f.field.Set("")
	} else {
		f.here, f.session, f.failed, f.today, f.who = false, false, false, false, 0
	}
	f.search(0)
	return true
}
