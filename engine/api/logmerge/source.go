package logmerge

import (
	"cmp"
	"hash/fnv"
	"slices"

	"tandem/engine/api"
)

// A Source is a process whose log is merged with other logs, with the label and colour of its lines.
type Source struct {
	Process api.Process
	Label   string // unique name
	Tint    int    // index of its colour, from 0
}

// NewSource returns a Source for p. Its label and its colour differ from those of others if
// possible. They depend only on the name, unless others already use them. tints is the number of
// colours to choose from. visible escapes a name for display.
func NewSource(p api.Process, others []*Source, tints int, visible func(string) string) *Source {
	s := &Source{Process: p, Label: visible(cmp.Or(p.Name, p.ID))}
	if slices.ContainsFunc(others, func(o *Source) bool { return o.Label == s.Label }) {
		s.Label += " " + p.ID
	}
	h := fnv.New32a()
	h.Write([]byte(p.Name))
	first := int(h.Sum32() % uint32(tints))
	s.Tint = first
	for i := range tints {
		tint := (first + i) % tints
		if !slices.ContainsFunc(others, func(o *Source) bool { return o.Tint == tint }) {
			s.Tint = tint
			break
		}
	}
	return s
}

// Of reports whether p was started by the project file. Sessions count only if sessions is set.
func Of(p api.Process, project string, sessions bool) bool {
	return p.Project != nil && p.Project.File == project && (sessions || p.Kind != api.KindSession)
}

// Newest returns the current process of each entry of a project file: the running one, or else the
// last one.
func Newest(project string, list []api.Process, sessions bool) (newest []api.Process) {
	at := map[string]int{}
	for _, p := range list {
		if !Of(p, project, sessions) {
			continue
		}
		i, seen := at[p.Project.Name]
		switch {
		case !seen:
			at[p.Project.Name] = len(newest)
			newest = append(newest, p)
		case newest[i].State.Ended():
			newest[i] = p
		}
	}
	return newest
}
