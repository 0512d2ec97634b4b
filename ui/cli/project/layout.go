package project

// readLayout reads the tabs of a layout: a list of panes, each a session or a split, or a single
// split.
func (r *reader) readLayout(f field) {
	r.file.Layout = readList(r, f, func(f field) Pane { return r.readPane(f, 0) })
}

// Limits of a layout: panes per split, and depth of splits.
const (
	maxPanes  = 16
	maxSplits = 8
)

func (r *reader) readPane(f field, depth int) (p Pane) {
	if name, plain := scalarText(f.node); plain {
		if name == "" {
			r.addError(f.at, "a pane must name a session")
		}
		return Pane{Session: name, At: f.at}
	}
	// An anchor with its own alias would nest splits without end.
	if depth == maxSplits {
		r.addError(f.at, "splits nest at most %d deep", maxSplits)
		return p
	}
	split := func(beside bool) fieldReader {
		return func(f field) {
			if p.Panes != nil {
				r.addError(f.at, "a split must be beside or below")
			}
			p.Beside, p.Panes = beside, r.readPanes(f, depth)
		}
	}
	sizes := field{}
	r.readKeys(r.fields(f, "a pane"), "a split", map[string]fieldReader{
		"beside": split(true), "below": split(false),
		"sizes": func(f field) { sizes = f; p.Sizes = r.readSizes(f) },
	})
	switch {
	case len(p.Panes) == 0:
		r.addError(f.at, "a split needs panes, in beside or below")
	case p.Sizes != nil && len(p.Sizes) != len(p.Panes):
		r.addError(sizes.at, "%d panes but sizes for %d", len(p.Panes), len(p.Sizes))
	}
	return p
}

func (r *reader) readPanes(f field, depth int) []Pane {
	panes := readItems(r, f, func(f field) Pane { return r.readPane(f, depth+1) })
	if len(panes) > maxPanes {
		r.addError(f.at, "a split has at most %d panes", maxPanes)
	}
	return panes
}

func (r *reader) readSizes(f field) []int {
	return readItems(r, f, func(f field) int { return r.readNumber(f, 1, 1000) })
}

// checkLayout rejects panes for entries without a terminal, and a second pane for the same session.
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
				r.addError(p.At, "layout: unknown session %s", p.Session)
			case !e.Start.TTY:
				r.addError(p.At, "layout: %s is a process without a terminal", p.Session).hint("give it tty: true")
			case seen[p.Session]:
				r.addError(p.At, "layout: %s has two panes", p.Session)
			}
			seen[p.Session] = true
		}
	}
	visit(r.file.Layout)
}
