package project

import (
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// The engine finds a process by name in all projects. If two projects have an entry of the same
// name, one of them runs under another name. So in a project's folder, names refer to that
// project's entries first.

// ResolveNames resolves refs in the project of the file at path. It replaces a ref by the process's
// id if the engine could find another process by that name; otherwise the ref stays. complete says
// that a ref may be the beginning of a name. If another process has the same name, ResolveNames
// calls tell.
func ResolveNames(path string, list []api.Process, refs []string, complete bool, tell func(format string, args ...any)) []string {
	means := slices.Clone(refs)
	for i, ref := range refs {
		name := ref
		if complete {
			name = completeName(list, path, ref)
		}
		ours, other := findNamed(list, path, name)
		switch {
		case ours != nil:
			// By name the engine could find another process, so use the id.
			if ours.Name != ref || other != nil {
				means[i] = ours.ID
			}
			if other != nil && (ours.Name != name || isNewer(other, ours)) { // otherwise the engine also picks ours
				tell("%s means %s of %s here, not %s", output.Visible(ref), describe(ours), output.Visible(path), describe(other))
			}
		case other != nil && other.Project != nil && other.Project.File != path:
			tell("%s belongs to %s, not to %s", describe(other), output.Visible(other.Project.File), output.Visible(path))
		}
	}
	return means
}

// completeName completes ref, the beginning of a name. The name is that of the only such entry of
// the project or, without one, of the only such process. If ref is a full name or the beginning of
// an id, it returns ref.
func completeName(list []api.Process, path, ref string) string {
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

// findNamed returns the process started for entry ref of the project file, and another process with
// that name. Either may be nil.
func findNamed(list []api.Process, path, ref string) (ours, other *api.Process) {
	of := func(p *api.Process) bool {
		return p.Project != nil && p.Project.File == path && p.Project.Name == ref
	}
	for i := range list {
		p := &list[i]
		switch {
		case p.ID == ref:
			return nil, nil
		case of(p) && isNewer(p, ours):
			ours = p
		case !of(p) && p.Name == ref && isNewer(p, other):
			other = p
		}
	}
	return ours, other
}

func describe(p *api.Process) string { return output.Visible(p.Name) + " (" + p.ID + ")" }
