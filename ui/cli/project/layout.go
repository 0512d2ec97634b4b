package project

// takeLayout reads the tabs of a layout: a list of panes, each of which is a
// session or a split, or a single split.
func (r *reader) takeLayout(f field) {
	r.file.Layout = each(r, f, func(f field) Pane { return r.pane(f, 0) })
}

// maxPanes bounds the panes of a split, maxSplits how deep splits nest.
const (
	maxPanes  = 16
	maxSplits = 8
)

func (r *reader) pane(f field, depth int) (p Pane) {
	if name, plain := scalar(f.node); plain {
		if name == "" {
			r.wrong(f.at, "a pane must name a session")
		}
		return Pane{Session: name, At: f.at}
	}
	if depth == maxSplits {
		r.wrong(f.at, "splits nest at most %d deep", maxSplits)
		return p
	}
	split := func(beside bool) take {
		return func(f field) {
			if p.Panes != nil {
				r.wrong(f.at, "a split is either beside or below")
			}
			p.Beside, p.Panes = beside, r.panes(f, depth)
		}
	}
	sizes := field{}
	r.each(r.fields(f, "a pane"), "a split", map[string]take{
		"beside": split(true), "below": split(false),
		"sizes": func(f field) { sizes = f; p.Sizes = r.sizes(f) },
	})
	switch {
	case len(p.Panes) == 0:
		r.wrong(f.at, "a split needs panes, in beside or below")
	case p.Sizes != nil && len(p.Sizes) != len(p.Panes):
		r.wrong(sizes.at, "%d panes but sizes for %d", len(p.Panes), len(p.Sizes))
	}
	return p
}

func (r *reader) panes(f field, depth int) []Pane {
	items := r.items(f)
	if len(items) > maxPanes {
		r.wrong(f.at, "a split has at most %d panes", maxPanes)
	}
	all := make([]Pane, len(items))
	for i, item := range items {
		all[i] = r.pane(item, depth+1)
	}
	return all
}

func (r *reader) sizes(f field) []int {
	items := r.items(f)
	sizes := make([]int, len(items))
	for i, item := range items {
		sizes[i] = r.number(item, 1, 1000)
	}
	return sizes
}

// checkLayout refuses panes of what has no terminal, or has a pane already.
func (r *reader) checkLayout(known map[string]*Entry) {
	seen := map[string]bool{}
	var visit func(panes []Pane)
	visit = func(panes []Pane) {
		for _, p := range panes {
			if len(p.Panes) > 0 {
				visit(p.Panes)
				continue
			}
			switch e := known[p.Session]; {
			case e == nil:
				r.wrong(p.At, "layout: unknown session %s", p.Session)
			case !e.Start.TTY:
				r.wrong(p.At, "layout: %s is a process without a terminal", p.Session).hint("give it tty: true")
			case seen[p.Session]:
				r.wrong(p.At, "layout: %s has two panes", p.Session)
			}
			seen[p.Session] = true
		}
	}
	visit(r.file.Layout)
}
