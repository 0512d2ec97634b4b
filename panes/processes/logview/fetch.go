package logview

import (
	"context"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
)

// Limits of requests.
const (
	maxLogChunk    = 64 << 10  // bytes read at a time from one log,
	minLogChunk    = 8 << 10   // from each of many,
	maxLogChunks   = 512 << 10 // and from all together
	maxFollowBytes = 256 << 10
	maxFollowLines = 2000      // lines
	maxFollowLag   = 512 << 10 // following skips to the end if it lags by more bytes
)

// A Request is a request for a part of the logs. It runs in a command: wait for its Delay, then call
// Run.
type Request struct {
	kind    requestKind
	Delay   time.Duration // wait before the request
	max     int           // bytes read at a time from each log
	spans   []logmerge.Span
	forward *logmerge.Merge
	atEnd   bool // the lines held reach the end
}

type requestKind int

const (
	askMore   requestKind = iota // lines after the last one held
	askBefore                    // lines before the first one held
	askEnd                       // the end, to follow it
	askStart                     // the beginning
	askAround                    // lines around the position of the spans
)

// An Answer is the answer to a Request.
type Answer struct {
	before, after []logmerge.Line
	open          []logmerge.Line // unfinished lines after these
	left          int64           // bytes written but not read
}

const (
	pollDelay  = 30 * time.Millisecond
	retryDelay = time.Second // after an error
)

// A reader decides what to read next.
type reader struct {
	forward *logmerge.Merge // reads on after the lines held; nil until needed
	pending *Request        // the request under way
	jump    *Request        // the request to make next
	known   bool            // an answer has arrived
	atEnd   bool            // the lines held reach the end
	idle    bool            // all processes have exited and everything is read
	err     error
}

func (r *reader) resume() {
	r.forward, r.idle = nil, false
	if r.pending != nil && r.pending.kind == askMore {
		r.pending = nil
	}
}

// NextRequest returns the request to make now, replacing an earlier one. ok is false without one.
func (l *Log) NextRequest() (next *Request, ok bool) {
	if len(l.window.spans) == 0 || l.view.h <= 0 {
		return nil, false
	}
	before, after := l.view.missingLines()
	return l.reader.nextRequest(l.window.spans, before && logmerge.HasBefore(l.window.spans), after)
}

// nextRequest returns the request to make now. before and after report whether lines before and
// after the spans are needed.
func (r *reader) nextRequest(spans []logmerge.Span, before, after bool) (next *Request, ok bool) {
	kind, ok := r.nextKind(before, after)
	// While one request runs, only a jump may replace it, or a need other than more lines.
	if !ok || r.pending != nil && r.jump == nil && (r.pending.kind != askMore || kind == askMore) {
		return nil, false
	}
	if next = r.jump; next == nil {
		next = &Request{kind: kind}
	}
	r.jump = nil
	if r.err != nil {
		next.Delay = retryDelay
	}
	next.max, next.atEnd = maxChunk(len(spans)), r.atEnd
	if next.spans == nil {
		next.spans = slices.Clone(spans)
	}
	if next.kind == askMore {
		if r.forward == nil {
			r.forward = logmerge.Forward(next.spans, next.max)
		}
		next.forward, next.Delay = r.forward, max(next.Delay, pollDelay)
	}
	r.pending, r.forward = next, nil
	return next, true
}

func (r *reader) nextKind(before, after bool) (requestKind, bool) {
	switch {
	case r.jump != nil:
		return r.jump.kind, true
	case !r.known:
		return askEnd, true
	case before:
		return askBefore, true
	}
	return askMore, after && !r.idle
}

// maxChunk returns how many bytes are read at a time from each of n logs.
func maxChunk(n int) int { return max(min(maxLogChunk, maxLogChunks/n), minLogChunk) }

// Run makes the request. It uses no state of the view, so it may run concurrently.
func (r *Request) Run(ctx context.Context, e api.Engine) (a Answer, err error) {
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
func (r *Request) readLines(ctx context.Context, e api.Engine) (lines []logmerge.Line, err error) {
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
func (l *Log) AcceptAnswer(r *Request, a Answer, err error) bool {
	if l.reader.pending != r {
		return false
	}
	l.reader.pending, l.reader.err = nil, err
	if err != nil {
		if r.kind != askMore && r.kind != askBefore && l.reader.known {
			l.reader.jump = r
		}
		return true
	}
	switch r.kind {
	case askMore:
		// Reading everything in between could never catch up with a flood of output.
		if l.view.follow && a.left > maxFollowLag {
			l.view.skipped += a.left
			l.reader.jump = &Request{kind: askEnd, Delay: pollDelay}
			return true
		}
		l.reader.forward, l.reader.idle, l.reader.atEnd = r.forward, len(a.after) == 0 && r.forward.HasEnded(), a.left == 0
		l.window.append(a.after, a.open)
		l.window.last = l.window.end + a.left
		l.dropFar(l.view.follow || l.view.topLine() > len(l.window.lines)/2)
	case askBefore:
		l.window.spans = r.spans
		l.window.prepend(a.before)
		l.dropFar(false)
	default:
		l.reader.forward, l.reader.idle, l.reader.atEnd = r.forward, false, r.kind == askEnd
		l.window.spans = r.spans
		l.view.top = rowPosition{offset: l.window.replace(a)}
		l.window.last = l.window.end + a.left
	}
	l.reader.known = true
	l.window.updateOldest()
	return true
}

// dropFar drops lines far from the visible ones: the first ones if head, else the last ones.
func (l *Log) dropFar(head bool) {
	if l.window.dropFar(head) {
		// The last lines are gone, so they must be read again.
		l.reader.forward, l.reader.idle, l.reader.atEnd = nil, false, false
	}
}
