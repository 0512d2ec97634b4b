package logmerge

import (
	"bytes"
	"context"
	"time"

	"tandem/engine/api"
)

// find searches the logs for the next line that matches the regular expression expr, down from their
// positions, or up with above; without a match the search wraps. It moves the positions to the match.
func find(ctx context.Context, e api.Engine, logs []*log, expr string, above bool) (*api.LogsMatch, error) {
	for wrapped := range 2 {
		if wrapped > 0 {
			for _, l := range logs {
				if l.Next = 0; above {
					l.Next = 1<<63 - 1
				}
			}
		}
		// The next line of all logs is the earliest of each log's next match, or above the latest.
		best := -1
		var at time.Time
		m := api.LogsMatch{Wrapped: wrapped > 0}
		for i, l := range logs {
			out, err := l.grepNext(ctx, e, expr, above)
			if err != nil {
				return nil, err
			}
			m.Number, m.Total = m.Number+out.Before, m.Total+out.Total
			if len(out.Matches) == 0 {
				continue
			}
			offset := out.Matches[0].Offset
			var written time.Time
			if len(logs) > 1 {
				if written, err = l.timeAt(ctx, e, offset); err != nil {
					return nil, err
				}
			}
			if best < 0 || !above && written.Before(at) || above && !written.Before(at) {
				best, at, m.Log, m.Offset = i, written, i, offset
			}
		}
		if best < 0 {
			continue
		}
		if !above {
			m.Number++
		}
		return &m, goTo(ctx, e, logs, m, at)
	}
	return nil, nil
}

// grepNext finds the next match in one log and counts all matches.
func (l *log) grepNext(ctx context.Context, e api.Engine, expr string, above bool) (out api.ProcessLogOutput, err error) {
	out, err = api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: l.ID, Stream: l.Stream, Since: &l.Next, Grep: expr, Backward: above, Limit: 1, Count: true})
	if l.isGone(err) {
		return out, nil
	}
	return out, err
}

// goTo moves the logs to the line of m, written at a time. In the other logs that is the first line
// written after it.
func goTo(ctx context.Context, e api.Engine, logs []*log, m api.LogsMatch, at time.Time) (err error) {
	for i, l := range logs {
		if l.Next = m.Offset; i != m.Log {
			l.Next, err = l.seekTime(ctx, e, at, i < m.Log)
		}
		if err != nil {
			return err
		}
		l.Start = l.Next
	}
	return nil
}

// seekTime returns the offset of the first line written at t or later; with later only after t.
func (l *log) seekTime(ctx context.Context, e api.Engine, t time.Time, later bool) (int64, error) {
	out, _, err := l.read(ctx, e, 0, 1, 0)
	if l.isGone(err) {
		return l.Next, nil
	}
	if err != nil {
		return 0, err
	}
	// Times grow with offsets, so a binary search over bytes finds the first one late enough.
	from, to := out.Dropped, out.End
	for from < to {
		middle := from + (to-from)/2
		at, err := l.timeAt(ctx, e, middle)
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
	next, text, err := l.read(ctx, e, from-1, maxLine, 0)
	if err != nil {
		return 0, err
	}
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return next.Start + int64(i) + 1, nil
	}
	return next.NextCursor, nil
}
