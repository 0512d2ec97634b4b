package processes

import (
	"context"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
)

// A logRequest is a request for a part of the logs.
type logRequest struct {
	kind    logRequestKind
	delay   time.Duration // wait before the request
	max     int           // bytes read at a time from each log
	spans   []logmerge.Span
	forward *logmerge.Merge
	atEnd   bool // the lines held reach the end
}

type logRequestKind int

const (
	askMore   logRequestKind = iota // lines after the last one held
	askBefore                       // lines before the first one held
	askEnd                          // the end, to follow it
	askStart                        // the beginning
	askAround                       // lines around the position of the spans
)

// A logAnswer is the answer to a logRequest.
type logAnswer struct {
	before, after []logmerge.Line
	open          []logmerge.Line // unfinished lines after these
	left          int64           // bytes written but not read
}

const (
	pollDelay  = 30 * time.Millisecond
	retryDelay = time.Second // after an error
)

// NextRequest returns the request to make now, replacing an earlier one. ok is false without one.
func (l *Log) NextRequest() (r *logRequest, ok bool) {
	kind, ok := l.nextKind()
	// While one request runs, only a jump may replace it, or a need other than more lines.
	if !ok || l.pending != nil && l.jump == nil && (l.pending.kind != askMore || kind == askMore) {
		return nil, false
	}
	if r = l.jump; r == nil {
		r = &logRequest{kind: kind}
	}
	l.jump = nil
	if l.err != nil {
		r.delay = retryDelay
	}
	r.max, r.atEnd = l.maxChunk(), l.atEnd
	if r.spans == nil {
		r.spans = slices.Clone(l.spans)
	}
	if r.kind == askMore {
		if l.forward == nil {
			l.forward = logmerge.Forward(r.spans, r.max)
		}
		r.forward, r.delay = l.forward, max(r.delay, pollDelay)
	}
	l.pending, l.forward = r, nil
	return r, true
}

// maxChunk returns how many bytes are read at a time from one log.
func (l *Log) maxChunk() int { return max(min(maxLogChunk, maxLogChunks/len(l.spans)), minLogChunk) }

func (l *Log) nextKind() (logRequestKind, bool) {
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
	switch margin := max(marginScreens*l.h, minMarginLines); {
	case top < margin && logmerge.HasBefore(l.spans):
		return askBefore, true
	case len(l.lines)-top < margin+l.h:
		return askMore, !l.idle
	}
	return 0, false
}

// Run makes the request. It uses no state of the view, so it may run concurrently.
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
	if !r.atEnd || r.kind != askMore {
		a.after, err = r.readLines(ctx, e)
	}
	// Nothing is left to read, so wait for output.
	if err == nil && r.kind == askMore && len(a.after) == 0 {
		a.after, err = r.forward.Wait(ctx, e)
	}
	a.open, a.left = r.forward.PartialLines(), r.forward.Behind()
	return a, err
}

// readLines reads lines already written, up to a limit.
func (r *logRequest) readLines(ctx context.Context, e api.Engine) (lines []logmerge.Line, err error) {
	for size := 0; len(lines) < maxFollowLines && size < maxFollowBytes; {
		line, ok, err := r.forward.Next(ctx, e)
		if err != nil || !ok {
			return lines, err
		}
		lines = append(lines, line)
		size += len(line.Text)
	}
	return lines, nil
}

// AcceptAnswer stores an answer. It reports false if another request has replaced r.
func (l *Log) AcceptAnswer(r *logRequest, a logAnswer, err error) bool {
	if l.pending != r {
		return false
	}
	l.pending, l.err = nil, err
	if err != nil {
		if r.kind != askMore && r.kind != askBefore && l.known {
			l.jump = r
		}
		return true
	}
	switch r.kind {
	case askMore:
		// Reading everything in between could never catch up with a flood of output.
		if l.follow && a.left > maxFollowLag {
			l.skipped += a.left
			l.jump = &logRequest{kind: askEnd, delay: pollDelay}
			return true
		}
		l.forward, l.idle, l.atEnd = r.forward, len(a.after) == 0 && r.forward.HasEnded(), a.left == 0
		l.append(a.after, a.open)
		l.last = l.end + a.left
		l.dropFar(l.follow || l.index(l.top.offset) > len(l.lines)/2)
	case askBefore:
		l.spans = r.spans
		l.prepend(a.before)
		l.dropFar(false)
	default:
		l.spans, l.forward, l.idle, l.atEnd = r.spans, r.forward, false, r.kind == askEnd
		l.replace(a)
		l.last = l.end + a.left
	}
	l.known, l.oldest = true, l.start
	for _, s := range l.spans {
		l.oldest -= max(s.From-s.Oldest, 0)
	}
	return true
}
