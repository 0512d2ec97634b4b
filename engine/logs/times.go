package logs

import (
	"sort"
	"time"

	"tandem/engine/api"
)

const (
	// StampGap is the least time between two stamps of a log.
	StampGap = boundGap
	// stampsMost is how many stamps of a log are kept; then every second one of
	// the older ones is given up.
	stampsMost = 512
)

// stamps tell when parts of a log were written: what begins at one of them and
// ends at the next. They are remembered, and end with the engine.
type stamps []stamp

type stamp struct {
	offset int64
	at     int64 // in microseconds since 1970
}

// add notes that what is written from an offset on is written now.
func (t stamps) add(offset int64, now time.Time) stamps {
	at := now.UnixMicro()
	if n := len(t); n > 0 {
		last := &t[n-1]
		if offset == last.offset { // nothing was written there yet
			last.at = max(last.at, at)
		}
		if at-last.at < StampGap.Microseconds() || offset <= last.offset {
			return t
		}
	}
	if len(t) >= stampsMost {
		kept := t[:0]
		for i, s := range t {
			if i%2 == 0 || i >= stampsMost*3/4 {
				kept = append(kept, s)
			}
		}
		t = kept
	}
	return append(t, stamp{offset, at})
}

// between gives the stamps that tell of a part of a log.
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

// timesOf tells when a part of the log at path was written. What is being
// written counts, though the goroutine has not seen it yet.
func (s *Logs) timesOf(path string, from, to int64) []api.LogTime {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[path]; f != nil && f.end == nil && f.size >= 0 && to > f.size {
		s.grown(f)
	}
	return s.times[path].between(from, to)
}

// Begin notes that what a log has from an offset on is written from now on.
func (s *Logs) Begin(path string, offset int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[path] = s.times[path].add(offset, time.Now())
}

// Began is Begin for callers that must not wait, as Begin does while a file is being
// looked at.
func (s *Logs) Began(path string, offset int64) {
	now := time.Now()
	s.later(func() { s.times[path] = s.times[path].add(offset, now) })
}

// Forget drops what is remembered of logs that are deleted.
func (s *Logs) Forget(paths ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range paths {
		delete(s.times, path)
	}
}
