package project

import (
	"slices"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// The engine finds a process by its name whatever project it is of, and where two projects
// have an entry of the same name, one runs under another name. In a project's folder a name
// means that project's entry first.

// Meaning returns what refs mean in the project of a file: the id of its process where the
// engine could find another one by that name, else what was given. It tells about names that
// another process has.
func Meaning(path string, list []api.Process, refs []string, tell func(format string, args ...any)) []string {
	means := slices.Clone(refs)
	for i, ref := range refs {
		ours, other := meant(list, path, ref)
		switch {
		case ours != nil && other != nil:
			means[i] = ours.ID
			tell("%s means %s of %s here, not %s", output.Visible(ref), describe(ours), output.Visible(path), describe(other))
		case ours != nil && ours.Name != ref:
			means[i] = ours.ID
		case ours == nil && other != nil && other.Project != nil && other.Project.File != path:
			tell("%s is of %s, not of %s", describe(other), output.Visible(other.Project.File), output.Visible(path))
		}
	}
	return means
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
