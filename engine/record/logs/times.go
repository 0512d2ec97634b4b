package logs

import (
	"sort"
	"time"

	"tandem/engine/api"
)

const (
	// StampGap is the minimum interval between two time stamps of a log.
	StampGap = boundGap
	// maxStamps is how many stamps are kept for a log. If there are more, every second of the older
	// ones is dropped.
	maxStamps = 512
)

// stamps record when the parts of a log were written. Each stamp covers the bytes up to the next
// one. They are not saved to disk.
type stamps []stamp

type stamp struct {
	offset int64
	at     int64 // microseconds since 1970
}

// addStamp records that the bytes from offset on are written now.
func (t stamps) addStamp(offset int64, now time.Time) stamps {
	at := now.UnixMicro()
	if n := len(t); n > 0 {
		last := &t[n-1]
		if offset == last.offset { // no bytes were written since
			last.at = max(last.at, at)
		}
		if at-last.at < StampGap.Microseconds() || offset <= last.offset {
			return t
		}
	}
	if len(t) >= maxStamps {
		// Thin out the older stamps, but keep the whole log covered.
		kept := t[:0]
		for i, s := range t {
			if i%2 == 0 || i >= maxStamps*3/4 {
				kept = append(kept, s)
			}
		}
		t = kept
	}
	return append(t, stamp{offset, at})
}

// between returns the stamps that cover part of a log.
func (t stamps) between(from, to int64) (all []api.LogTime) {
	first := max(sort.Search(len(t), func(i int) bool { return t[i].offset > from })-1, 0)
	for _, s := range t[first:] {
		if s.offset >= to {
			break
		}
		all = append(all, api.LogTime{Offset: s.offset, At: time.UnixMicro(s.at)})
	}
	return all
}

// timesOf returns when the parts of the log at p.Path were written. It includes growth that the
// goroutine has not noticed yet.
func (s *Logs) timesOf(p Source, from, to int64) []api.LogTime {
	if p.Kept != nil {
		return timesBetween(p.Kept.Times(p.Path), from, to)
	}
	path := p.Path
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[path]; f != nil && f.end == nil && f.size >= 0 && to > f.size {
		s.noteGrowth(f)
	}
	return s.times[path].between(from, to)
}

// Begin records that the bytes from offset on will be written from now on. It may wait for a file.
func (s *Logs) Begin(path string, offset int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[path] = s.times[path].addStamp(offset, time.Now())
}

// Began is like Begin, but never waits for a file.
func (s *Logs) Began(path string, offset int64) {
	now := time.Now()
	s.enqueue(func() { s.times[path] = s.times[path].addStamp(offset, now) })
}

// Forget drops the stamps of deleted logs.
func (s *Logs) Forget(paths ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range paths {
		delete(s.times, path)
	}
}
