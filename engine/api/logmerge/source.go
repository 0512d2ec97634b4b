// Package logmerge makes one log of those of several processes, as clients show
// it: whose each line is, and the lines in the order in which they were written.
// How they are shown is the clients' own business.
package logmerge

import (
	"cmp"
	"hash/fnv"
	"slices"
	"time"

	"tandem/engine/api"
)

// A Source is a process whose log is merged with others'.
type Source struct {
	Process api.Process
	Label   string // its name, by which no other of them goes
	Tint    int    // which of the client's colours it has, from 0
}

// NewSource gives a log a name and one of several colours: the same ones every
// time, unless others have them already. visible makes a name fit to be shown.
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
	Stream string    // stdout or stderr where they are kept apart
	At     time.Time // zero where nobody knows
	Offset int64     // where it begins in the log of its stream,
	Next   int64     // and where the line after it does
	Text   []byte
	Note   string // instead of a line
}

// Of reports whether a process is one of a project file. A session is one only
// with sessions.
func Of(p api.Process, project string, sessions bool) bool {
	return p.Project != nil && p.Project.File == project && (sessions || p.Kind != api.KindSession)
}

// Newest are the processes of a project file: of each entry what is alive, else
// what has ended last.
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

// WrittenAt is when what is at an offset was written, as far as known.
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
