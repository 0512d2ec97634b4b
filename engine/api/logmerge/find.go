package logmerge

import (
	"bytes"
	"context"
	"slices"
	"time"

	"tandem/engine/api"
)

// A Match is a line that a search has found in a merged log.
type Match struct {
	Span          int   // index of its log
	Offset        int64 // of the line, there
	Number, Total int   // which match it is, of how many
	Wrapped       bool  // it is on the side that was not looked at first
}

// Find looks for the next line that matches a regular expression below a place of a
// merged log, or above it, and then on the other side. The place is between the lines
// that each log has before and behind an offset. ok is false when no line matches.
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
		best := -1
		var at time.Time
		before, total = 0, 0
		for i := range spans {
			out, err := spans[i].grep(ctx, e, place[i], expr, above)
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

// grep looks for the next match in one log, and counts them.
func (s *Span) grep(ctx context.Context, e api.Engine, since int64, expr string, above bool) (out api.ProcessLogOutput, err error) {
	out, err = api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: s.Source.Process.ID, Stream: s.Stream, Since: &since, Grep: expr, Backward: above, Limit: 1, Count: true})
	if s.gone(err) {
		return out, nil
	}
	return out, err
}

// GoTo puts empty spans at the place of a line of one of them: what the others have
// from there on was written after it.
func GoTo(ctx context.Context, e api.Engine, spans []Span, m Match) error {
	at, err := spans[m.Span].timeAt(ctx, e, m.Offset)
	if err != nil {
		return err
	}
	for i := range spans {
		s := &spans[i]
		offset := m.Offset
		if i != m.Span {
			if offset, err = s.seek(ctx, e, at, i < m.Span); err != nil {
				return err
			}
		}
		s.From, s.To, s.Oldest = offset, offset, min(s.Oldest, offset)
	}
	return nil
}

// seek is where the first line begins that was written at a time or later, or only
// later.
func (s *Span) seek(ctx context.Context, e api.Engine, t time.Time, later bool) (int64, error) {
	out, _, err := s.read(ctx, e, 0, 4, 0)
	if s.gone(err) {
		return s.To, nil
	}
	if err != nil {
		return 0, err
	}
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
	next, text, err := s.read(ctx, e, from-1, maxLine, 0)
	if err != nil {
		return 0, err
	}
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return next.Start + int64(i) + 1, nil
	}
	return next.NextCursor, nil
}
