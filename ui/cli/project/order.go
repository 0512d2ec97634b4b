package project

import (
	"fmt"
	"slices"
	"strings"

	"tandem/engine/api"
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
	var all []*Entry
	for i := range f.Entries {
		e := &f.Entries[i]
		if before := known[e.Name]; before != nil {
			r.addError(e.At, "%s already exists, on line %d", e.Name, before.At.Line).hint("a session and a process cannot have the same name")
		}
		known[e.Name] = e
		names, all = append(names, e.Name), append(all, e)
	}
	for _, e := range all {
		e.After = slices.DeleteFunc(e.After, func(d Dependency) bool {
			if known[d.Name] != nil {
				return false
			}
			mistake := &Error{Path: f.Path, At: d.At, What: fmt.Sprintf("%s depends on %s, which is not in the file", e.Name, d.Name)}
			if like := diag.Nearest(d.Name, names); like != "" {
				mistake.hint("did you mean %s?", like)
			}
			r.addFault(e.Name, mistake)
			return true
		})
		for j := range e.After {
			d := &e.After[j]
			to := known[d.Name]
			if d.Condition == "" {
				// Without a condition, an entry with a readiness check must be ready.
				if d.Condition = api.ConditionStarted; to.Start.Ready != nil {
					d.Condition = api.ConditionReady
				}
			}
		}
	}
	order, cycle := f.sortEntries(all)
	if cycle != nil {
		r.addError(known[cycle[0]].At, "these wait for each other: %s", strings.Join(append(cycle, cycle[0]), " → "))
	}
	if r.checkLayout(known); r.err == nil {
		r.omitInvalid(order)
	}
}

func (f *File) omits(name string) bool {
	return slices.ContainsFunc(f.Omitted, func(o Omission) bool { return o.Name == name })
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

// sortEntries returns entries and their dependencies, each after its dependencies. If some wait for
// each other, it returns their names as cycle.
func (f *File) sortEntries(entries []*Entry) (order []*Entry, cycle []string) {
	sorted := map[string]bool{}
	var path []string // the entries being visited
	var visit func(e *Entry) bool
	visit = func(e *Entry) bool {
		if sorted[e.Name] {
			return true
		}
		if i := slices.Index(path, e.Name); i >= 0 {
			cycle = path[i:]
			return false
		}
		path = append(path, e.Name)
		for _, d := range e.After {
			if !visit(f.Entry(d.Name)) {
				return false
			}
		}
		path = path[:len(path)-1]
		sorted[e.Name] = true
		order = append(order, e)
		return true
	}
	for _, e := range entries {
		if !visit(e) {
			break
		}
	}
	return order, cycle
}

// Order returns the named entries and their dependencies, each after its dependencies, otherwise in
// the file's order. Without names it returns all entries except manual ones.
func (f *File) Order(names []string) ([]*Entry, error) {
	for _, name := range names {
		if i := slices.IndexFunc(f.Omitted, func(o Omission) bool { return o.Name == name }); i >= 0 {
			return nil, f.Omitted[i].Why
		}
		if f.Entry(name) == nil {
			var known []string
			for _, e := range f.Entries {
				known = append(known, e.Name)
			}
			return nil, fmt.Errorf("find %q: %s has no such session or process%s", name, f.Path, suggest(name, known))
		}
	}
	var wanted []*Entry
	for i := range f.Entries {
		if e := &f.Entries[i]; slices.Contains(names, e.Name) || len(names) == 0 && !e.Manual {
			wanted = append(wanted, e)
		}
	}
	order, _ := f.sortEntries(wanted) // check rejects cycles
	return order, nil
}

// suggest returns the end of an error message that suggests the word most similar to name, or "" if
// none is similar.
func suggest(name string, words []string) string {
	if like := diag.Nearest(name, words); like != "" {
		return "; did you mean " + like + "?"
	}
	return ""
}
