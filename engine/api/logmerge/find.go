package logmerge

import (
	"bytes"
	"context"
	"slices"
	"time"

	"tandem/engine/api"
)

// A Match is a line of a merged log found by a search.
type Match struct {
	Span          int   // index of its log
	Offset        int64 // of the line in that log
	Number, Total int   // number of the match, from 1, and of all matches
	Wrapped       bool  // found only after the search wrapped
}

// Find searches a merged log for the next line matching the regular expression expr, downwards from
// place, or upwards with above; without a match the search wraps. place has an offset for each log,
// at the start of a line. ok is false if no line matches.
func Find(ctx context.Context, e api.Engine, spans []Span, place []int64, expr string, above bool) (m Match, ok bool, err error) {
	before, total := 0, 0
	for wrapped := range 2 {
		if wrapped > 0 {
			place = slices.Clone(place)
			for i := range place {
				if place[i] = 0; above {
					place[i] = 1<<63 - 1
				}
			}
		}
		// The next line of the merged log is the earliest of each log's next match, or above the
		// latest.
		best := -1
		var at time.Time
		before, total = 0, 0
		for i := range spans {
			out, err := spans[i].grepNext(ctx, e, place[i], expr, above)
			if err != nil {
				return m, false, err
			}
			before, total = before+out.Before, total+out.Total
			if len(out.Matches) == 0 {
				continue
			}
			offset := out.Matches[0].Offset
			var written time.Time
			if len(spans) > 1 {
				if written, err = spans[i].timeAt(ctx, e, offset); err != nil {
					return m, false, err
				}
			}
			if best < 0 || !above && written.Before(at) || above && !written.Before(at) {
				best, at, m.Offset = i, written, offset
			}
		}
		if best >= 0 {
			m.Span, m.Number, m.Total, m.Wrapped = best, before+1, total, wrapped > 0
			if above {
				m.Number = before
			}
			return m, true, nil
		}
	}
	return m, false, nil
}

// grepNext finds the next match in one log and counts all matches.
func (s *Span) grepNext(ctx context.Context, e api.Engine, since int64, expr string, above bool) (out api.ProcessLogOutput, err error) {
	out, err = api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: s.Source.Process.ID, Stream: s.Stream, Since: &since, Grep: expr, Backward: above, Limit: 1, Count: true})
	if s.isGone(err) {
		return out, nil
	}
	return out, err
}

// GoTo moves empty spans to the line of m. In the other logs that is the first line written after
// it.
func GoTo(ctx context.Context, e api.Engine, spans []Span, m Match) error {
	at, err := spans[m.Span].timeAt(ctx, e, m.Offset)
	if err != nil {
		return err
	}
	for i := range spans {
		s := &spans[i]
		offset := m.Offset
		if i != m.Span {
			if offset, err = s.seekTime(ctx, e, at, i < m.Span); err != nil {
				return err
			}
		}
		s.From, s.To, s.Oldest = offset, offset, min(s.Oldest, offset)
	}
	return nil
}

// seekTime returns the offset of the first line written at t or later; with later only after t.
func (s *Span) seekTime(ctx context.Context, e api.Engine, t time.Time, later bool) (int64, error) {
	out, _, err := s.read(ctx, e, 0, 4, 0)
	if s.isGone(err) {
		return s.To, nil
	}
	if err != nil {
		return 0, err
	}
	// Times grow with offsets, so a binary search over bytes finds the first one late enough.
	from, to := out.Dropped, out.End
	for from < to {
		middle := from + (to-from)/2
		at, err := s.timeAt(ctx, e, middle)
		if err != nil {
			return 0, err
		}
		if at.After(t) || !later && at.Equal(t) {
			to = middle
		} else {
			from = middle + 1
		}
	}
	if from <= out.Dropped {
		return out.Dropped, nil
	}
	// That byte may be inside a line: continue after the line's end.
	next, text, err := s.read(ctx, e, from-1, maxLine, 0)
	if err != nil {
		return 0, err
	}
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return next.Start + int64(i) + 1, nil
	}
	return next.NextCursor, nil
}
