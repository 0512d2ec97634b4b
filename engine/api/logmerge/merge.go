package logmerge

import (
	"context"
	"slices"
	"time"

	"tandem/engine/api"
)

// Settle is how long lines of several followed logs are held to be put in order: the engine
// reports their times to a tenth of a second.
const Settle = 100 * time.Millisecond

// maxWait is how long one call waits for more.
const maxWait = 20 * time.Second

// maxLate is how long logs that answered late once hold up the others.
const maxLate = time.Second

// A Merge gives the lines of several logs in the order in which they were written.
type Merge struct {
	Rest    bool // an unfinished last line counts now, not when it is finished
	readers []*reader
}

// Forward reads on after the spans, at most max bytes at a time.
func Forward(spans []Span, max int) *Merge {
	m := &Merge{}
	for i := range spans {
		m.Add(spans[i], max)
	}
	return m
}

// Add reads another log too, from the end of its span.
func (m *Merge) Add(s Span, max int) {
	m.readers = append(m.readers, &reader{Span: s, max: max, until: -1})
}

// Next returns the line that was written first of those that the logs had when they were
// first read; ok is false after the last one.
func (m *Merge) Next(ctx context.Context, e api.Engine) (line Line, ok bool, err error) {
	var first *reader
	for _, r := range m.readers {
		if err := m.fill(ctx, e, r); err != nil {
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

// fill reads on until there is a line, or nothing more of what there was.
func (m *Merge) fill(ctx context.Context, e api.Engine, r *reader) error {
	for len(r.pending) == 0 && !r.over {
		lines, more, err := r.next(ctx, e, 0)
		if err != nil {
			return err
		}
		if r.pending, r.over = lines, !more; !more && m.Rest {
			r.pending = append(r.pending, r.rest()...)
		}
	}
	return nil
}

// Wait returns the next lines of the logs as soon as there are any, in order within Settle;
// none when nothing has come for a while, or only a piece of a line of the only log. Lines come
// with an error too if they were read before.
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
	// A log that answers later than others each time is read all the same, but a machine that hangs
	// holds up the others only for a moment.
	if lines, err = ask(ctx, e, late, 0, maxLate); len(lines) == 0 && err == nil {
		lines, err = ask(ctx, e, all, maxWait, maxWait+Settle)
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return a.At.Compare(b.At) })
	return lines, err
}

// ask reads logs at the same time. It waits up to limit for lines of any of them, or for an answer
// of each.
func ask(ctx context.Context, e api.Engine, readers []*reader, wait, limit time.Duration) (lines []Line, err error) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		lines []Line
		err   error
	}
	answers := make(chan answer)
	for _, r := range readers {
		go func() {
			lines, err := r.await(waiting, e, wait)
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

// Unfinished returns the lines without an end that come next.
func (m *Merge) Unfinished() (lines []Line) {
	for _, r := range m.readers {
		if len(r.partial.Text) > 0 && len(r.pending) == 0 {
			lines = append(lines, r.partial)
		}
	}
	return lines
}

// Ended reports whether all processes have ended and all of their logs has been read.
func (m *Merge) Ended() bool {
	return !slices.ContainsFunc(m.readers, func(r *reader) bool { return !r.ended })
}

// EndedOf reports whether one process has ended and all of its log has been read.
func (m *Merge) EndedOf(s *Source) bool {
	return !slices.ContainsFunc(m.readers, func(r *reader) bool { return r.Source == s && !r.ended })
}

// Resume follows a process again, which was restarted.
func (m *Merge) Resume(s *Source) {
	for _, r := range m.readers {
		if r.Source == s {
			r.ended = false
		}
	}
}

// Behind returns how many bytes of the logs were written when they were last read, and are
// still to be given.
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
