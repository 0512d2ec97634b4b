package processes

import (
	"context"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
)

// A logRequest asks for a part of the logs.
type logRequest struct {
	kind    logRequestKind
	delay   time.Duration // to wait before asking
	max     int           // bytes of each log at a time
	spans   []logmerge.Span
	forward *logmerge.Merge
	caught  bool // the end is held
}

type logRequestKind int

const (
	askMore   logRequestKind = iota // lines after the last one held
	askBefore                       // lines before the first one
	askEnd                          // the end, to be followed
	askStart                        // the beginning
	askAround                       // lines around the place of the spans
)

// A logAnswer is the answer to it.
type logAnswer struct {
	before, after []logmerge.Line
	open          []logmerge.Line // unfinished lines after these
	left          int64           // bytes written and still to be read
}

const (
	logEvery = 30 * time.Millisecond
	logLater = time.Second // after an error
)

// Next returns the request to make now, in place of an earlier one; ok is false without one.
func (l *Log) Next() (r *logRequest, ok bool) {
	kind, ok := l.want()
	if !ok || l.asked != nil && l.jump == nil && (l.asked.kind != askMore || kind == askMore) {
		return nil, false
	}
	if r = l.jump; r == nil {
		r = &logRequest{kind: kind}
	}
	l.jump = nil
	if l.err != nil {
		r.delay = logLater
	}
	r.max, r.caught = l.maxChunk(), l.caught
	if r.spans == nil {
		r.spans = slices.Clone(l.spans)
	}
	if r.kind == askMore {
		if l.forward == nil {
			l.forward = logmerge.Forward(r.spans, r.max)
		}
		r.forward, r.delay = l.forward, max(r.delay, logEvery)
	}
	l.asked, l.forward = r, nil
	return r, true
}

// maxChunk returns how many bytes of one log are read at a time.
func (l *Log) maxChunk() int { return max(min(logChunk, logChunks/len(l.spans)), logChunkMin) }

func (l *Log) want() (logRequestKind, bool) {
	switch {
	case len(l.spans) == 0, l.h <= 0:
		return 0, false
	case l.jump != nil:
		return l.jump.kind, true
	case !l.known:
		return askEnd, true
	case l.follow:
		return askMore, !l.idle
	}
	top := l.index(l.top.offset)
	switch margin := max(logMargin*l.h, logAhead); {
	case top < margin && logmerge.HasBefore(l.spans):
		return askBefore, true
	case len(l.lines)-top < margin+l.h:
		return askMore, !l.idle
	}
	return 0, false
}

// Run makes the request. It uses nothing of the view, so it may run beside it.
func (r *logRequest) Run(ctx context.Context, e api.Engine) (a logAnswer, err error) {
	for i := range r.spans {
		switch s := &r.spans[i]; r.kind {
		case askEnd:
			s.From = -1
		case askStart:
			s.From, s.To = 0, 0
		case askAround:
			s.From = s.To
		}
	}
	if r.kind == askStart || r.kind == askAround {
		r.forward = logmerge.Forward(r.spans, r.max)
	}
	if r.kind != askMore && r.kind != askStart {
		a.before, err = logmerge.Before(ctx, e, r.spans, r.max)
	}
	if err != nil || r.kind == askEnd || r.kind == askBefore {
		return a, err
	}
	if !r.caught || r.kind != askMore {
		a.after, err = r.read(ctx, e)
	}
	if err == nil && r.kind == askMore && len(a.after) == 0 {
		a.after, err = r.forward.Wait(ctx, e)
	}
	a.open, a.left = r.forward.PartialLines(), r.forward.Behind()
	return a, err
}

// read reads lines already written.
func (r *logRequest) read(ctx context.Context, e api.Engine) (lines []logmerge.Line, err error) {
	for size := 0; len(lines) < logFollowed && size < logFollow; {
		line, ok, err := r.forward.Next(ctx, e)
		if err != nil || !ok {
			return lines, err
		}
		lines = append(lines, line)
		size += len(line.Text)
	}
	return lines, nil
}

// Take takes an answer, and reports whether it was for the last request.
func (l *Log) Take(r *logRequest, a logAnswer, err error) bool {
	if l.asked != r {
		return false
	}
	l.asked, l.err = nil, err
	if err != nil {
		if r.kind != askMore && r.kind != askBefore && l.known {
			l.jump = r
		}
		return true
	}
	switch r.kind {
	case askMore:
		if l.follow && a.left > logFarBehind {
			l.skipped += a.left
			l.jump = &logRequest{kind: askEnd, delay: logEvery}
			return true
		}
		l.forward, l.idle, l.caught = r.forward, len(a.after) == 0 && r.forward.HasEnded(), a.left == 0
		l.append(a.after, a.open)
		l.last = l.end + a.left
		l.letGo(l.follow || l.index(l.top.offset) > len(l.lines)/2)
	case askBefore:
		l.spans = r.spans
		l.prepend(a.before)
		l.letGo(false)
	default:
		l.spans, l.forward, l.idle, l.caught = r.spans, r.forward, false, r.kind == askEnd
		l.replace(a)
		l.last = l.end + a.left
	}
	l.known, l.oldest = true, l.start
	for _, s := range l.spans {
		l.oldest -= max(s.From-s.Oldest, 0)
	}
	return true
}
