package history

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/server"
)

const (
	searchRows     = 50
	searchRowsMost = 1000
	// rankedMost is how many hits are ranked, the newest. To rank a million would
	// take most of a second, and whoever gets so many types on.
	rankedMost = 4096
	// rowsStep is how many rows are looked at between looks at the context.
	rowsStep = 1 << 16
)

// A filter says which rows a search looks at. Strings are numbers, and one that
// no row has lets nothing through.
type filter struct {
	cwd, kind, text *uint32
	process         *uint64
	actors, origins map[uint32]bool // nil: any
	failed          bool
	since           int64
	none            bool
	any             bool // everything gets through
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
	f.cwd, f.kind = pick(in.CWD), pick(in.Kind)
	if in.Process != "" {
		n, ok := x.processNumber(in.Process)
		f.process, f.none = &n, f.none || !ok
	}
	if in.Exact != "" {
		n, ok := x.texts.find(in.Exact)
		f.text, f.none = &n, f.none || !ok
	}
	if in.Actor != "" {
		f.actors = x.actors(in.Actor)
	}
	if in.From != "" {
		f.origins = x.origins(in.From)
	}
	if in.Since != nil {
		f.since = in.Since.UnixMicro()
	}
	f.failed = in.Failed
	f.any = f.cwd == nil && f.process == nil && f.kind == nil && f.text == nil && f.actors == nil && f.origins == nil && !f.failed && in.Since == nil
	return f
}

// actors are the numbers of those who are meant: one, or "agent" for any agent.
func (x *historyIndex) actors(name string) map[uint32]bool {
	found := make(map[uint32]bool)
	for n, word := range x.words {
		if word == name || name == "agent" && strings.HasPrefix(word, server.AgentPrefix) {
			found[uint32(n)] = true
		}
	}
	return found
}

// origins are the numbers of the machines that are meant: those whose user@host, or host
// alone, begins so.
func (x *historyIndex) origins(name string) map[uint32]bool {
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

func (f *filter) passes(e *historyEntry) bool {
	switch {
	case f.any:
		return true
	case f.cwd != nil && e.cwd != *f.cwd,
		f.process != nil && e.process != *f.process,
		f.kind != nil && e.kind != *f.kind,
		f.text != nil && e.text != *f.text,
		f.actors != nil && !f.actors[e.actor],
		f.origins != nil && !f.origins[e.from],
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

// search finds rows. It gives up when ctx ends.
func (x *historyIndex) search(ctx context.Context, in api.HistorySearchInput) (api.HistorySearchOutput, error) {
	out := api.HistorySearchOutput{Rows: []api.HistoryRow{}}
	f := x.filterOf(in)
	if f.none {
		return out, nil
	}
	g := gathering{index: x, filter: f, unique: in.Unique}
	q := parseQuery(in.Query)
	if len(q) > 0 {
		texts, err := x.textsThat(ctx, in.Query, q)
		if err != nil {
			return out, err
		}
		g.texts = &texts
	}
	limit := min(cmp.Or(in.Limit, searchRows), searchRowsMost)
	g.most = max(rankedMost, min(in.Offset, len(x.rows))+limit)
	hits, err := g.gather(ctx)
	if err == nil && len(q) > 0 {
		err = x.rank(ctx, q, hits[:min(len(hits), rankedMost)])
	}
	if err != nil {
		return out, err
	}
	out.Total = g.total
	hits = hits[min(in.Offset, len(hits)):]
	m := newMatcher(q)
	for _, h := range hits[:min(limit, len(hits))] {
		e := &x.rows[h.row]
		row := api.HistoryRow{Command: x.command(e), Runs: 1, Matched: m.positions(x.texts.bytes(e.text)), Score: int(h.score)}
		if in.Unique {
			row.Runs = int(g.runs[e.text])
		}
		out.Rows = append(out.Rows, row)
	}
	return out, ctx.Err()
}

// A gathering collects hits, newest first.
type gathering struct {
	index  *historyIndex
	filter filter
	texts  *textSet // nil: all
	unique bool
	most   int // hits; of the others only the number is told

	total int
	runs  []uint32 // if unique: number of rows of each text that pass the filter
}

func (g *gathering) gather(ctx context.Context) (hits []hit, err error) {
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
	for i := len(x.commands) - 1; i >= 0 && !(known && len(hits) == min(g.most, g.total)); i-- {
		if i%rowsStep == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		text := x.commands[i]
		if g.texts != nil && !g.texts.has(text) || !g.filter.passes(&x.rows[i]) {
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
		if len(hits) < g.most {
			hits = append(hits, hit{row: i})
		}
		if !known {
			g.total++
		}
	}
	return hits, nil
}

// rank sorts hits, the best first.
func (x *historyIndex) rank(ctx context.Context, q query, hits []hit) error {
	err := inParallel(ctx, len(hits), q, func(m *matcher, from, to int) {
		for i := from; i < to; i++ {
			hits[i].score, _ = m.score(x.texts.bytes(x.commands[hits[i].row]))
		}
	})
	slices.SortFunc(hits, byRank)
	return err
}
