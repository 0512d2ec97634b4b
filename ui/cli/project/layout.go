package project

import "github.com/goccy/go-yaml/ast"

// takeLayout reads the tabs of a layout: a list of panes, each of which is a
// session or a split, or a single split.
func (r *reader) takeLayout(f field) error {
	if _, list := f.node.(*ast.SequenceNode); !list {
		tab, err := r.pane(f, 0)
		r.file.Layout = []Pane{tab}
		return err
	}
	items, err := r.items(f)
	if err != nil {
		return err
	}
	for _, item := range items {
		tab, err := r.pane(item, 0)
		if err != nil {
			return err
		}
		r.file.Layout = append(r.file.Layout, tab)
	}
	return nil
}

// maxPanes bounds the panes of a split, maxSplits how deep splits nest.
const (
	maxPanes  = 16
	maxSplits = 8
)

func (r *reader) pane(f field, depth int) (p Pane, err error) {
	if name, plain := scalar(f.node); plain {
		if name == "" {
			return p, r.wrong(f.at, "a pane must name a session")
		}
		return Pane{Session: name, At: f.at}, nil
	}
	if depth == maxSplits {
		return p, r.wrong(f.at, "splits nest at most %d deep", maxSplits)
	}
	fields, err := r.fields(f, "a pane")
	if err != nil {
		return p, err
	}
	split := func(beside bool) take {
		return func(f field) error {
			if p.Panes != nil {
				return r.wrong(f.at, "a split is either beside or below")
			}
			p.Beside = beside
			p.Panes, err = r.panes(f, depth)
			return err
		}
	}
	sizes := field{}
	err = r.each(fields, "a split", map[string]take{
		"beside": split(true), "below": split(false),
		"sizes": func(f field) (err error) { sizes = f; p.Sizes, err = r.sizes(f); return },
	})
	switch {
	case err != nil:
		return p, err
	case len(p.Panes) == 0:
		return p, r.wrong(f.at, "a split needs panes, in beside or below")
	case p.Sizes != nil && len(p.Sizes) != len(p.Panes):
		return p, r.wrong(sizes.at, "there are %d sizes for %d panes", len(p.Sizes), len(p.Panes))
	}
	return p, nil
}

func (r *reader) panes(f field, depth int) ([]Pane, error) {
	items, err := r.items(f)
	if err != nil {
		return nil, err
	}
	if len(items) > maxPanes {
		return nil, r.wrong(f.at, "a split has at most %d panes", maxPanes)
	}
	all := make([]Pane, len(items))
	for i, item := range items {
		if all[i], err = r.pane(item, depth+1); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (r *reader) sizes(f field) ([]int, error) {
	items, err := r.items(f)
	if err != nil {
		return nil, err
	}
	sizes := make([]int, len(items))
	for i, item := range items {
		if sizes[i], err = r.number(item, 1000); err != nil {
			return nil, err
		}
		if sizes[i] == 0 {
			return nil, r.wrong(item.at, "a pane cannot have size 0")
		}
	}
	return sizes, nil
}

// checkLayout refuses panes of what has no terminal, or has a pane already.
func (r *reader) checkLayout(known map[string]*Entry) error {
	seen := map[string]bool{}
	var visit func(p Pane) error
	visit = func(p Pane) error {
		if len(p.Panes) == 0 {
			e := known[p.Session]
			switch {
			case e == nil:
				return r.wrong(p.At, "layout: there is no session %s", p.Session)
			case !e.Start.TTY:
				return r.wrong(p.At, "layout: %s is a process without a terminal", p.Session).hint("give it tty: true")
			case seen[p.Session]:
				return r.wrong(p.At, "layout: %s has two panes", p.Session)
			}
			seen[p.Session] = true
		}
		for _, child := range p.Panes {
			if err := visit(child); err != nil {
				return err
			}
		}
		return nil
	}
	for _, tab := range r.file.Layout {
		if err := visit(tab); err != nil {
			return err
		}
	}
	return nil
}
