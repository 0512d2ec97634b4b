package history

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tandem/engine/api"
)

const (
	defaultSearchRows = 50
	maxSearchRows     = 1000
	// maxRanked is how many of the newest matches are ranked. Ranking a million would take most of
	// a second, and a user with so many matches keeps typing.
	maxRanked = 4096
	// rowsStep is how many rows are scanned between two checks of the context.
	rowsStep = 1 << 16
)

// A filter selects the rows of a search. Strings are given by their numbers.
type filter struct {
	cwd, kind, text *uint32
	process         *uint64
	actors, origins map[uint32]bool // nil matches any
	failed          bool
	since           int64
	none            bool // matches no row: a string is unknown
	any             bool // matches every row
}

func (x *historyIndex) newFilter(in api.HistorySearchInput) filter {
	var f filter
	pick := func(s string) *uint32 {
		if s == "" {
			return nil
		}
		n, ok := x.findWord(s)
		f.none = f.none || !ok
		return &n
	}
	f.cwd, f.kind = pick(in.CWD), pick(in.Kind)
	if in.Process != "" {
		n, ok := x.processNumber(in.Process)
		f.process, f.none = &n, f.none || !ok
	}
	if in.Exact != "" {
		n, ok := x.texts.findLine(in.Exact)
		f.text, f.none = &n, f.none || !ok
	}
	if in.Actor != "" {
		f.actors = x.matchActors(in.Actor)
	}
	if in.From != "" {
		f.origins = x.matchOrigins(in.From)
	}
	if in.Since != nil {
		f.since = in.Since.UnixMicro()
	}
	f.failed = in.Failed
	f.any = f.cwd == nil && f.process == nil && f.kind == nil && f.text == nil && f.actors == nil && f.origins == nil && !f.failed && in.Since == nil
	return f
}

// matchActors returns the numbers of the actors meant by name: a single actor, all connections of
// an agent, or any agent for "agent".
func (x *historyIndex) matchActors(name string) map[uint32]bool {
	found := make(map[uint32]bool)
	for n, word := range x.words {
		ofAgent := strings.HasPrefix(word, api.AgentPrefix)
		if word == name || ofAgent && (name == "agent" || strings.HasPrefix(word, name+"/")) {
			found[uint32(n)] = true
		}
	}
	return found
}

// matchOrigins returns the numbers of the machines whose user@host, or host alone, starts with
// name.
func (x *historyIndex) matchOrigins(name string) map[uint32]bool {
	found := make(map[uint32]bool)
	name = strings.ToLower(name)
	for n, word := range x.words {
		word = strings.ToLower(word)
		if _, host, ok := strings.Cut(word, "@"); ok && (strings.HasPrefix(word, name) || strings.HasPrefix(host, name)) {
			found[uint32(n)] = true
		}
	}
	return found
}

func (f *filter) acceptsRow(e *historyEntry) bool {
	switch {
	case f.any:
		return true
	case f.cwd != nil && e.cwd != *f.cwd,
		f.process != nil && e.process != *f.process,
		f.kind != nil && e.kind != *f.kind,
		f.text != nil && e.text != *f.text,
		f.actors != nil && !f.actors[e.actor],
		f.origins != nil && !f.origins[e.from],
		f.failed && !e.hasFailed(),
		e.started < f.since:
		return false
	}
	return true
}

// A hit is a row found by a search, by its index.
type hit struct {
	row   int
	score int32
}

// byRank orders better matches first, and newer ones among equals.
func byRank(a, b hit) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.row, a.row))
}

// search returns the matching rows. It stops early when ctx ends.
func (x *historyIndex) search(ctx context.Context, in api.HistorySearchInput) (api.HistorySearchOutput, error) {
	out := api.HistorySearchOutput{Rows: []api.HistoryRow{}}
	f := x.newFilter(in)
	if f.none {
		return out, nil
	}
	g := collector{index: x, filter: f, unique: in.Unique}
	q := parseQuery(in.Query)
	if len(q) > 0 {
		texts, err := x.matchTexts(ctx, in.Query, q)
		if err != nil {
			return out, err
		}
		g.texts = &texts
	}
	limit := min(cmp.Or(in.Limit, defaultSearchRows), maxSearchRows)
	g.maxHits = max(maxRanked, min(in.Offset, len(x.rows))+limit)
	hits, err := g.collectHits(ctx)
	if err == nil && len(q) > 0 {
		err = x.rankHits(ctx, q, hits[:min(len(hits), maxRanked)])
	}
	if err != nil {
		return out, err
	}
	out.Total = g.total
	hits = hits[min(in.Offset, len(hits)):]
	m := newMatcher(q)
	for _, h := range hits[:min(limit, len(hits))] {
		e := &x.rows[h.row]
		row := api.HistoryRow{Command: x.toCommand(e), Runs: 1, Matched: m.positions(x.texts.lineBytes(e.text)), Score: int(h.score)}
		if in.Unique {
			row.Runs = int(g.runs[e.text])
		}
		out.Rows = append(out.Rows, row)
	}
	return out, ctx.Err()
}

// A collector collects hits, newest first.
type collector struct {
	index   *historyIndex
	filter  filter
	texts   *textSet // nil matches all
	unique  bool
	maxHits int // maximum number of hits; further ones are only counted

	total int
	runs  []uint32 // if unique: number of rows of each text that pass the filter
}

func (g *collector) collectHits(ctx context.Context) (hits []hit, err error) {
	x := g.index
	seen := newTextSet(x.texts.count())
	known := g.unique && g.filter.any // the total is known, so the scan stops once there are enough hits
	if known {
		g.runs, g.total = x.runs, seen.count
		if g.texts != nil {
			g.total = g.texts.size()
		}
	} else if g.unique {
		g.runs = make([]uint32, seen.count)
	}
	for i := len(x.commands) - 1; i >= 0 && !(known && len(hits) == min(g.maxHits, g.total)); i-- {
		if i%rowsStep == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		text := x.commands[i]
		if g.texts != nil && !g.texts.has(text) || !g.filter.acceptsRow(&x.rows[i]) {
			continue
		}
		if g.unique {
			if !known {
				g.runs[text]++
			}
			if seen.has(text) {
				continue
			}
			seen.add(text)
		}
		if len(hits) < g.maxHits {
			hits = append(hits, hit{row: i})
		}
		if !known {
			g.total++
		}
	}
	return hits, nil
}

// rankHits sorts hits, best first.
func (x *historyIndex) rankHits(ctx context.Context, q query, hits []hit) error {
	err := runParallel(ctx, len(hits), q, func(m *matcher, from, to int) {
		for i := from; i < to; i++ {
			hits[i].score, _ = m.score(x.texts.lineBytes(x.commands[hits[i].row]))
		}
	})
	slices.SortFunc(hits, byRank)
	return err
}
