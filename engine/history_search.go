package engine

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"tandem/engine/api"
)

const (
	searchRows     = 50
	searchRowsMost = 1000
	// cancelStep is how many texts are matched between looks at the context.
	cancelStep = 512
)

// A filter says which rows a search looks at. Strings are numbers, and one that
// no row has lets nothing through.
type filter struct {
	cwd, process, kind, text *uint32
	actors                   map[uint32]bool // nil: any
	failed                   bool
	since                    int64
	none                     bool
	any                      bool // everything gets through
}

func (x *historyIndex) filterOf(in api.HistorySearchInput) filter {
	var f filter
	pick := func(s string) *uint32 {
		if s == "" {
			return nil
		}
		n, ok := x.lookUp(s)
		f.none = f.none || !ok
		return &n
	}
	f.cwd, f.process, f.kind = pick(in.CWD), pick(in.Process), pick(in.Kind)
	if in.Exact != "" {
		n, _, ok := x.find(in.Exact)
		f.text, f.none = &n, f.none || !ok
	}
	if in.Actor != "" {
		f.actors = x.actors(in.Actor)
	}
	if in.Since != nil {
		f.since = in.Since.UnixMicro()
	}
	f.failed = in.Failed
	f.any = f.cwd == nil && f.process == nil && f.kind == nil && f.text == nil && f.actors == nil && !f.failed && in.Since == nil
	return f
}

// agentPrefix is what the names of all agents begin with.
const agentPrefix = "agent:"

// actors are the numbers of those who are meant: one, or "agent" for any agent.
func (x *historyIndex) actors(name string) map[uint32]bool {
	found := make(map[uint32]bool)
	for n, word := range x.words {
		if word == name || name == "agent" && strings.HasPrefix(word, agentPrefix) {
			found[uint32(n)] = true
		}
	}
	return found
}

func (f *filter) passes(e *historyEntry) bool {
	switch {
	case f.any:
		return true
	case f.cwd != nil && e.cwd != *f.cwd,
		f.process != nil && e.process != *f.process,
		f.kind != nil && e.kind != *f.kind,
		f.text != nil && e.text != *f.text,
		f.actors != nil && !f.actors[e.actor],
		f.failed && !e.failed(),
		e.started < f.since:
		return false
	}
	return true
}

// A hit is a row that a search has found, by its place in the index.
type hit struct {
	row   int
	score int32
}

// byRank puts the better match first, and the newer among equals.
func byRank(a, b hit) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.row, a.row))
}

// A ranking keeps the best hits. They must come newest first.
type ranking struct {
	most int
	best []hit
	bar  int32 // what does not score more is not among the best
	full bool
}

func (r *ranking) add(h hit) {
	if r.full && h.score <= r.bar {
		return
	}
	r.best = append(r.best, h)
	if len(r.best) >= 2*r.most+64 {
		r.cut()
	}
}

func (r *ranking) cut() {
	slices.SortFunc(r.best, byRank)
	if len(r.best) >= r.most {
		r.best = r.best[:r.most]
		r.full = true
		if r.most > 0 {
			r.bar = r.best[r.most-1].score
		}
	}
}

// A scratch is the memory that searches use, one after the other.
type scratch struct {
	scores []int32 // of each command line; see the constants
	runs   []int32 // of each command line, what gets through the filter
}

const (
	scoreUnwanted = -2 // nobody asks for it
	scoreNone     = -1 // it does not match
)

func (s *scratch) reset(n int) {
	s.scores = slices.Grow(s.scores[:0], n)[:n]
	s.runs = slices.Grow(s.runs[:0], n)[:n]
	clear(s.scores)
	clear(s.runs)
}

// search finds rows. It gives up when ctx ends.
func (x *historyIndex) search(ctx context.Context, in api.HistorySearchInput, s *scratch) (api.HistorySearchOutput, error) {
	out := api.HistorySearchOutput{Rows: []api.HistoryRow{}}
	f := x.filterOf(in)
	if f.none {
		return out, nil
	}
	q := parseQuery(in.Query)
	s.reset(len(x.ends))
	if len(q) > 0 {
		if err := x.scoreTexts(ctx, q, &f, s.scores); err != nil {
			return out, err
		}
	}
	limit := min(cmp.Or(in.Limit, searchRows), searchRowsMost)
	best := ranking{most: min(in.Offset, len(x.rows)) + limit}
	for i := len(x.rows) - 1; i >= 0; i-- {
		e := &x.rows[i]
		score := s.scores[e.text]
		if score < 0 || !f.passes(e) {
			continue
		}
		if s.runs[e.text]++; in.Unique && s.runs[e.text] > 1 {
			continue
		}
		out.Total++
		best.add(hit{i, score})
	}
	best.cut()
	found := best.best[min(in.Offset, len(best.best)):]
	m := newMatcher(q)
	for _, h := range found[:min(limit, len(found))] {
		e := &x.rows[h.row]
		row := api.HistoryRow{Command: x.command(e), Runs: 1, Matched: m.positions(x.line(e.text))}
		if in.Unique {
			row.Runs = int(s.runs[e.text])
		}
		out.Rows = append(out.Rows, row)
	}
	return out, ctx.Err()
}

// scoreTexts matches each command line once that a row has which gets through
// the filter.
func (x *historyIndex) scoreTexts(ctx context.Context, q query, f *filter, scores []int32) error {
	if !f.any {
		for i := range scores {
			scores[i] = scoreUnwanted
		}
		for i := range x.rows {
			if e := &x.rows[i]; f.passes(e) {
				scores[e.text] = 0
			}
		}
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range max(1, min(runtime.GOMAXPROCS(0), 4, len(scores)/cancelStep)) {
		workers.Go(func() {
			m := newMatcher(q)
			for ctx.Err() == nil {
				begin := int(next.Add(cancelStep)) - cancelStep
				if begin >= len(scores) {
					return
				}
				x.scoreSome(m, scores, begin, min(begin+cancelStep, len(scores)))
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

func (x *historyIndex) scoreSome(m *matcher, scores []int32, from, to int) {
	for n := from; n < to; n++ {
		if scores[n] == scoreUnwanted {
			continue
		}
		score, ok := m.score(x.line(uint32(n)), x.masks[n])
		if !ok {
			score = scoreNone
		}
		scores[n] = score
	}
}
