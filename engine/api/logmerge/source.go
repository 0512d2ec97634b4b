// Package logmerge merges the logs of several processes into one: it labels each line with its
// process and sorts the lines by time. Displaying them is up to the clients.
package logmerge

import (
	"cmp"
	"hash/fnv"
	"slices"
	"time"

	"tandem/engine/api"
)

// A Source is a process of a merged log.
type Source struct {
	Process api.Process
	Label   string // unique name
	Tint    int    // index of its colour, from 0
}

// NewSource returns a Source with a label and one of tints colours, both different from those of
// others if possible. They depend only on the name, unless others already use them. visible
// escapes a name for display.
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

// A Line is a line of a merged log, or a note about one of its processes.
type Line struct {
	Source *Source
	Stream string    // stdout or stderr if they have separate logs
	At     time.Time // when it was written; zero if unknown
	Offset int64     // start of the line in its log
	Next   int64     // start of the next line
	Text   []byte
	Note   string // a note in place of a line
}

// Of reports whether p was started by the project file. Sessions count only with sessions set.
func Of(p api.Process, project string, sessions bool) bool {
	return p.Project != nil && p.Project.File == project && (sessions || p.Kind != api.KindSession)
}

// Newest returns the current process of each entry of a project file: the running one, otherwise
// the last one.
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

// WrittenAt returns when the byte at offset was written; zero if unknown.
func WrittenAt(times []api.LogTime, offset int64) time.Time {
	i, exact := slices.BinarySearchFunc(times, offset, func(t api.LogTime, offset int64) int { return cmp.Compare(t.Offset, offset) })
	switch {
	case exact:
		return times[i].At
	case i > 0:
		return times[i-1].At
	}
	return time.Time{}
}
