package logs

import (
	"context"
	"errors"
	"math"
	"time"

	"tandem/engine/api"
	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

// Streams returns the names of the streams that have a log each: stdout and stderr, or "" for one log
// of both.
func (p Source) Streams() []string {
	if p.ErrPath == "" {
		return []string{""}
	}
	return streams[:]
}

// PathOf returns the path of the log of a stream from Streams.
func (p Source) PathOf(stream string) string {
	if stream == "stderr" {
		return p.ErrPath
	}
	return p.Path
}

// An Opened is the log of one stream, opened for searches from its end. The caller must close it.
// Other methods are safe for concurrent use.
type Opened struct {
	logs   *Logs
	source Source // with the path of the stream
	*reader
}

// Open opens the log of a stream from Streams. It waits until the end of the log is known, and
// returns nil without an error if there is no log yet.
func (s *Logs) Open(ctx context.Context, p Source, stream string) (*Opened, error) {
	p, err := s.withSecret(p).stream(stream)
	if err == nil {
		err = p.awaitEnd(ctx)
	}
	if err != nil {
		return nil, err
	}
	r, err := p.openLog()
	if err != nil || r == nil {
		return nil, err
	}
	return &Opened{s, p, r}, nil
}

// TimeOf returns when the line at an offset was written; zero if unknown.
func (l *Opened) TimeOf(offset int64) time.Time {
	if t := l.logs.timesOf(l.source, offset, offset+1); len(t) > 0 {
		return t[0].At
	}
	return time.Time{}
}

// LineStart returns the start of the line that contains an offset.
func (l *Opened) LineStart(offset int64) (int64, error) {
	for {
		at, err := linelog.LineStart(l, offset)
		if !errors.Is(err, sparse.ErrDropped) {
			return at, err
		}
	}
}

// A Hit is a matching line.
type Hit struct {
	api.LogMatch
	Next  int64 // offset after the line
	first int64 // offset of the first line before it that is in Before, else of the line
}

// Size returns the length of all text of the hit in bytes.
func (h Hit) Size() int {
	n := len(h.Text)
	for _, lines := range [...][]string{h.Before, h.After} {
		for _, l := range lines {
			n += len(l)
		}
	}
	return n
}

// Before returns the last lines between two line starts that match, the last one first: up to limit,
// or fewer of MaxRead bytes together, each with up to around lines before and after it. No line is in
// two contexts, or in one and a hit of its own. next is the offset before which to continue; it is
// valid with an error of ctx too.
func (l *Opened) Before(ctx context.Context, p *Pattern, from, to int64, limit, around int) (hits []Hit, next int64, err error) {
	s := finder{log: l, pattern: p, limit: limit, around: min(around, maxContext)}
	scratch, ok := l.logs.scratches.Get().(*linelog.Scratch)
	if !ok {
		scratch = new(linelog.Scratch)
	}
	defer l.logs.scratches.Put(scratch)
	next, err = scratch.Backward(ctx, l, p, from, to, s.addHit)
	return s.hits, next, errors.Join(err, s.err)
}

// A finder collects hits.
type finder struct {
	log           *Opened
	pattern       *Pattern
	limit, around int
	hits          []Hit
	size          int // of all hits
	err           error
}

// addHit adds a line above all others, and reports whether there is room for more.
func (s *finder) addHit(line linelog.Line) bool {
	h := Hit{LogMatch: s.pattern.excerpt(line.Text, maxLine), Next: line.Next, first: line.Offset}
	h.Offset = line.Offset
	if s.around > 0 {
		if s.err = s.addContext(&h); s.err != nil {
			return false
		}
	}
	s.hits = append(s.hits, h)
	s.size += h.Size()
	return len(s.hits) < s.limit && s.size < MaxRead
}

// addContext adds the lines around a hit, and removes the hit and what is above it from the context
// of the hit below.
func (s *finder) addContext(h *Hit) (err error) {
	below := int64(math.MaxInt64)
	if n := len(s.hits); n > 0 {
		last := &s.hits[n-1]
		if last.first < h.Next {
			if last.Before, last.first, err = linesBefore(s.log, last.Offset, s.around, maxLine, h.Next); err != nil {
				return err
			}
		}
		below = last.first
	}
	if h.After, err = linesAfter(s.log, h.Next, s.around, maxLine, below); err != nil {
		return err
	}
	h.Before, h.first, err = linesBefore(s.log, h.Offset, s.around, maxLine, 0)
	return err
}
