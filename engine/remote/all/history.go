package all

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/qualify"
	"tandem/engine/base/panics"
)

const (
	// maxSearchWait is how long a search that must answer soon waits for the machines.
	maxSearchWait = 30 * time.Millisecond
	// maxRowsEach is how many rows of each machine are merged: the maximum of one answer.
	maxRowsEach = 1000
	searchPage  = 250 // rows requested at a time
	// maxSearches is the number of searches kept. If there are more, all of them are forgotten.
	maxSearches = 1000
)

// A searcher is a client that searches a machine's history. Its next search replaces the last.
type searcher struct {
	machine string
	pid     int
}

// A search is a search of a machine's history.
type search struct {
	host string
	in   api.HistorySearchInput
	at   int64 // version of its history at the time of the request
	stop context.CancelFunc
	done chan struct{} // closed when out and err are set

	out  api.HistorySearchOutput
	err  error
	late bool // a caller has not waited for it
}

func (f *search) isAnswered() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// dropSearches cancels the last searches of a machine, so that the next ones ask it. The lock is held.
func (s *Machines) dropSearches(machine string) {
	for by, f := range s.searches {
		if by.machine == machine {
			f.stop()
			delete(s.searches, by)
		}
	}
}

// noteHistory records the number of changes to a machine's history. 0 means that it is unknown.
func (s *Machines) noteHistory(machine string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.histories[machine] = n; n == 0 {
		s.dropSearches(machine)
	}
}

// lateAnswers counts answers that came too late for a search.
func (s *Machines) lateAnswers() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.late
}

// Search searches the histories of the hosts in its input; local searches this machine's. With Soon
// it waits neither for offline nor for slow machines, unless there is only one.
func (s *Machines) Search(ctx context.Context, in api.HistorySearchInput, local func(context.Context, api.HistorySearchInput) (api.HistorySearchOutput, error)) (out api.HistorySearchOutput, err error) {
	hosts, soon := in.Hosts, in.Soon
	in.Hosts, in.Soon = nil, false
	if len(hosts) == 0 || len(hosts) == 1 && hosts[0] == "" {
		return local(ctx, in)
	}
	key, err := s.callerOf(ctx, "")
	if err != nil {
		return out, err
	}
	if len(hosts) == 1 {
		err = s.call(ctx, caller{hosts[0], key.by, key.agent}, api.HistorySearch.Name, api.Read, in, &out)
		qualify.Output(hosts[0], &out)
		return out, err
	}
	out.Rows = []api.HistoryRow{}
	var asked []*search
	if soon {
		asked = s.startSearches(ctx, key, hosts, in)
	}
	if slices.Contains(hosts, "") {
		if out, err = local(ctx, prefixWindow(in)); err != nil {
			return out, err
		}
		out.Total = min(out.Total, maxRowsEach)
	}
	if soon {
		awaitSearches(ctx, asked)
		s.mergeKnown(asked, &out)
	} else {
		for _, a := range askAll(ctx, s, key, hosts, api.HistorySearch, prefixWindow(in)) {
			merge(&out, a)
		}
	}
	// Each machine sorted its own rows, so the merged ones are sorted again.
	slices.SortStableFunc(out.Rows, func(a, b api.HistoryRow) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.StartedAt.Compare(a.StartedAt))
	})
	out.Rows = out.Rows[min(in.Offset, len(out.Rows)):]
	out.Rows = out.Rows[:min(cmp.Or(in.Limit, searchPage), len(out.Rows))]
	return out, ctx.Err()
}

// prefixWindow extends a search to all rows up to the end of its window: merging needs
// them.
func prefixWindow(in api.HistorySearchInput) api.HistorySearchInput {
	rows := in.Offset + cmp.Or(in.Limit, searchPage)
	in.Offset, in.Limit = 0, min((rows+searchPage-1)/searchPage*searchPage, maxRowsEach)
	return in
}

// merge adds the answer of a machine.
func merge(out *api.HistorySearchOutput, a answer[api.HistorySearchOutput]) {
	if a.err != nil {
		out.Missing = append(out.Missing, api.HostErrorOf(a.host, a.err))
	}
	out.Rows = append(out.Rows, a.out.Rows...)
	out.Total += min(a.out.Total, maxRowsEach)
}

// startSearches searches the histories of the connected machines among hosts.
func (s *Machines) startSearches(ctx context.Context, key caller, hosts []string, in api.HistorySearchInput) (asked []*search) {
	machines := s.List(ctx).Machines
	pid := api.CallerOf(ctx).Peer.PID
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range machines {
		if m.State == api.MachineConnected && slices.Contains(hosts, m.Name) {
			asked = append(asked, s.startSearch(caller{m.Name, key.by, key.agent}, searcher{m.Name, pid}, prefixWindow(in)))
		}
	}
	return asked
}

// startSearch searches a machine's history, unless its last answer is still valid. The lock is
// held.
func (s *Machines) startSearch(key caller, by searcher, in api.HistorySearchInput) *search {
	last := s.searches[by]
	if last != nil && last.at == s.histories[key.machine] && reflect.DeepEqual(last.in, in) {
		return last
	}
	if len(s.searches) >= maxSearches {
		clear(s.searches) // those running end by themselves
	}
	f := &search{host: key.machine, in: in, at: s.histories[key.machine], done: make(chan struct{})}
	ctx, stop := context.WithCancel(s.ctx)
	f.stop, s.searches[by] = stop, f
	if last != nil {
		last.stop()
		// The previous answer is shown until the new one arrives.
		if narrowed := last.in; last.isAnswered() {
			if narrowed.Limit = in.Limit; reflect.DeepEqual(narrowed, in) {
				f.out = last.out
			}
		}
	}
	s.running.Go(panics.Logged(s.Log, "search of a machine's history", func() {
		defer stop()
		s.runSearch(ctx, key, f)
	}))
	return f
}

// runSearch asks a machine, and announces an answer that a caller did not wait for.
func (s *Machines) runSearch(ctx context.Context, key caller, f *search) {
	var out api.HistorySearchOutput
	err := error(api.Errorf(api.CodeInternal, "search history: internal error"))
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		f.out, f.err = out, err
		if f.late && ctx.Err() == nil {
			s.late++
			s.broadcast()
		}
		close(f.done)
	}()
	err = s.call(ctx, key, api.HistorySearch.Name, api.Read, f.in, &out)
	qualify.Output(key.machine, &out)
}

// awaitSearches waits for all answers, at most maxSearchWait.
func awaitSearches(ctx context.Context, asked []*search) {
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

// mergeKnown adds the answers received so far.
func (s *Machines) mergeKnown(asked []*search, out *api.HistorySearchOutput) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range asked {
		a := answer[api.HistorySearchOutput]{host: f.host, out: f.out}
		if !f.isAnswered() {
			f.late = true
		} else {
			a.err = f.err
		}
		merge(out, a)
	}
}
