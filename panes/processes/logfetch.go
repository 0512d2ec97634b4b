package processes

import (
	"time"

	"tandem/engine/api"
)

// A LogRequest is a piece of a log that a Log needs.
type LogRequest struct {
	Input api.ProcessLogInput
	Delay time.Duration // to wait before asking
	kind  logRequestKind
	at    int64 // for a jump: the line that is to be seen
	n     int   // number of the request
}

type logRequestKind int

const (
	askMore   logRequestKind = iota // what follows on the last line held
	askBefore                       // what comes before the first one
	askEnd                          // the end, to be followed
	askStart                        // the beginning
	askAround                       // about the line at an offset
)

// Waits of a Log.
const (
	logWait  = 20 * time.Second // for more to be printed
	logEvery = 30 * time.Millisecond
	logIdle  = 200 * time.Millisecond // after an answer without news
	logLater = time.Second            // after an error
)

// Next is what the Log needs now; ok is false if that is nothing, or has been
// asked for. What was asked for before is no longer needed then, and is not to
// be given to Take.
func (l *Log) Next() (r LogRequest, ok bool) {
	want := l.want()
	if want == nil {
		return r, false
	}
	if l.asked != nil && want != l.jump {
		waits := l.asked.Input.WaitMS > 0
		if !waits || want.kind == l.asked.kind {
			return r, false
		}
	}
	l.jump = nil
	l.serial++
	want.n = l.serial
	want.Input.ID, want.Input.Stream, want.Input.Times, want.Input.Exact = l.ID, l.Stream, !l.Terminal, true
	l.asked = want
	return *want, true
}

// want is the most pressing need.
func (l *Log) want() *LogRequest {
	switch {
	case l.jump != nil:
		return l.jump
	case l.h <= 0:
		return nil
	case !l.known:
		return l.ask(askEnd, -logChunk, logChunk)
	case l.follow:
		return l.more(logFollow)
	}
	top := l.index(l.top.offset)
	switch margin := max(logMargin*l.h, logAhead); {
	case top < margin && l.start > l.oldest:
		since := max(l.start-logChunk, l.oldest)
		return l.ask(askBefore, since, int(l.start-since))
	case len(l.lines)-top < margin+l.h:
		return l.more(logChunk)
	}
	return nil
}

func (l *Log) ask(kind logRequestKind, since int64, size int) *LogRequest {
	r := &LogRequest{kind: kind, Input: api.ProcessLogInput{Since: &since, Max: size}}
	if l.err != nil {
		r.Delay = logLater
	}
	return r
}

// more asks for what follows, now or as soon as it is printed.
func (l *Log) more(size int) *LogRequest {
	if l.idle && l.state.Ended() {
		return nil
	}
	r := l.ask(askMore, l.end, size)
	r.Input.WaitMS = int(logWait / time.Millisecond)
	r.Delay = max(r.Delay, logEvery)
	if l.idle {
		r.Delay = max(r.Delay, logIdle)
	}
	return r
}

// Take takes the answer to the request that was last, and tells whether
// anything has changed.
func (l *Log) Take(r LogRequest, out api.ProcessLogOutput) bool {
	if l.asked == nil || l.asked.n != r.n {
		return false
	}
	data, err := out.Bytes()
	if err != nil {
		return l.Fail(r, err)
	}
	out.Data = string(data)
	l.asked, l.err = nil, nil
	l.oldest, l.last, l.state = out.Dropped, max(out.End, out.NextCursor), out.State
	l.idle = r.kind == askMore && out.Data == ""
	l.takeTimes(out.Times)
	first := !l.known
	l.known = true
	switch r.kind {
	case askMore:
		l.takeMore(&out)
	case askBefore:
		if out.NextCursor == l.start {
			l.prepend(&out)
			l.trim(false)
		} else { // what was held is gone
			l.jump = l.around(l.start)
		}
	default:
		l.replace(&out)
		l.settle(r)
	}
	return first || !l.idle
}

// takeMore appends what was printed since. When so much comes that it could not
// be read, it goes on at the end.
func (l *Log) takeMore(out *api.ProcessLogOutput) {
	switch {
	case out.Start != l.end && len(l.lines) > 0:
		l.jump = l.around(out.Start) // dropped before it was read
		if l.follow {
			l.skipTo(out)
		}
		return
	case l.follow && out.End-out.NextCursor > logFarBehind:
		l.skipTo(out)
		return
	}
	if len(l.lines) == 0 {
		l.start = out.Start
	}
	l.append(out)
	l.trim(l.follow || l.index(l.top.offset) > len(l.lines)/2)
}

// skipTo goes to the end of the log at once.
func (l *Log) skipTo(out *api.ProcessLogOutput) {
	l.skipped += max(out.End-logChunk-l.end, 0)
	l.jump = l.ask(askEnd, -logChunk, logChunk)
	l.jump.Delay = logEvery
}

// settle puts the view where a jump was to lead.
func (l *Log) settle(r LogRequest) {
	switch r.kind {
	case askStart:
		l.top = logPlace{offset: l.start}
	case askAround:
		l.top = logPlace{offset: r.at}
		l.showLine(r.at)
	}
}

// Fail takes the error that came instead of an answer.
func (l *Log) Fail(r LogRequest, err error) bool {
	if l.asked == nil || l.asked.n != r.n {
		return false
	}
	l.asked, l.err = nil, err
	if r.kind != askMore && r.kind != askBefore && l.known {
		l.jump = &r
		r.Delay = logLater
	}
	return true
}

// around asks for the lines about an offset.
func (l *Log) around(offset int64) *LogRequest {
	r := l.ask(askAround, max(offset-logChunk/2, l.oldest), logChunk)
	r.at = offset
	return r
}
