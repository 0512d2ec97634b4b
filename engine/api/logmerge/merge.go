package logmerge

import (
	"context"
	"errors"
	"slices"
	"time"

	"tandem/engine/api"
)

// Settle is how long lines of several logs that are followed are held to be put
// in order: the engine tells their times to a tenth of a second.
const Settle = 100 * time.Millisecond

// waitMost is how long one question waits for more.
const waitMost = 20 * time.Second

// A Merge gives the lines of several logs in the order in which they were
// written.
type Merge struct {
	Readers []*Reader
	Rest    bool // a last line that has no end counts now, not when it gets one
}

// Next gives the line that was written first of those that the logs had when it
// was asked for the first time; ok is false behind the last one.
func (m *Merge) Next(ctx context.Context, e api.Engine) (line Line, ok bool, err error) {
	var first *Reader
	for _, r := range m.Readers {
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
func (m *Merge) fill(ctx context.Context, e api.Engine, r *Reader) error {
	for len(r.pending) == 0 && !r.over {
		lines, more, _, err := r.Ask(ctx, e)
		if err != nil {
			if errors.Is(err, api.CodeNotFound) {
				r.over, r.ended = true, true
				return nil
			}
			return err
		}
		if r.pending, r.over = lines, !more; !more && m.Rest {
			r.pending = append(r.pending, r.Rest()...)
		}
	}
	return nil
}

// Wait gives what comes next in the logs, as soon as something does, within a
// moment in order; nothing when nothing has come for a while.
func (m *Merge) Wait(ctx context.Context, e api.Engine) ([]Line, error) {
	waiting, cancel := context.WithTimeout(ctx, waitMost+Settle)
	defer cancel()
	type news struct {
		lines []Line
		err   error
	}
	answers := make(chan news)
	asked := 0
	for _, r := range m.Readers {
		if r.ended {
			continue
		}
		asked++
		go func() {
			lines, err := r.await(waiting, e)
			answers <- news{lines, err}
		}()
	}
	var lines []Line
	var failed error
	for range asked {
		n := <-answers
		if n.err != nil && waiting.Err() == nil {
			failed = n.err
			cancel()
		}
		if len(n.lines) > 0 && len(lines) == 0 {
			time.AfterFunc(Settle, cancel)
		}
		lines = append(lines, n.lines...)
	}
	if failed == nil {
		failed = ctx.Err()
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return a.At.Compare(b.At) })
	return lines, failed
}

// await waits for lines, or for the end of the process.
func (r *Reader) await(ctx context.Context, e api.Engine) ([]Line, error) {
	for ctx.Err() == nil {
		r.In.WaitMS = int(waitMost / time.Millisecond)
		before := r.Read()
		lines, _, state, err := r.Ask(ctx, e)
		r.In.WaitMS = 0
		switch {
		case errors.Is(err, api.CodeNotFound):
			r.ended = true
			return r.Rest(), nil
		case err != nil:
			return nil, err
		case state.Ended() && r.Read() == before:
			r.ended = true
			return append(lines, r.Rest()...), nil
		case len(lines) > 0:
			return lines, nil
		}
	}
	return nil, ctx.Err()
}

// Ended reports whether all processes have ended and all of their logs is read.
func (m *Merge) Ended() bool {
	return !slices.ContainsFunc(m.Readers, func(r *Reader) bool { return !r.ended })
}

// Behind is how much of the logs was written when they were read last, and is
// still to be read.
func (m *Merge) Behind() (bytes int64) {
	for _, r := range m.Readers {
		bytes += max(r.end-r.Read(), 0)
	}
	return bytes
}
