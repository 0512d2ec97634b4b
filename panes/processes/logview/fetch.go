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
	maxLogChunk    = 64 << 10  // bytes read at a time before the lines of one log,
	maxLogChunks   = 512 << 10 // and of several
	maxFollowBytes = 256 << 10
	maxFollowLines = 2000      // lines
	maxFollowLag   = 512 << 10 // following skips to the end if it lags by more bytes
	maxFollowWait  = 20 * time.Second
)

// A Request is a request for a part of the logs. Its user waits for Delay and then calls Run, in a
// command.
type Request struct {
	kind   requestKind
	Delay  time.Duration // wait before the request
	spans  []span
	merged bool

	toMatch bool // the line of the last match is shown then
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
	open          []logmerge.Line // the unfinished line after these
	left          int64           // bytes written but not read
}

const (
	pollDelay  = 30 * time.Millisecond
	retryDelay = time.Second // after an error
)

// A reader decides what to read next.
type reader struct {
	pending *Request // the request under way
	jump    *Request // the request to make next
	known   bool     // an answer has arrived
	atEnd   bool     // the lines held reach the end
	idle    bool     // all processes have exited and everything is read
	err     error
	engine  int // the engine that is asked
}

// NextRequest returns the request to make now. It replaces an earlier request that is still
// running. ok is false if nothing is needed.
func (l *Log) NextRequest() (next *Request, ok bool) {
	if len(l.window.spans) == 0 || l.view.h <= 0 {
		return nil, false
	}
	before, after := l.view.missingLines()
	before = before && slices.ContainsFunc(l.window.spans, func(s span) bool { return s.from > s.oldest })
	kind, ok := l.reader.nextKind(before, after)
	// A running request is replaced only by a jump or, if it waits for more output, by a request of
	// another kind.
	r := &l.reader
	if !ok || (r.pending != nil && r.jump == nil && (r.pending.kind != askMore || kind == askMore)) {
		return nil, false
	}
	if next = r.jump; next == nil {
		next = &Request{kind: kind}
	}
	r.jump, r.pending = nil, next
	if r.err != nil {
		next.Delay = retryDelay
	}
	if next.kind == askMore {
		next.Delay = max(next.Delay, pollDelay)
	}
	if next.merged = l.window.merged; next.spans == nil {
		next.spans = slices.Clone(l.window.spans)
	}
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

// SetEngine tells which engine is asked from now on: the number of connections so far. Another engine
// may have overwritten text, so the visible lines are read again.
func (l *Log) SetEngine(number int) {
	if number == l.reader.engine {
		return
	}
	l.reader.engine = number
	switch {
	case !l.reader.known, l.reader.jump != nil: // they are about to be read
	case l.view.follow:
		l.reader.jump = &Request{kind: askEnd}
	default:
		l.reader.jump = &Request{kind: askAround, spans: l.window.spansTo(l.view.top.offset)}
	}
}

// resume starts reading at the end of the logs again, because a process may write more.
func (l *Log) resume() {
	l.reader.idle = false
	for i := range l.window.spans {
		l.window.spans[i].ended = false
	}
	if l.reader.pending != nil && l.reader.pending.kind == askMore {
		l.reader.pending = nil
	}
}

// Run makes the request and returns the answer. It does not access the Log, so it may run
// concurrently with the Log's methods.
func (r *Request) Run(ctx context.Context, e api.Engine) (a Answer, err error) {
	switch r.kind {
	case askBefore:
		a.before, _, err = r.read(ctx, e, func(s *span) int64 { return s.from }, api.ProcessLogsInput{Backward: true})
	case askEnd:
		a.before, _, err = r.read(ctx, e, func(*span) int64 { return -1 }, api.ProcessLogsInput{Backward: true})
	case askAround:
		a.before, _, err = r.read(ctx, e, func(s *span) int64 { return s.to }, api.ProcessLogsInput{Backward: true})
	case askStart:
		for i := range r.spans {
			r.spans[i].from, r.spans[i].to = 0, 0
		}
	}
	if err != nil || r.kind == askBefore || r.kind == askEnd {
		return a, err
	}
	in := api.ProcessLogsInput{Partial: !r.merged}
	if r.kind == askMore {
		in.WaitMS = int(maxFollowWait.Milliseconds())
	}
	a.after, a.left, err = r.read(ctx, e, func(s *span) int64 { return s.to }, in)
	if n := len(a.after); n > 0 && a.after[n-1].Partial {
		a.after, a.open = a.after[:n-1], a.after[n-1:]
	}
	return a, err
}

// read reads lines before or after a position in each span's log, and updates the spans. left is
// how many bytes follow the lines that were read.
func (r *Request) read(ctx context.Context, e api.Engine, position func(*span) int64, in api.ProcessLogsInput) (lines []logmerge.Line, left int64, err error) {
	for i := range r.spans {
		s := &r.spans[i]
		in.Cursor = append(in.Cursor, api.LogCursor{ID: s.source.Process.ID, Stream: s.stream, Offset: position(s), Seen: s.seen, Ended: s.ended})
	}
	if in.Max, in.Lines = maxFollowBytes, maxFollowLines; in.Backward {
		in.Max, in.Lines = min(maxLogChunk*len(r.spans), maxLogChunks), 0
	}
	out, err := logmerge.Call(ctx, e, in)
	switch {
	case err != nil:
		return nil, 0, err
	case len(out.Logs) != len(r.spans):
		return nil, 0, api.Errorf(api.CodeInternal, "read logs: %d of %d logs answered", len(out.Logs), len(r.spans))
	case !r.merged && out.Logs[0].Error != "":
		return nil, 0, api.Errorf(api.CodeNotFound, "%s", out.Logs[0].Error)
	}
	for i := range r.spans {
		s, log := &r.spans[i], &out.Logs[i]
		if s.oldest, s.seen = log.Dropped, 0; r.kind != askBefore {
			s.ended = log.Ended
		}
		switch {
		case !in.Backward:
			left += max(log.End-log.Next, 0)
		case r.kind == askBefore:
			s.from = log.Start
		default:
			s.from, s.to = log.Start, log.Next
		}
	}
	if lines, err = logmerge.Lines(&out); err != nil {
		return nil, 0, err
	}
	if n := len(lines) - 1; n >= 0 && lines[n].Partial {
		r.spans[lines[n].Log].seen = lines[n].Next
		left -= lines[n].Next - lines[n].Offset
	}
	return lines, left, nil
}

// AcceptAnswer stores the answer to request r, or its error. It returns false if another request
// has replaced r.
func (l *Log) AcceptAnswer(r *Request, a Answer, err error) bool {
	if l.reader.pending != r {
		return false
	}
	l.reader.pending, l.reader.err = nil, err
	if err != nil {
		if r.kind != askMore && r.kind != askBefore && (l.reader.known || r.toMatch) {
			l.reader.jump = r
		}
		return true
	}
	switch r.kind {
	case askMore:
		// Skip to the end: reading everything could never catch up with a flood of output.
		if l.view.follow && a.left > maxFollowLag {
			l.view.skipped += a.left
			l.reader.jump = &Request{kind: askEnd, Delay: pollDelay}
			return true
		}
		for i := range r.spans {
			s := &l.window.spans[i]
			s.ended, s.seen, s.oldest = r.spans[i].ended, r.spans[i].seen, r.spans[i].oldest
		}
		l.reader.idle, l.reader.atEnd = hasEnded(r.spans), a.left == 0
		l.window.append(a.after, a.open)
		l.window.last = l.window.end + a.left
		l.dropFar(l.view.follow || l.view.topLine() > len(l.window.lines)/2)
	case askBefore:
		l.window.spans = r.spans
		l.window.prepend(a.before)
		l.dropFar(false)
	default:
		l.reader.idle, l.reader.atEnd = hasEnded(r.spans), r.kind == askEnd
		l.window.spans = r.spans
		l.view.top = rowPosition{offset: l.window.replace(a)}
		l.window.last = l.window.end + a.left
		if r.toMatch {
			l.view.showLine(l.match.at)
		}
	}
	l.reader.known = true
	l.window.updateOldest()
	return true
}

// hasEnded reports whether no log will grow.
func hasEnded(spans []span) bool {
	return !slices.ContainsFunc(spans, func(s span) bool { return !s.ended })
}

// dropFar drops lines far from the visible ones: the first lines if head is set, and otherwise the
// last lines.
func (l *Log) dropFar(head bool) {
	if l.window.dropFar(head) {
		// The last lines are gone, so they must be read again.
		l.reader.atEnd = false
		l.resume()
	}
}
