package outputs

import (
	"cmp"
	"context"
	"strings"
	"time"

	"tandem/engine/api"
)

// keptPage is how many runs without a record are listed at a time.
const keptPage = 200

// Kinds is the number of kinds in KeptFilter.
const Kinds = len(kinds)

// A Kept lists the output of runs without a record. It is safe for concurrent use.
type Kept interface {
	// List returns up to n runs that f may accept, in the order of KeptCursor, from one on. There are
	// no more if it returns fewer.
	List(ctx context.Context, f KeptFilter, from KeptCursor, n int) ([]Target, error)
	// Count returns the number of runs that f may accept, and the size of their output in bytes, from
	// a cursor on.
	Count(ctx context.Context, f KeptFilter, from KeptCursor) (n int, bytes int64, err error)
}

// A KeptCursor is a place in the order of runs without a record: the latest exit first, then by id.
// The zero value is before all.
type KeptCursor struct {
	At    time.Time // of the exit, to a microsecond
	ID    string
	After bool // the run itself does not belong to the rest
}

// A KeptFilter has the conditions of a search that need not be checked for each run. Zero values
// accept all.
type KeptFilter struct {
	Name   string // name or id
	Kinds  []string
	Failed bool
	Since  time.Time // of the exit
}

// kept returns the conditions for runs without a record, of kinds that the caller may read or may
// not. ok is false if there are none.
func (q *Query) kept(readable bool) (f KeptFilter, ok bool) {
	f.Failed = q.Failed
	if !strings.ContainsAny(q.Name, `*?[\`) {
		f.Name = q.Name
	}
	if q.Since != nil {
		f.Since = *q.Since
	}
	for _, kind := range kinds {
		if (q.Kind == "" || q.Kind == kind) && q.mayRead(kind) == readable {
			f.Kinds = append(f.Kinds, kind)
		}
	}
	return f, len(f.Kinds) > 0 && !q.Running
}

// mayRead reports whether the caller may read output of a kind.
func (q *Query) mayRead(kind string) bool {
	if q.MayRead == nil {
		return true
	}
	if kind == kindExec {
		kind = string(api.KindProcess)
	}
	return q.MayRead(api.Kind(kind))
}

// KeptRow returns what a Kept needs of a run to order and to filter it.
func KeptRow(p api.Process) (at time.Time, kind string, failed bool) {
	return keptAt(p), kindOf(p), hasFailed(p)
}

// keptAt returns the time to order the logs of a run without a record by.
func keptAt(p api.Process) time.Time {
	at := p.StartedAt
	if p.ExitedAt != nil {
		at = *p.ExitedAt
	}
	return at.Truncate(time.Microsecond)
}

// A keptList is the rest of the runs without a record that a search has not listed.
type keptList struct {
	filter KeptFilter
	next   KeptCursor
	done   bool
}

// newKeptList returns the runs from a cursor on.
func (s *Searcher) newKeptList(q *Query) keptList {
	f, ok := q.kept(true)
	l := keptList{filter: f, done: !ok || s.Kept == nil}
	if q.cursor.Group == groupKept {
		l.next = KeptCursor{At: q.cursor.At, ID: q.cursor.ID}
	}
	return l
}

// listKept adds the next page of runs without a record to the places.
func (r *run) listKept(ctx context.Context) {
	n := cmp.Or(r.page, keptPage)
	page, err := r.Kept.List(ctx, r.kept.filter, r.kept.next, n)
	if ctx.Err() != nil {
		return
	}
	if r.kept.done = err != nil || len(page) < n; err != nil {
		r.cursor.Skipped++
		return
	}
	for _, t := range page {
		r.kept.next = KeptCursor{keptAt(t.Process), t.Process.ID, true}
		if !r.listed[t.Process.ID] && r.q.Accepts(t.Process) {
			r.places = append(r.places, listPlaces([]Target{t}, r.q.cursor)...)
		}
	}
	if len(r.places) == 0 && len(page) > 0 { // nothing to collect moves the cursor
		r.cursor.Group, r.cursor.At, r.cursor.ID, r.cursor.Stream, r.cursor.Offset = groupKept, r.kept.next.At, r.kept.next.ID, "", 0
	}
}

// CountWithheld returns about how many runs without a record meet the conditions of q, but may not be
// read by the caller.
func (s *Searcher) CountWithheld(ctx context.Context, q *Query) int {
	f, ok := q.kept(false)
	if !ok || s.Kept == nil {
		return 0
	}
	n, _, _ := s.Kept.Count(ctx, f, KeptCursor{}) // an unreadable database is reported by the search
	return n
}
