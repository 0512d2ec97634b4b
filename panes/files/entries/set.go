package entries

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

// A Set has fixed-size entries without pointers, and names back to back in one string per page, so
// the garbage collector has hardly anything to scan. Adding entries shares the memory of the
// previous set. An api.FileInfo is rebuilt only when an entry is used, for instance to draw it.

// A Set holds the entries of a folder in little memory: a few megabytes for a hundred thousand. It
// is immutable; nil is empty.
type Set struct {
	entries []fileEntry
	pages   []string         // names, back to back
	targets map[int32]string // of links
}

// A fileEntry is a file in a Set.
type fileEntry struct {
	size    int64
	seconds int64 // modification time since 1970; noTime if unknown
	nanos   uint32
	at      uint32 // offset of the name in its page
	page    uint16
	nameLen uint16 // length of the name
	mode    uint16 // permission bits
	kind    uint8  // index into fileKinds, plus flags
}

const (
	noTime = math.MinInt64

	kindDir     = 2 // index into fileKinds
	entryKind   = 1<<4 - 1
	entryToDir  = 1 << 4
	entryBroken = 1 << 5
	entryMode   = 1 << 6 // the mode is known

	// maxPages is how many times entries can be added.
	maxPages = math.MaxUint16
)

// fileKinds returns the types of files by number.
func fileKinds() [7]string {
	return [...]string{"", "file", "dir", "link", "fifo", "socket", "device"}
}

func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.entries)
}

// With returns a set with more entries after those of s. It must be called at most once per set,
// because the two share memory.
func (s *Set) With(more []api.FileInfo) *Set {
	next := &Set{}
	if s != nil {
		*next = *s
	}
	if len(next.pages) == maxPages {
		return next
	}
	next.entries = slices.Grow(next.entries, len(more))
	var names strings.Builder
	linked := false
	for i := range more {
		f := &more[i]
		if len(f.Name) > math.MaxUint16 || names.Len() > math.MaxUint32-len(f.Name) {
			continue // impossible on any file system
		}
		e := newEntry(f)
		e.page, e.at, e.nameLen = uint16(len(next.pages)), uint32(names.Len()), uint16(len(f.Name))
		names.WriteString(f.Name)
		if f.Target != "" {
			if !linked {
				next.targets, linked = maps.Clone(next.targets), true // s may be in use by another goroutine
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

func newEntry(f *api.FileInfo) fileEntry {
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

// name returns the name of an entry. Keeping it keeps its whole page.
func (s *Set) name(i int) string {
	e := &s.entries[i]
	return s.pages[e.page][e.at:][:e.nameLen]
}

// Names returns the names of all entries, with a slash after a folder's.
func (s *Set) Names() []string {
	names := make([]string, s.Len())
	for i := range names {
		if names[i] = s.name(i); s.entries[i].isFolder() {
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
	return strings.Clone(s.name(s.Len() - 1))
}

// Has reports whether there is an entry called name.
func (s *Set) Has(name string) bool {
	for i := range s.Len() {
		if s.name(i) == name {
			return true
		}
	}
	return false
}

// At returns entry i, from 0, in the order of addition.
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
