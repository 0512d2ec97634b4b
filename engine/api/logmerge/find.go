package logmerge

import (
	"bytes"
	"context"
	"time"

	"tandem/engine/api"
)

// find searches the logs for the next line that matches the regular expression expr, and moves
// their positions to it. It searches down from the positions or, if above is set, up. If there is
// no match, the search wraps around.
func find(ctx context.Context, e api.Engine, logs []*log, expr string, above bool) (*api.LogsMatch, error) {
	for wrapped := range 2 {
		if wrapped > 0 {
			for _, l := range logs {
				if l.Next = 0; above {
					l.Next = searchEnd
				}
			}
		}
		// The result is the earliest of the logs' next matches or, if above is set, the latest.
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

// grepNext finds the next match in one log, and counts all matches in it.
func (l *log) grepNext(ctx context.Context, e api.Engine, expr string, above bool) (out api.ProcessLogOutput, err error) {
	out, err = api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: l.ID, Stream: l.Stream, Since: &l.Next, Grep: expr, Backward: above, Limit: 1, Count: true})
	if l.isGone(err) {
		return out, nil
	}
	return out, err
}

// goTo moves the logs to the match m; at is the time at which its line was written. In the other
// logs, it moves to the first line written after that.
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

// seekTime returns the offset of the first line written at t or after it. If later is set, a line
// written at t does not count.
func (l *log) seekTime(ctx context.Context, e api.Engine, t time.Time, later bool) (int64, error) {
	out, _, err := l.read(ctx, e, 0, 1, 0)
	if l.isGone(err) {
		return l.Next, nil
	}
	if err != nil {
		return 0, err
	}
	// Times grow with offsets, so a binary search over bytes finds the first byte that is late
	// enough.
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
	// The byte found may be inside a line, so continue after the end of the line.
	next, text, err := l.read(ctx, e, from-1, maxLine, 0)
	if err != nil {
		return 0, err
	}
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return next.Start + int64(i) + 1, nil
	}
	return next.NextCursor, nil
}
