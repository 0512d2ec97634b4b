package project

import (
	"fmt"
	"slices"
	"strings"

	"tandem/persist/diag"
)

// check validates a file as a whole and sets default conditions of dependencies.
func (r *reader) check() {
	f := r.file
	if len(f.Entries) == 0 {
		r.addError(Position{1, 1}, "it has no sessions or processes").hint("name at least one")
	}
	known := make(map[string]*Entry, len(f.Entries))
	var names []string
	for i := range f.Entries {
		e := &f.Entries[i]
		if before := known[e.Name]; before != nil {
			r.addError(e.At, "%s already exists, on line %d", e.Name, before.At.Line).hint("a session and a process cannot have the same name")
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
				mistake := r.addError(d.At, "%s depends on %s, which is not in the file", e.Name, d.Name)
				if like := diag.Nearest(d.Name, names); like != "" {
					mistake.Hint = "did you mean " + like + "?"
				}
				return
			}
			if d.Condition == "" {
				// Without a condition, an entry with a readiness check must be ready.
				if d.Condition = Started; to.Start.Ready != nil {
					d.Condition = Ready
				}
			}
		}
	}
	if cycle := f.findCycle(); cycle != nil {
		r.addError(known[cycle[0]].At, "these wait for each other: %s", strings.Join(append(cycle, cycle[0]), " → "))
	}
	r.checkLayout(known)
}

// Entry returns the entry with the given name, or nil.
func (f *File) Entry(name string) *Entry {
	for i := range f.Entries {
		if f.Entries[i].Name == name {
			return &f.Entries[i]
		}
	}
	return nil
}

func (f *File) entryNames() (names []string) {
	for i := range f.Entries {
		names = append(names, f.Entries[i].Name)
	}
	return names
}

// findCycle returns the names of entries that wait for each other in a cycle, or nil.
func (f *File) findCycle() []string {
	const visiting, done = 1, 2
	marks := map[string]int{}
	var path []string
	var visit func(e *Entry) []string
	visit = func(e *Entry) []string {
		switch marks[e.Name] {
		case done:
			return nil
		case visiting:
			// path holds the entries being visited; the cycle begins at e.
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

// Order returns the named entries and their dependencies, each after its dependencies, otherwise in
// the file's order. Without names it returns all entries except manual ones.
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
			suggestion := ""
			if like := diag.Nearest(name, f.entryNames()); like != "" {
				suggestion = "; did you mean " + like + "?"
			}
			return nil, fmt.Errorf("find %q: %s has no such session or process%s", name, f.Path, suggestion)
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
