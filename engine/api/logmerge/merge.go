package logmerge

import (
	"cmp"
	"context"
	"slices"
	"time"

	"tandem/engine/api"
)

// Settle is how long lines of several followed logs are collected before they are sorted: the
// engine reports times to a tenth of a second.
const Settle = 100 * time.Millisecond

// maxWait is the maximum wait of one call.
const maxWait = 20 * time.Second

// maxLate is how long logs that answered late once hold up the others.
const maxLate = time.Second

// A Merge returns the lines of several logs in the order they were written.
type Merge struct {
	Rest    bool // return an unfinished last line at once
	readers []*reader
}

// Forward returns a Merge of the logs from the ends of their spans, reading at most max bytes at a
// time.
func Forward(spans []Span, max int) *Merge {
	m := &Merge{}
	for i := range spans {
		m.Add(spans[i], max)
	}
	return m
}

// Add adds another log, from the end of its span.
func (m *Merge) Add(s Span, max int) {
	m.readers = append(m.readers, &reader{Span: s, max: max, until: cmp.Or(s.Until, -1)})
}

// Next returns the earliest remaining line. ok is false after the last line present at the first read
// or, if Last was called for the spans, at that time.
func (m *Merge) Next(ctx context.Context, e api.Engine) (line Line, ok bool, err error) {
	// Every log needs a pending line before their times can be compared.
	var first *reader
	for _, r := range m.readers {
		if err := m.fillPending(ctx, e, r); err != nil {
			return Line{}, false, err
		}
		if len(r.pending) > 0 && (first == nil || r.pending[0].At.Before(first.pending[0].At)) {
			first = r
		}
	}
	if first == nil {
		return Line{}, false, nil
	}
	line = first.pending[0]
	first.pending = first.pending[1:]
	return line, true, nil
}

// fillPending reads until r has a pending line or is at the end.
func (m *Merge) fillPending(ctx context.Context, e api.Engine, r *reader) error {
	for len(r.pending) == 0 && !r.over {
		lines, more, err := r.readNext(ctx, e, 0)
		if err != nil {
			return err
		}
		if r.pending, r.over = lines, !more; !more && m.Rest {
			r.pending = append(r.pending, r.takePartial()...)
		}
		if m.Rest { // what was written meanwhile is not followed
			r.pending = slices.DeleteFunc(r.pending, func(l Line) bool { return l.Offset >= r.until })
		}
	}
	return nil
}

// Wait waits for the next lines of the logs and returns them sorted by time, to the precision of
// Settle. It returns none if nothing was printed for a while, or only a part of a line by a single
// log. Lines already read are returned even with an error.
func (m *Merge) Wait(ctx context.Context, e api.Engine) (lines []Line, err error) {
	var late, all []*reader
	for _, r := range m.readers {
		if !r.ended {
			all = append(all, r)
		}
		if !r.ended && r.late {
			late = append(late, r)
		}
	}
	// Read first the logs whose answers came too late last time, or a busy log would starve them. A
	// machine that hangs holds up the others only for a moment.
	if lines, err = readAll(ctx, e, late, 0, maxLate); len(lines) == 0 && err == nil {
		lines, err = readAll(ctx, e, all, maxWait, maxWait+Settle)
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return a.At.Compare(b.At) })
	return lines, err
}

// readAll reads logs concurrently, for up to limit. It returns once one of them has lines, plus
// Settle for the others, or once all have answered.
func readAll(ctx context.Context, e api.Engine, readers []*reader, wait, limit time.Duration) (lines []Line, err error) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		lines []Line
		err   error
	}
	answers := make(chan answer)
	for _, r := range readers {
		go func() {
			lines, err := r.awaitLines(waiting, e, wait)
			// Only a call cancelled by this function is late; other errors are returned below.
			r.late = err != nil && waiting.Err() != nil
			answers <- answer{lines, err}
		}()
	}
	for range readers {
		a := <-answers
		if a.err != nil && waiting.Err() == nil {
			err = a.err
			cancel()
		}
		if len(a.lines) > 0 && len(lines) == 0 && wait > 0 {
			time.AfterFunc(Settle, cancel)
		}
		lines = append(lines, a.lines...)
	}
	if err == nil {
		err = ctx.Err()
	}
	return lines, err
}

// PartialLines returns the unfinished lines at the ends of the logs.
func (m *Merge) PartialLines() (lines []Line) {
	for _, r := range m.readers {
		if len(r.partial.Text) > 0 && len(r.pending) == 0 {
			lines = append(lines, r.partial)
		}
	}
	return lines
}

// HasEnded reports whether all processes have exited and their logs were read to the end.
func (m *Merge) HasEnded() bool {
	return !slices.ContainsFunc(m.readers, func(r *reader) bool { return !r.ended })
}

// HasEndedOf reports whether the process of s has exited and its log was read to the end.
func (m *Merge) HasEndedOf(s *Source) bool {
	return !slices.ContainsFunc(m.readers, func(r *reader) bool { return r.Source == s && !r.ended })
}

// Resume follows a restarted process again.
func (m *Merge) Resume(s *Source) {
	for _, r := range m.readers {
		if r.Source == s {
			r.ended = false
		}
	}
}

// Behind returns the number of bytes not yet returned, as of the last read of each log.
func (m *Merge) Behind() (bytes int64) {
	for _, r := range m.readers {
		given := r.To
		if len(r.pending) > 0 {
			given = r.pending[0].Offset
		}
		bytes += max(r.End-given, 0)
	}
	return bytes
}
