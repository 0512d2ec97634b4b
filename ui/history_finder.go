package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/history"
	"tandem/panes/widget"
	"tandem/ui/screen"
)

// typingDelay is how long a search waits for the next key of the query.
const typingDelay = 15 * time.Millisecond

// A finder searches the history while its query is typed: that of the view and
// that of the overlay.
type finder struct {
	list  history.List
	field widget.Field

	here, session, failed, today, every bool // filters; every shows equal commands each time
	who                                 int  // of whos

	folder string             // that here is about
	stop   context.CancelFunc // ends the request under way
	// picking waits for the answer to the query that was typed before it.
	picking func(*model, api.HistoryRow) tea.Cmd
	chips   []chip // as they were drawn last
}

// whos are those whose commands can be shown: anyone's, the person's, agents'.
func whos() [3]string { return [...]string{"", "person", "agent"} }

// historyMsg is the answer to a request of a finder.
type historyMsg struct {
	finder  *finder
	request history.Request
	out     api.HistorySearchOutput
	err     error
}

// input is what the finder looks for.
func (f *finder) input(m *model) api.HistorySearchInput {
	in := api.HistorySearchInput{Query: f.field.Text(), Failed: f.failed, Unique: !f.every, Actor: whos()[f.who]}
	if f.here {
		in.CWD = m.cwd(m.currentPane())
	}
	if p := m.currentPane(); f.session && p != nil {
		in.Process = p.ID
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
func (f *finder) search(m *model, delay time.Duration) {
	f.list.Home = m.list.Home
	f.list.Runs = m.stillRuns
	in := f.input(m)
	f.folder = in.CWD
	f.list.Search(in, delay)
	m.dirty = true
}

// stillRuns reports whether a command that has no exit status is still running,
// as far as that can be told.
func (m *model) stillRuns(c *api.Command) bool {
	if c.DurationMS >= 0 || c.Kind != "exec" && c.Kind != "process" {
		return false
	}
	p, ok := m.process(c.Process)
	return ok && !p.State.Ended()
}

// pump asks for the rows that are needed now.
func (f *finder) pump(m *model) tea.Cmd {
	r, ok := f.list.Next()
	if !ok {
		return nil
	}
	f.end()
	ctx, stop := context.WithCancel(m.ctx)
	f.stop = stop
	l := m.link
	return func() tea.Msg {
		pause(ctx, r.Delay)
		e, err := l.At(ctx)
		if err != nil {
			return historyMsg{finder: f, request: r, err: err}
		}
		out, err := e.SearchHistory(ctx, r.Input)
		return historyMsg{f, r, out, err}
	}
}

// end gives up the request under way.
func (f *finder) end() {
	if f.stop != nil {
		f.stop()
		f.stop = nil
	}
}

// takeHistory takes in an answer and does what has waited for it.
func (m *model) takeHistory(msg historyMsg) tea.Cmd {
	f := msg.finder
	if msg.err != nil {
		f.list.Fail(msg.request, msg.err)
	} else if !f.list.Take(msg.request, msg.out) {
		return nil
	}
	m.dirty = true
	if f.picking == nil || !f.list.Settled() && f.list.Err() == nil {
		return nil
	}
	act := f.picking
	f.picking = nil
	var cmd tea.Cmd
	if row, ok := f.list.Selected(); ok && f.list.Settled() {
		cmd = act(m, row)
	}
	return tea.Batch(cmd, m.handleInput(m.in.Drain()))
}

// pick acts on the chosen command, once the answer to what was typed is there.
func (f *finder) pick(m *model, act func(*model, api.HistoryRow) tea.Cmd) tea.Cmd {
	if !f.list.Settled() && f.list.Err() == nil && m.news.Connected {
		f.picking = act
		return nil
	}
	return f.withSelected(m, act)
}

// withSelected acts on the chosen command, if there is one that is no remnant
// of an earlier search.
func (f *finder) withSelected(m *model, act func(*model, api.HistoryRow) tea.Cmd) tea.Cmd {
	row, ok := f.list.Selected()
	if !ok || !f.list.Settled() {
		return nil
	}
	return act(m, row)
}

// picker is the finder that a choice waits for; what is typed behind it waits
// too, as it is for what comes then.
func (m *model) picker() *finder {
	if u, ok := m.overlay.(*recall); ok && u.picking != nil {
		return &u.finder
	}
	if m.history.picking != nil {
		return &m.history.finder
	}
	return nil
}

// holdForPick keeps back what was typed behind a choice, or a form, that waits,
// unless that takes it back, and what was typed for a choice that is still to be
// shown.
func (m *model) holdForPick(events []screen.Event) (held bool) {
	if m.layouts.asked != 0 {
		m.holdForLayouts(events)
		return true
	}
	if f := m.waitingForm(); f != nil {
		return m.holdForForm(f, events)
	}
	f := m.picker()
	if f == nil {
		return false
	}
	for _, e := range events {
		if e.Kind == keys.EventKey && m.o.Bindings.Is(e.Key, keymap.ScopeRecall, keymap.HistoryLeave) {
			f.picking = nil
			return false
		}
	}
	m.in.Unread(events)
	return true
}

// typeKey takes a key that is no command: it moves the cursor by pages, or
// changes the query.
func (f *finder) typeKey(m *model, k tea.KeyPressMsg) {
	switch {
	case k.Code == tea.KeyPgDown:
		f.list.Move(f.list.Page())
	case k.Code == tea.KeyPgUp:
		f.list.Move(-f.list.Page())
	default:
		before := f.field.Text()
		f.field.Type(k)
		f.changed(m, before)
	}
	m.dirty = true
}

func (f *finder) insert(m *model, text string) {
	before := f.field.Text()
	f.field.Paste(text)
	f.changed(m, before)
}

func (f *finder) changed(m *model, before string) {
	m.dirty = true
	if f.field.Text() != before {
		f.search(m, typingDelay)
	}
}

// toggle switches the filter of an action; it reports whether that is one.
func (f *finder) toggle(m *model, a keymap.Action) bool {
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
		f.who = (f.who + 1) % len(whos())
	default:
		return false
	}
	f.search(m, 0)
	return true
}

// clear takes back the query or, if there is none, the filters.
func (f *finder) clear(m *model) (had bool) {
	if !f.narrowed() {
		return false
	}
	if f.field.Text() != "" {
		f.field.Set("")
	} else {
		f.here, f.session, f.failed, f.today, f.who = false, false, false, false, 0
	}
	f.search(m, 0)
	return true
}
