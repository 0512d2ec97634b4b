package cli

import (
	"context"
	"errors"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/engine/api/logmerge"
)

// A logSource is one of the logs that are merged. While it is followed, its
// goroutine alone uses its reader.
type logSource struct {
	*logmerge.Source
	reader   *logmerge.Reader
	reading  bool // a goroutine follows it
	wasAlive bool // while it was followed
}

// readerOf reads a log as the flags want it.
func readerOf(source *logmerge.Source, f logFlags, sinceGiven bool) *logmerge.Reader {
	p := &source.Process
	r := &logmerge.Reader{Source: source, In: api.ProcessLogInput{ID: p.ID, Stream: streamBoth, Max: logPage, Exact: true, Times: true}}
	if split := p.Supervision != nil && p.Supervision.SplitLog; f.stream != "" && split {
		r.In.Stream = f.stream
	}
	switch {
	case sinceGiven:
		r.In.Since = &f.since
	case f.lines == 0:
		r.Skip, r.In.Tail = true, 1
	case f.lines > 0 && f.grep == "":
		r.In.Tail = f.lines
	}
	return r
}

// A logNews is what has come of a log that is followed.
type logNews struct {
	source *logSource
	lines  []logmerge.Line
	over   bool        // it has ended, and this was all
	event  *api.Event  // instead: what has become of processes
	end    api.Process // when it is over; without an id if it has been removed
	err    error
}

// follow sends what a log gets until its process has ended.
func (s *logSource) follow(ctx context.Context, conn *retry.Conn, send func(logNews) bool) {
	r := s.reader
	r.In.WaitMS = int(logWait.Milliseconds())
	for {
		start := r.Read()
		lines, _, state, err := r.Ask(ctx, conn)
		switch {
		case errors.Is(err, api.CodeNotFound):
			send(logNews{source: s, lines: r.Rest(), over: true})
			return
		case err != nil:
			send(logNews{source: s, err: err})
			return
		case state.Ended() && r.Read() <= start:
			end, err := api.ProcessGet.Call(ctx, conn, api.IDInput{ID: r.In.ID})
			if errors.Is(err, api.CodeNotFound) {
				err = nil
			}
			send(logNews{source: s, lines: append(lines, r.Rest()...), over: true, end: end, err: err})
			return
		case len(lines) > 0 && !send(logNews{source: s, lines: lines}):
			return
		}
	}
}
