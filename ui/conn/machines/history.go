package machines

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
)

const (
	// maxSearchWait is how long a search waits for the machines' answers.
	maxSearchWait = 30 * time.Millisecond
	// maxRowsEach is how many rows of each machine are merged: the maximum of one answer.
	maxRowsEach = 1000
	searchPage  = 250 // rows requested at a time
)

// A historySearch is a search of a machine's history.
type historySearch struct {
	in   api.HistorySearchInput
	at   int64 // version of its history at the time of the request
	stop context.CancelFunc
	done chan struct{} // closed when out and err are set

	out  api.HistorySearchOutput
	err  error
	late bool // a caller has not waited for it
}

func (f *historySearch) isAnswered() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// dropSearch cancels the last search, so that the next one asks the machine. The lock is
// held.
func (m *machine) dropSearch() {
	if m.lastSearch != nil {
		m.lastSearch.stop()
		m.lastSearch = nil
	}
	m.set.lateSearches++
}

// searchHistory searches the histories of the named machines. It waits for a single
// machine, but among several not for offline or slow ones.
func (e Engine) searchHistory(ctx context.Context, in api.HistorySearchInput, out *api.HistorySearchOutput) (err error) {
	hosts := in.Hosts
	if machine, _ := api.MachineOf(in.Process); machine != "" {
		hosts, in.Process = []string{machine}, strings.TrimPrefix(in.Process, machine+"/")
	}
	own := len(hosts) == 0 || slices.Contains(hosts, "")
	in.Hosts = nil
	var asked []*historySearch
	e.set.mu.Lock()
	for _, name := range hosts {
		if m := e.set.findMachine(name); m != nil && m.now.State == api.MachineConnected && len(hosts) > 1 {
			asked = append(asked, m.startSearch(in))
		}
	}
	e.set.mu.Unlock()
	switch {
	case len(hosts) == 1 && hosts[0] != "":
		*out, err = api.HistorySearch.Call(ctx, remote{e.set, hosts[0]}, in)
		api.Qualify(hosts[0], out)
		return err
	case len(asked) == 0 && own:
		*out, err = api.HistorySearch.Call(ctx, e.Engine, in)
		return err
	}
	*out = api.HistorySearchOutput{Rows: []api.HistoryRow{}}
	if own {
		if *out, err = api.HistorySearch.Call(ctx, e.Engine, prefixWindow(in)); err != nil {
			return err
		}
		out.Total = min(out.Total, maxRowsEach)
	}
	awaitSearches(ctx, asked)
	e.set.mergeResults(asked, out)
	// Each machine sorted its own rows, so the merged ones are sorted again.
	slices.SortStableFunc(out.Rows, func(a, b api.HistoryRow) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.StartedAt.Compare(a.StartedAt))
	})
	out.Rows = out.Rows[min(in.Offset, len(out.Rows)):]
	out.Rows = out.Rows[:min(cmp.Or(in.Limit, searchPage), len(out.Rows))]
	return ctx.Err()
}

// prefixWindow extends a search to all rows up to the end of its window: merging needs
// them.
func prefixWindow(in api.HistorySearchInput) api.HistorySearchInput {
	rows := in.Offset + cmp.Or(in.Limit, searchPage)
	in.Offset, in.Limit = 0, min((rows+searchPage-1)/searchPage*searchPage, maxRowsEach)
	return in
}

// startSearch searches the machine's history, unless its last answer is still valid. The
// lock is held.
func (m *machine) startSearch(in api.HistorySearchInput) *historySearch {
	in = prefixWindow(in)
	last := m.lastSearch
	if last != nil && last.at == m.news.History && reflect.DeepEqual(last.in, in) {
		return last
	}
	f := &historySearch{in: in, at: m.news.History, done: make(chan struct{})}
	ctx, stop := context.WithCancel(m.set.ctx)
	f.stop, m.lastSearch = stop, f
	if last != nil {
		last.stop()
		// The previous answer is shown until the new one arrives.
		if narrowed := last.in; last.isAnswered() {
			if narrowed.Limit = in.Limit; reflect.DeepEqual(narrowed, in) {
				f.out = last.out
			}
		}
	}
	name := m.now.Name
	m.set.start(func() {
		defer stop()
		m.set.runSearch(ctx, name, f)
	})
	return f
}

// runSearch asks a machine, and announces an answer that a caller did not wait for.
func (s *Set) runSearch(ctx context.Context, name string, f *historySearch) {
	out, err := api.HistorySearch.Call(ctx, remote{s, name}, f.in)
	api.Qualify(name, &out)
	s.mu.Lock()
	f.out, f.err = out, err
	late := f.late && ctx.Err() == nil
	if late {
		s.lateSearches++
		s.serial++
	}
	close(f.done)
	s.mu.Unlock()
	if late {
		s.notify()
	}
}

// awaitSearches waits for all answers, at most maxSearchWait.
func awaitSearches(ctx context.Context, asked []*historySearch) {
	enough := time.NewTimer(maxSearchWait)
	defer enough.Stop()
	for _, f := range asked {
		select {
		case <-f.done:
		case <-ctx.Done():
			return
		case <-enough.C:
			return
		}
	}
}

// mergeResults adds the answers received so far.
func (s *Set) mergeResults(asked []*historySearch, out *api.HistorySearchOutput) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range asked {
		if !f.isAnswered() {
			f.late = true
		} else if f.err != nil {
			out.Missing = append(out.Missing, api.AsError(f.err).Message)
		}
		out.Rows = append(out.Rows, f.out.Rows...)
		out.Total += min(f.out.Total, maxRowsEach)
	}
}
