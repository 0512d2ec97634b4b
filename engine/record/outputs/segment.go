package outputs

import (
	"cmp"
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"tandem/engine/base/priority"
	"tandem/engine/record/logs"
)

// segmentSize is about how many bytes of a log are searched at once. At the end of a call, at most the
// segments after the first unfinished one were searched in vain.
const segmentSize = 4 << 20

// smallSegment is up to how many bytes are searched without a thread of low priority: starting the
// thread would take longer.
const smallSegment = 64 << 10

// A segment is a part of a log, whole lines.
type segment struct {
	place    place
	log      *logs.Opened // nil if there is no log, or it cannot be read
	from, to int64
	last     bool // nothing of the log is above it

	done  chan struct{} // closed once the following are valid
	hits  []logs.Hit    // from its end
	times []time.Time   // when each was written; zero if unknown
	next  int64         // lines from here on have been searched
	err   error         // why it could not be read
}

// errPanic is the error of a segment whose search panicked, until the run closes and raises it.
var errPanic = errors.New("searching panicked")

// isFinished reports whether the segment was searched completely, without lines dropped meanwhile.
func (s *segment) isFinished() bool {
	return s.log == nil || s.err != nil || s.next <= max(s.from, s.log.Start())
}

// plan returns the next segment, or nil if ctx ends.
func (r *run) plan(ctx context.Context) *segment {
	s := &segment{place: r.places[r.planned], last: true, done: make(chan struct{})}
	if r.log == nil {
		l, err := r.Logs.Open(ctx, s.place.Source, s.place.stream)
		switch {
		case ctx.Err() != nil && l == nil:
			return nil
		case l == nil:
			s.err = err
			r.planned++
			delete(r.listed, s.place.Process.ID) // its record may just have been trimmed
			return s
		}
		r.log, r.to = l, l.End()
		if r.open[l] = true; s.place.compare(r.q.cursor) == 0 && r.q.cursor.ID != "" {
			r.to = min(r.to, r.q.cursor.Offset)
		}
	}
	s.log, s.to = r.log, r.to
	size := cmp.Or(r.segmentSize, segmentSize)
	if s.from = r.log.Start(); s.to-s.from > size {
		s.from, s.err = r.log.LineStart(s.to - size)
		s.last = s.err != nil || s.from <= r.log.Start()
	}
	s.from = min(s.from, s.to)
	if r.to = s.from; s.last {
		r.log = nil
		r.planned++
	}
	return s
}

// start searches a segment beside others.
func (r *run) start(ctx context.Context, s *segment) {
	if s.log == nil || s.err != nil || s.from == s.to {
		s.next = s.from
		close(s.done)
		return
	}
	s.next, s.err = s.from, errPanic
	r.group.Start(func() {
		defer close(s.done)
		r.slots <- struct{}{}
		defer func() { <-r.slots }()
		search := func() {
			s.hits, s.next, s.err = s.log.Before(ctx, r.q.pattern, s.from, s.to, r.q.Limit, r.q.Context)
		}
		if s.to-s.from > smallSegment {
			priority.RunLow(search)
		} else {
			search()
		}
		switch {
		case ctx.Err() != nil:
			s.err = nil
		case s.err != nil:
			s.next = s.from
		}
		for _, h := range s.hits {
			s.times = append(s.times, s.log.TimeOf(h.Offset))
		}
	})
}

// close waits for all segments and closes the logs.
func (r *run) close() {
	defer func() {
		for l := range r.open {
			r.closeLog(l)
		}
	}()
	r.group.Wait()
}

func (r *run) closeLog(l *logs.Opened) {
	if l != nil {
		delete(r.open, l)
		_ = l.Close() // it was only read
	}
}

// bytesLeft returns about how many bytes are not searched. It opens no file, because there may be
// thousands.
func (r *run) bytesLeft(ctx context.Context) (n int64) {
	if !r.kept.done {
		_, n, _ = r.Kept.Count(ctx, r.kept.filter, r.kept.next)
	}
	for _, p := range r.places {
		path := p.Source.PathOf(p.stream)
		start, end := extentOf(path)
		if p.Source.Kept != nil {
			start, end = p.Source.Kept.Extent(path)
		}
		if p.compare(r.cursor) == 0 {
			end = min(end, r.cursor.Offset)
		}
		n += max(end-start, 0)
	}
	return n
}

// extentOf returns the offsets of a file's content, after a hole at its start.
func extentOf(path string) (start, end int64) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		start = max(info.Size()-int64(stat.Blocks)*512, 0)
	}
	return start, info.Size()
}
