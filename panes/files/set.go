package files

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
)

// A Set holds the entries of a folder in little memory: of a hundred
// thousand it takes a few megabytes. It does not change; nil is an empty one.
type Set struct {
	entries []fileEntry
	pages   []string         // names, one behind the other
	targets map[int32]string // of links
}

// A fileEntry is what is kept of a file.
type fileEntry struct {
	size    int64
	seconds int64 // of the time of change, since 1970; noTime for none
	nanos   uint32
	at      uint32 // where the name begins in its page
	page    uint16
	long    uint16 // bytes of the name
	mode    uint16 // permission bits
	kind    uint8  // index into fileKinds, and flags
}

const (
	noTime = math.MinInt64

	kindDir     = 2 // in fileKinds
	entryKind   = 1<<4 - 1
	entryToDir  = 1 << 4
	entryBroken = 1 << 5
	entryMode   = 1 << 6 // the mode is known

	// mostPages is how many times a set can be added to.
	mostPages = math.MaxUint16
)

// fileKinds are the types of files by their numbers.
func fileKinds() [7]string {
	return [...]string{"", "file", "dir", "link", "fifo", "socket", "device"}
}

// Len is the number of entries.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.entries)
}

// With is the set with more entries behind those that it has. Only one set is
// to be made of another in this way.
func (s *Set) With(more []api.FileInfo) *Set {
	next := &Set{}
	if s != nil {
		*next = *s
	}
	if len(next.pages) == mostPages {
		return next
	}
	next.entries = slices.Grow(next.entries, len(more))
	var names strings.Builder
	linked := false
	for i := range more {
		f := &more[i]
		if len(f.Name) > math.MaxUint16 || names.Len() > math.MaxUint32-len(f.Name) {
			continue // no file system has such names
		}
		e := entryOf(f)
		e.page, e.at, e.long = uint16(len(next.pages)), uint32(names.Len()), uint16(len(f.Name))
		names.WriteString(f.Name)
		if f.Target != "" {
			if !linked {
				next.targets, linked = maps.Clone(next.targets), true // the set before may be read meanwhile
			}
			if next.targets == nil {
				next.targets = map[int32]string{}
			}
			next.targets[int32(len(next.entries))] = strings.Clone(f.Target)
		}
		next.entries = append(next.entries, e)
	}
	next.pages = append(next.pages, names.String())
	return next
}

func entryOf(f *api.FileInfo) fileEntry {
	e := fileEntry{size: f.Size, seconds: noTime}
	if !f.Modified.IsZero() {
		e.seconds, e.nanos = f.Modified.Unix(), uint32(f.Modified.Nanosecond())
	}
	kinds := fileKinds()
	e.kind = uint8(max(slices.Index(kinds[:], f.Type), 0))
	if f.ToDir {
		e.kind |= entryToDir
	}
	if f.Broken {
		e.kind |= entryBroken
	}
	if bits, err := strconv.ParseUint(f.Mode, 8, 16); err == nil {
		e.mode = uint16(bits)
		e.kind |= entryMode
	}
	return e
}

func (e *fileEntry) isFolder() bool {
	return e.kind&entryToDir != 0 || e.kind&entryKind == kindDir
}

// name is the name of an entry; it keeps those of its page.
func (s *Set) name(i int) string {
	e := &s.entries[i]
	return s.pages[e.page][e.at:][:e.long]
}

// Names are the names of all entries, a folder's with a slash behind it.
func (s *Set) Names() []string {
	names := make([]string, s.Len())
	for i := range names {
		if names[i] = s.name(i); s.entries[i].isFolder() {
			names[i] += "/"
		}
	}
	return names
}

// LastName is the name of the entry that was added last; "" for none.
func (s *Set) LastName() string {
	if s.Len() == 0 {
		return ""
	}
	return strings.Clone(s.name(s.Len() - 1))
}

// Has reports whether there is an entry of a name.
func (s *Set) Has(name string) bool {
	for i := range s.Len() {
		if s.name(i) == name {
			return true
		}
	}
	return false
}

// At is the entry i, from 0, in the order in which they were added.
func (s *Set) At(i int) *api.FileInfo {
	e := &s.entries[i]
	f := &api.FileInfo{
		Name: strings.Clone(s.name(i)), Type: fileKinds()[e.kind&entryKind], Size: e.size,
		ToDir: e.kind&entryToDir != 0, Broken: e.kind&entryBroken != 0, Target: s.targets[int32(i)],
	}
	if e.kind&entryMode != 0 {
		f.Mode = fmt.Sprintf("%04o", e.mode)
	}
	if e.seconds != noTime {
		f.Modified = time.Unix(e.seconds, int64(e.nanos))
	}
	return f
}
