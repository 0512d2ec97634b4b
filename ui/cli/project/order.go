package project

import (
	"fmt"
	"slices"
	"strings"

	"tandem/persist/diag"
)

// check finds what is wrong with a file as a whole, and fills in what is left
// to defaults.
func (r *reader) check() {
	f := r.file
	if len(f.Entries) == 0 {
		r.wrong(Position{1, 1}, "it has no sessions and no processes").hint("name at least one")
	}
	known := make(map[string]*Entry, len(f.Entries))
	var names []string
	for i := range f.Entries {
		e := &f.Entries[i]
		if before := known[e.Name]; before != nil {
			r.wrong(e.At, "%s already exists, on line %d", e.Name, before.At.Line).hint("sessions and processes share their names")
		}
		known[e.Name] = e
		names = append(names, e.Name)
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		for j := range e.After {
			d := &e.After[j]
			to := known[d.Name]
			if to == nil {
				mistake := r.wrong(d.At, "%s depends on %s, which is not in the file", e.Name, d.Name)
				if like := diag.Nearest(d.Name, names); like != "" {
					mistake.Hint = "did you mean " + like + "?"
				}
				return
			}
			if d.Condition == "" {
				if d.Condition = Started; to.Start.Ready != nil {
					d.Condition = Ready
				}
			}
		}
	}
	if cycle := f.cycle(); cycle != nil {
		r.wrong(known[cycle[0]].At, "these wait for each other: %s", strings.Join(append(cycle, cycle[0]), " → "))
	}
	r.checkLayout(known)
}

// Entry is the entry of a name; nil if there is none.
func (f *File) Entry(name string) *Entry {
	for i := range f.Entries {
		if f.Entries[i].Name == name {
			return &f.Entries[i]
		}
	}
	return nil
}

func (f *File) names() (names []string) {
	for i := range f.Entries {
		names = append(names, f.Entries[i].Name)
	}
	return names
}

// cycle names entries that wait for each other, in their order; nil if there
// are none.
func (f *File) cycle() []string {
	const visiting, done = 1, 2
	marks := map[string]int{}
	var path []string
	var visit func(e *Entry) []string
	visit = func(e *Entry) []string {
		switch marks[e.Name] {
		case done:
			return nil
		case visiting:
			return slices.Clone(path[slices.Index(path, e.Name):])
		}
		marks[e.Name] = visiting
		path = append(path, e.Name)
		for _, d := range e.After {
			if cycle := visit(f.Entry(d.Name)); cycle != nil {
				return cycle
			}
		}
		path = path[:len(path)-1]
		marks[e.Name] = done
		return nil
	}
	for i := range f.Entries {
		if cycle := visit(&f.Entries[i]); cycle != nil {
			return cycle
		}
	}
	return nil
}

// Order gives the entries that names stand for and all that they depend on,
// each after what it depends on, otherwise in the file's order. Without names
// these are all but the manual ones.
func (f *File) Order(names []string) ([]*Entry, error) {
	var order []*Entry
	seen := map[string]bool{}
	var visit func(e *Entry)
	visit = func(e *Entry) {
		if seen[e.Name] {
			return
		}
		seen[e.Name] = true
		for _, d := range e.After {
			visit(f.Entry(d.Name))
		}
		order = append(order, e)
	}
	for _, name := range names {
		if f.Entry(name) == nil {
			meant := ""
			if like := diag.Nearest(name, f.names()); like != "" {
				meant = "; did you mean " + like + "?"
			}
			return nil, fmt.Errorf("find %q: %s has no such session or process%s", name, f.Path, meant)
		}
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		if slices.Contains(names, e.Name) || len(names) == 0 && !e.Manual {
			visit(e)
		}
	}
	return order, nil
}
