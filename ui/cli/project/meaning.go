package project

import (
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// The engine finds a process by its name whatever project it is of, and where two projects
// have an entry of the same name, one runs under another name. In a project's folder a name
// means that project's entry first.

// Meaning resolves refs in the project of a file: to the id of its process where the engine could
// find another one by that name, else to the ref itself. It calls tell for names that another
// process has.
func Meaning(path string, list []api.Process, refs []string, tell func(format string, args ...any)) []string {
	means := slices.Clone(refs)
	for i, ref := range refs {
		name := complete(list, path, ref)
		ours, other := meant(list, path, name)
		switch {
		case ours != nil:
			if ours.Name != ref || other != nil {
				means[i] = ours.ID
			}
			if other != nil && (ours.Name != name || better(other, ours)) { // else the engine finds ours, too
				tell("%s means %s of %s here, not %s", output.Visible(ref), describe(ours), output.Visible(path), describe(other))
			}
		case other != nil && other.Project != nil && other.Project.File != path:
			tell("%s belongs to %s, not to %s", describe(other), output.Visible(other.Project.File), output.Visible(path))
		}
	}
	return means
}

// complete returns the name that ref is the beginning of: that of the only such entry of a
// project, or else of the only such process. It returns ref if that is a name or the beginning
// of an id.
func complete(list []api.Process, path, ref string) string {
	var entries, others []string
	for _, p := range list {
		entry := ""
		if p.Project != nil && p.Project.File == path {
			entry = p.Project.Name
		}
		switch {
		case ref == "" || p.Name == ref || entry == ref || strings.HasPrefix(p.ID, ref):
			return ref
		case strings.HasPrefix(entry, ref):
			entries = append(entries, entry)
		case strings.HasPrefix(p.Name, ref):
			others = append(others, p.Name)
		}
	}
	for _, names := range [][]string{entries, others} {
		if names = slices.Compact(slices.Sorted(slices.Values(names))); len(names) > 0 {
			if len(names) == 1 {
				return names[0]
			}
			return ref
		}
	}
	return ref
}

// meant returns the process that a project file's entry called ref was started as, and
// another one that is called so; nil where there is none.
func meant(list []api.Process, path, ref string) (ours, other *api.Process) {
	of := func(p *api.Process) bool {
		return p.Project != nil && p.Project.File == path && p.Project.Name == ref
	}
	for i := range list {
		p := &list[i]
		switch {
		case p.ID == ref:
			return nil, nil
		case of(p) && better(p, ours):
			ours = p
		case !of(p) && p.Name == ref && better(p, other):
			other = p
		}
	}
	return ours, other
}

func describe(p *api.Process) string { return output.Visible(p.Name) + " (" + p.ID + ")" }
