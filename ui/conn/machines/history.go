package machines

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/panes"
)

const (
	// foundTogether is how long a search waits for machines that answer later than
	// the first of all.
	foundTogether = 30 * time.Millisecond
	// mostOfEach is how many rows of each of several machines are merged, as many as
	// an engine gives at once.
	mostOfEach = 1000
	foundStep  = 250 // rows that are asked for at once
)

// found is what a machine answers to a search of its history.
type found struct {
	in   api.HistorySearchInput
	at   int64 // changes of its history when it was asked
	stop context.CancelFunc
	done chan struct{} // closed when out and err are there

	out  api.HistorySearchOutput
	err  error
	late bool // somebody did not wait for it
}

func (f *found) answered() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// forgetFound has the history of the machine be searched anew. The lock is held.
func (m *machine) forgetFound() {
	if m.found != nil {
		m.found.stop()
		m.found = nil
	}
	m.set.found++
}

// search searches the histories of the machines that are named. One alone is waited
// for; of several, those that are away or slow are not.
func (e Engine) search(ctx context.Context, in api.HistorySearchInput, out *api.HistorySearchOutput) (err error) {
	hosts := in.Hosts
	own := len(hosts) == 0 || slices.Contains(hosts, "")
	in.Hosts = nil
	var asked []*found
	e.set.mu.Lock()
	for _, name := range hosts {
		if m := e.set.find(name); m != nil && m.now.State == api.MachineConnected && len(hosts) > 1 {
			asked = append(asked, m.search(in))
		}
	}
	e.set.mu.Unlock()
	switch {
	case len(hosts) == 1 && hosts[0] != "":
		return e.set.on(ctx, hosts[0], func(ctx context.Context, far panes.Engine) (err error) {
			*out, err = api.HistorySearch.Call(ctx, far, in)
			here(hosts[0], out)
			return err
		})
	case len(asked) == 0 && own:
		*out, err = api.HistorySearch.Call(ctx, e.Engine, in)
		return err
	}
	*out = api.HistorySearchOutput{Rows: []api.HistoryRow{}}
	if own {
		if *out, err = api.HistorySearch.Call(ctx, e.Engine, prefix(in)); err != nil {
			return err
		}
		out.Total = min(out.Total, mostOfEach)
	}
	together(ctx, asked)
	e.set.merge(asked, out)
	slices.SortStableFunc(out.Rows, func(a, b api.HistoryRow) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.StartedAt.Compare(a.StartedAt))
	})
	out.Rows = out.Rows[min(in.Offset, len(out.Rows)):]
	out.Rows = out.Rows[:min(cmp.Or(in.Limit, foundStep), len(out.Rows))]
	return ctx.Err()
}

// prefix asks for all rows from the first on that a window of merged ones may have.
func prefix(in api.HistorySearchInput) api.HistorySearchInput {
	rows := in.Offset + cmp.Or(in.Limit, foundStep)
	in.Offset, in.Limit = 0, min((rows+foundStep-1)/foundStep*foundStep, mostOfEach)
	return in
}

// search asks the machine, unless what it has answered last still holds. The lock is
// held.
func (m *machine) search(in api.HistorySearchInput) *found {
	in = prefix(in)
	last := m.found
	if last != nil && last.at == m.news.History && reflect.DeepEqual(last.in, in) {
		return last
	}
	f := &found{in: in, at: m.news.History, done: make(chan struct{})}
	ctx, stop := context.WithCancel(m.set.ctx)
	f.stop, m.found = stop, f
	if last != nil {
		last.stop()
		if narrowed := last.in; last.answered() { // it stands until there is another answer
			if narrowed.Limit = in.Limit; reflect.DeepEqual(narrowed, in) {
				f.out = last.out
			}
		}
	}
	name := m.now.Name
	m.set.start(func() {
		defer stop()
		m.set.searched(ctx, name, f)
	})
	return f
}

// searched has a machine asked, and its answer told if nobody has waited for it.
func (s *Set) searched(ctx context.Context, name string, f *found) {
	var out api.HistorySearchOutput
	err := s.on(ctx, name, func(ctx context.Context, e panes.Engine) (err error) {
		out, err = api.HistorySearch.Call(ctx, e, f.in)
		return err
	})
	here(name, &out)
	s.mu.Lock()
	f.out, f.err = out, err
	late := f.late && ctx.Err() == nil
	if late {
		s.found++
		s.serial++
	}
	close(f.done)
	s.mu.Unlock()
	if late {
		s.notify()
	}
}

// together waits until all have answered, or for a moment.
func together(ctx context.Context, asked []*found) {
	enough := time.NewTimer(foundTogether)
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

// merge adds what machines have answered so far.
func (s *Set) merge(asked []*found, out *api.HistorySearchOutput) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range asked {
		if !f.answered() {
			f.late = true
		} else if f.err != nil {
			out.Missing = append(out.Missing, api.AsError(f.err).Message)
		}
		out.Rows = append(out.Rows, f.out.Rows...)
		out.Total += min(f.out.Total, mostOfEach)
	}
}
