package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
)

// logLineMost is how long a line of a merged log gets before it is printed
// though its end has not come.
const logLineMost = 64 << 10

// A logLine is a line of a merged log, or a note about one of its processes.
type logLine struct {
	source *logSource
	stream string    // stdout or stderr where they are kept apart
	at     time.Time // zero where nobody knows
	text   []byte
	note   string // instead of a line
}

// A logSource is one of the logs that are merged. While it is followed, its
// goroutine alone uses the lower half.
type logSource struct {
	process  api.Process
	label    string // its name as it is printed
	tint     string
	reading  bool // a goroutine follows it
	wasAlive bool // while it was followed

	in       api.ProcessLogInput
	skip     bool // the next answer only tells where the log ends
	partial  []logLine
	last     time.Time // of the last line: what has no time of its own has that of the line before
	until    int64     // where the log ended at first
	untilErr int64
}

func newLogSource(p api.Process, f logFlags, sinceGiven bool) *logSource {
	s := &logSource{process: p, in: api.ProcessLogInput{ID: p.ID, Stream: "both", Max: logPage, Exact: true, Times: true}, until: -1}
	if split := p.Supervision != nil && p.Supervision.SplitLog; f.stream != "" && split {
		s.in.Stream = f.stream
	}
	switch {
	case sinceGiven:
		s.in.Since = &f.since
	case f.lines == 0:
		s.skip, s.in.Tail = true, 1
	case f.lines > 0 && f.grep == "":
		s.in.Tail = f.lines
	}
	return s
}

// ask gives the lines that come next, and whether there are more at once.
func (s *logSource) ask(ctx context.Context, conn *retry.Conn) (lines []logLine, more bool, state api.State, err error) {
	out, err := api.ProcessLog.Call(ctx, conn, s.in)
	if err != nil {
		return nil, false, "", err
	}
	if s.until < 0 {
		s.until = out.End
		if out.Stderr != nil {
			s.untilErr = out.Stderr.End
		}
	}
	if !s.skip {
		if gone := s.gone(out); gone > 0 {
			lines = append(lines, logLine{source: s, at: s.last, note: fmt.Sprintf("lost %d earlier bytes: the log is limited", gone)})
		}
		if lines, err = s.take(lines, out); err != nil {
			return nil, false, "", err
		}
	}
	return lines, s.moveOn(out), out.State, nil
}

// gone is how many bytes are not there any more of what was asked for.
func (s *logSource) gone(out api.ProcessLogOutput) int64 {
	if s.in.Tail > 0 || s.in.Since != nil && *s.in.Since < 0 {
		return 0
	}
	behind := func(dropped int64, since *int64) int64 {
		if since != nil {
			dropped -= *since
		}
		return max(dropped, 0)
	}
	n := behind(out.Dropped, s.in.Since)
	if out.Stderr != nil {
		n += behind(out.Stderr.Dropped, s.in.SinceStderr)
	}
	return n
}

// moveOn makes the question that follows an answer, and reports whether there
// is more of what the log had at first.
func (s *logSource) moveOn(out api.ProcessLogOutput) (more bool) {
	next, nextErr := out.NextCursor, int64(0)
	if out.Stderr != nil {
		nextErr = out.Stderr.NextCursor
	}
	if s.skip {
		next = out.End
		if out.Stderr != nil {
			nextErr = out.Stderr.End
		}
	}
	first := s.in.Since == nil || *s.in.Since < 0
	moved := first || next > *s.in.Since || s.in.SinceStderr != nil && nextErr > *s.in.SinceStderr
	s.in.Since, s.in.Tail, s.skip = &next, 0, false
	if out.Stderr != nil {
		s.in.SinceStderr = &nextErr
	}
	return moved && (next < s.until || nextErr < s.untilErr)
}

// take adds the lines of an answer. What has no end yet is kept for later.
func (s *logSource) take(lines []logLine, out api.ProcessLogOutput) ([]logLine, error) {
	text, err := out.Bytes()
	if err != nil {
		return nil, err
	}
	if out.Stderr == nil {
		stream := ""
		if s.in.Stream != "both" {
			stream = s.in.Stream
		}
		at := out.Start
		for line := range bytes.Lines(text) {
			lines = s.add(lines, stream, writtenAt(out.Times, at), line)
			at += int64(len(line))
		}
		return lines, nil
	}
	for _, part := range out.Parts {
		n := min(part.Bytes, len(text))
		var at time.Time
		if part.At != nil {
			at = *part.At
		}
		for line := range bytes.Lines(text[:n]) {
			lines = s.add(lines, part.Stream, at, line)
		}
		text = text[n:]
	}
	return lines, nil
}

// writtenAt is when what is at an offset was written, as far as known.
func writtenAt(times []api.LogTime, offset int64) time.Time {
	i, exact := slices.BinarySearchFunc(times, offset, func(t api.LogTime, offset int64) int { return int(min(max(t.Offset-offset, -1), 1)) })
	switch {
	case exact:
		return times[i].At
	case i > 0:
		return times[i-1].At
	}
	return time.Time{}
}

// add adds a piece of a line, which is a whole one if it has an end or is
// too long.
func (s *logSource) add(lines []logLine, stream string, at time.Time, piece []byte) []logLine {
	i := slices.IndexFunc(s.partial, func(l logLine) bool { return l.stream == stream })
	if i < 0 {
		i = len(s.partial)
		s.partial = append(s.partial, logLine{source: s, stream: stream, at: at})
	}
	line := &s.partial[i]
	line.text = append(line.text, piece...)
	if !bytes.HasSuffix(line.text, []byte{'\n'}) && len(line.text) < logLineMost {
		return lines
	}
	lines = append(lines, s.inOrder(*line))
	s.partial = slices.Delete(s.partial, i, i+1)
	return lines
}

// rest is what has no end and will get none.
func (s *logSource) rest() []logLine {
	rest := s.partial
	s.partial = nil
	for i := range rest {
		rest[i] = s.inOrder(rest[i])
	}
	return rest
}

// inOrder is a line whose time is not before that of the one before it.
func (s *logSource) inOrder(l logLine) logLine {
	l.text = bytes.TrimSuffix(bytes.TrimSuffix(l.text, []byte{'\n'}), []byte{'\r'})
	if l.at.Before(s.last) {
		l.at = s.last
	}
	s.last = l.at
	return l
}

// A logNews is what has come of a log that is followed.
type logNews struct {
	source *logSource
	lines  []logLine
	over   bool        // it has ended, and this was all
	event  *api.Event  // instead: what has become of processes
	end    api.Process // when it is over; without an id if it has been removed
	err    error
}

// follow sends what a log gets until its process has ended.
func (s *logSource) follow(ctx context.Context, conn *retry.Conn, send func(logNews) bool) {
	s.in.WaitMS = int(logWait.Milliseconds())
	for {
		start := *s.in.Since + s.sinceErr()
		lines, _, state, err := s.ask(ctx, conn)
		moved := err == nil && *s.in.Since+s.sinceErr() > start
		switch {
		case errors.Is(err, api.CodeNotFound):
			send(logNews{source: s, lines: s.rest(), over: true})
			return
		case err != nil:
			send(logNews{source: s, err: err})
			return
		case state.Ended() && !moved:
			end, err := api.ProcessGet.Call(ctx, conn, api.IDInput{ID: s.in.ID})
			if errors.Is(err, api.CodeNotFound) {
				err = nil
			}
			send(logNews{source: s, lines: append(lines, s.rest()...), over: true, end: end, err: err})
			return
		case len(lines) > 0 && !send(logNews{source: s, lines: lines}):
			return
		}
	}
}

func (s *logSource) sinceErr() int64 {
	if s.in.SinceStderr == nil {
		return 0
	}
	return *s.in.SinceStderr
}
