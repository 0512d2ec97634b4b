// Package outputs searches the logs of many sessions and processes, newest first. A search takes
// several calls, each of which continues the one before. Package logs reads and matches each log.
package outputs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/base/panics"
	"tandem/engine/record/logs"
)

const (
	defaultHits = 100
	maxHits     = 1000
	maxContext  = 100
	// defaultWait is short enough that the first hits arrive within a tenth of a second.
	defaultWait = 80 * time.Millisecond
	minWait     = 20 * time.Millisecond
	maxWait     = time.Second
	// ahead is how many segments are planned at a time.
	ahead = 4
)

// Workers is how many segments are searched at a time.
const Workers = 2

// A Searcher searches logs.
type Searcher struct {
	Logs *logs.Logs
	// RunsAt returns the command behind each line of a session's log, given the offsets of its start
	// and end; nil for unknown ones.
	RunsAt func(ctx context.Context, session string, lines [][2]int64) ([]*api.Command, error)
	Kept   Kept // nil if there is none

	segmentSize int64 // segmentSize, except in tests
	page        int   // keptPage, except in tests
}

// A Query is a valid input of output.search.
type Query struct {
	MayRead func(api.Kind) bool // reports whether the caller may read a kind of output; nil if all
	filter
	pattern *logs.Pattern
	cursor  api.OutputCursor
	wait    time.Duration // how long to search
}

// NewQuery checks an input. The error is an *api.Error with CodeInvalid or CodeForbidden.
func NewQuery(in api.OutputSearchInput) (*Query, error) {
	switch {
	case in.Text == "":
		return nil, api.Errorf(api.CodeInvalid, "search output: no text given")
	case min(in.Context, in.Limit, in.WaitMS) < 0:
		return nil, api.Errorf(api.CodeInvalid, "search output: context, limit and wait_ms cannot be negative")
	case in.Host != "": // the call of a user's program goes to that machine instead
		return nil, api.Errorf(api.CodeForbidden, "search output on %s: this engine reaches other machines only for its user's programs", names.Shown(in.Host))
	}
	if err := (filter{in}).check(); err != nil {
		return nil, err
	}
	pattern, err := logs.CompileSearch(in.Expression())
	if err != nil {
		return nil, err
	}
	in.Limit = min(cmp.Or(in.Limit, defaultHits), maxHits)
	in.Context = min(in.Context, maxContext)
	q := &Query{filter: filter{in}, pattern: pattern, cursor: api.OutputCursor{Began: time.Now()}}
	q.wait = max(min(cmp.Or(time.Duration(in.WaitMS)*time.Millisecond, defaultWait), maxWait), minWait)
	if in.Cursor != nil {
		q.cursor = *in.Cursor
	}
	return q, nil
}

// Search implements output.search on the logs of targets, which the query must accept. It returns as soon as it has searched long
// enough, found enough, or is finished. An error of ctx is returned at once.
func (s *Searcher) Search(ctx context.Context, q *Query, targets []Target) (api.OutputSearchOutput, error) {
	searching, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	r := &run{
		Searcher: s, q: q, places: listPlaces(targets, q.cursor), listed: map[string]bool{}, kept: s.newKeptList(q), cursor: q.cursor,
		slots: make(chan struct{}, Workers), open: map[*logs.Opened]bool{}, out: api.OutputSearchOutput{Hits: []api.OutputHit{}},
	}
	for _, t := range targets {
		r.listed[t.Process.ID] = true
	}
	finished := r.searchAll(searching)
	cancel()
	r.close()
	if err := ctx.Err(); err != nil {
		return api.OutputSearchOutput{}, err
	}
	if r.out.Skipped = r.cursor.Skipped; !finished {
		r.out.Cursor, r.out.Left = &r.cursor, r.bytesLeft(ctx)
	}
	r.addRuns(ctx)
	return r.out, ctx.Err()
}

// A run is one call of Search. Its goroutine plans segments and collects their hits in order; others
// search them.
type run struct {
	*Searcher
	q      *Query
	places []place         // logs not collected completely, in order
	listed map[string]bool // ids of processes that have a record and their log
	kept   keptList
	cursor api.OutputCursor
	out    api.OutputSearchOutput
	spans  [][2]int64 // starts and ends of the hits
	size   int        // of the text of the hits

	planned int          // number of places planned completely
	log     *logs.Opened // of the place after them; nil before it is opened
	to      int64        // end of its next segment

	queue []*segment // planned, not collected
	group panics.Group
	slots chan struct{} // limits how many are searched at a time
	open  map[*logs.Opened]bool
}

// searchAll searches until everything is searched, enough is found, or ctx ends. finished is true in
// the first case.
func (r *run) searchAll(ctx context.Context) (finished bool) {
	for {
		for len(r.queue) < ahead && ctx.Err() == nil {
			if r.planned == len(r.places) {
				if r.kept.done {
					break
				}
				r.listKept(ctx)
				continue
			}
			if s := r.plan(ctx); s != nil {
				r.queue = append(r.queue, s)
				r.start(ctx, s)
			}
		}
		if len(r.queue) == 0 {
			return r.planned == len(r.places) && r.kept.done
		}
		s := r.queue[0]
		<-s.done
		r.queue = r.queue[1:]
		if !r.collect(s) {
			return false
		}
		switch {
		case !s.isFinished() && ctx.Err() != nil:
			return false
		case !s.isFinished(): // it had too many unwanted lines
			rest := &segment{place: s.place, log: s.log, from: s.from, to: s.next, last: s.last, done: make(chan struct{})}
			r.queue = slices.Insert(r.queue, 0, rest)
			r.start(ctx, rest)
		case s.last:
			r.closeLog(s.log)
			r.places = r.places[1:]
			r.planned--
		}
	}
}

// collect adds the hits of a segment to the answer, and reports whether there is room for more.
func (r *run) collect(s *segment) (more bool) {
	skipped := r.cursor.Skipped
	r.cursor = s.place.cursor(r.cursor.Began, s.next)
	if r.cursor.Skipped = skipped; s.err != nil {
		r.cursor.Skipped++
	}
	for i, h := range s.hits {
		if !r.q.acceptsTime(s.times[i]) {
			continue
		}
		r.out.Hits = append(r.out.Hits, s.place.hit(h, s.times[i]))
		r.spans = append(r.spans, [2]int64{h.Offset, h.Next})
		if r.size += h.Size(); len(r.out.Hits) == r.q.Limit || r.size >= logs.MaxRead {
			r.cursor.Offset = h.Offset
			r.out.Searched += s.to - h.Offset
			return false
		}
	}
	r.out.Searched += max(s.to-s.next, 0)
	return true
}

// hit returns a line for clients; at is when it was written, zero if unknown.
func (p place) hit(h logs.Hit, at time.Time) api.OutputHit {
	v := p.Process
	hit := api.OutputHit{
		ID: v.ID, Name: v.Name, Kind: kindOf(v), Actor: v.Actor, From: v.From,
		State: v.State, ExitCode: v.ExitCode, ExitSignal: v.ExitSignal, Time: at, LogMatch: h.LogMatch,
	}
	if hit.Stream = p.stream; at.IsZero() {
		hit.Time, hit.Rough = v.StartedAt, true
		if v.ExitedAt != nil {
			hit.Time = *v.ExitedAt
		}
	}
	return hit
}

// addRuns adds the commands behind the hits, as far as known, with one query for each session.
func (r *run) addRuns(ctx context.Context) {
	bySession := map[string][]int{}
	for i, h := range r.out.Hits {
		if h.Kind == string(api.KindSession) {
			bySession[h.ID] = append(bySession[h.ID], i)
		}
	}
	for session, hits := range bySession {
		lines := make([][2]int64, len(hits))
		for i, n := range hits {
			lines[i] = r.spans[n]
		}
		runs, err := r.RunsAt(ctx, session, lines)
		if err != nil { // an unreadable history is reported elsewhere
			return
		}
		for i, n := range hits {
			h := &r.out.Hits[n]
			if h.Run = runs[i]; h.Rough && h.Run != nil {
				h.Time = h.Run.StartedAt
			}
		}
	}
}
