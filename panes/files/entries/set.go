package entries

import (
	"slices"

	"tandem/engine/api"
)

// A Set holds entries of a folder in the order in which they were added. It is immutable; a nil Set
// is empty.
type Set struct{ entries []api.FileInfo }

func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.entries)
}

// With returns a set with more entries after those of s. It must be called at most once per set,
// because the two share memory.
func (s *Set) With(more []api.FileInfo) *Set {
	if s == nil {
		return &Set{slices.Clip(more)}
	}
	return &Set{append(s.entries, more...)}
}

// Names returns the names of all entries. The name of a folder ends in a slash.
func (s *Set) Names() []string {
	names := make([]string, s.Len())
	for i := range names {
		if names[i] = s.entries[i].Name; s.entries[i].IsFolder() {
			names[i] += "/"
		}
	}
	return names
}

// LastName returns the name of the entry added last; "" if there is none.
func (s *Set) LastName() string {
	if s.Len() == 0 {
		return ""
	}
	return s.entries[s.Len()-1].Name
}

// Has reports whether there is an entry called name.
func (s *Set) Has(name string) bool {
	return s != nil && slices.ContainsFunc(s.entries, func(f api.FileInfo) bool { return f.Name == name })
}
