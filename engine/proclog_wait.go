package engine

import (
	"context"
	"errors"
	"time"

	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

// lineSettles is how long a line without an end must stay as it is to be taken
// for whole, as a prompt is.
const lineSettles = 50 * time.Millisecond

// errLogOver says that a process has ended without the line that was waited
// for.
var errLogOver = errors.New("the process has ended and its log has no such line")

// A place is somewhere in one of the files of a log.
type place struct {
	path string
	at   int64
}

// places are the oldest bytes of the files of a log, or offsets in them.
func (p logSource) places(out, err int64) []place {
	all := []place{{p.path, out}}
	if p.errPath != "" {
		all = append(all, place{p.errPath, err})
	}
	return all
}

// waitLine waits for a line of a log that matches search, behind a place in
// each of the files that count: its text and where it begins. If the process
// has ended and there is none, it returns errLogOver; what ends ctx is its error
// too.
func (s *logs) waitLine(ctx context.Context, p logSource, search *linelog.Search, behind []place) (string, place, error) {
	if err := p.await(ctx); err != nil {
		return "", place{}, err
	}
	grew := make(chan struct{}, 1)
	for _, b := range behind {
		defer s.join(grew, b.path, p.end)()
	}
	recheck := time.NewTicker(logStateRecheck)
	defer recheck.Stop()
	for {
		ended := p.state().Ended()
		hit, path, err := p.firstOf(ctx, search, behind)
		switch {
		case err != nil:
			return "", place{}, err
		case hit != nil && (ended || hit.Whole || settled(ctx, grew)):
			return string(hit.Text), place{path, hit.Offset}, nil
		case hit != nil:
			continue
		case ended:
			return "", place{}, errLogOver
		}
		select {
		case <-grew:
		case <-recheck.C:
		case <-ctx.Done():
			return "", place{}, ctx.Err()
		}
	}
}

// firstOf is the first line that matches in the first file that has one, and
// which file that is. The places of those that have none move on.
func (p logSource) firstOf(ctx context.Context, search *linelog.Search, behind []place) (*linelog.Line, string, error) {
	for i := range behind {
		b := &behind[i]
		p.path = b.path
		hit, next, err := p.firstMatch(ctx, search, b.at)
		if err != nil || hit != nil {
			return hit, b.path, err
		}
		b.at = next
	}
	return nil, "", nil
}

// settled reports whether a log does not grow for a moment.
func settled(ctx context.Context, grew <-chan struct{}) bool {
	timer := time.NewTimer(lineSettles)
	defer timer.Stop()
	select {
	case <-grew:
		return false
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// firstMatch is the first line from an offset on that matches; its text is
// ready to be shown. If there is none, a next search begins at next.
func (p logSource) firstMatch(ctx context.Context, search *linelog.Search, since int64) (hit *linelog.Line, next int64, err error) {
	l, err := p.open()
	if err != nil || l == nil {
		return nil, since, err
	}
	defer l.Close()
	for {
		end := l.End()
		if since > end {
			return nil, since, nil // it has not written that much yet
		}
		last, err := linelog.LineStart(l, end)
		if err == nil {
			_, err = search.Forward(ctx, l, since, end, func(line linelog.Line) bool {
				line.Text = []byte(lineText(line.Text, logLineMost))
				hit = &line
				return false
			})
		}
		if !errors.Is(err, sparse.ErrDropped) {
			return hit, max(since, last), err
		}
	}
}

// waitIdle waits until a process has written nothing for d; what it has not
// written before the call counts.
func (s *logs) waitIdle(ctx context.Context, p logSource, d time.Duration) error {
	if err := p.await(ctx); err != nil {
		return err
	}
	grew := make(chan struct{}, 1)
	for _, path := range p.paths() {
		defer s.join(grew, path, p.end)()
	}
	timer := time.NewTimer(time.Until(p.lastWrite().Add(d)))
	defer timer.Stop()
	for {
		select {
		case <-grew:
			timer.Reset(d)
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// paths are the files of the log.
func (p logSource) paths() []string {
	if p.errPath == "" {
		return []string{p.path}
	}
	return []string{p.errPath, p.path}
}

// lastWrite is when a process wrote something last: now for a terminal, whose
// log does not tell, and its start if it has written nothing since.
func (p logSource) lastWrite() time.Time {
	if p.end != nil {
		return time.Now()
	}
	last := p.started
	for _, path := range p.paths() {
		source := logSource{path: path}
		l, err := source.open()
		if err != nil || l == nil {
			continue
		}
		if at, err := l.Written(); err == nil && at.After(last) {
			last = at
		}
		l.Close()
	}
	return last
}

// lastLines are the last lines of a log as text, n at most, none of which is
// long. Of a split log they are of standard error, unless that is empty.
func lastLines(p logSource, n int) []string {
	const most = 4 << 10
	for _, path := range p.paths() {
		source := logSource{path: path, end: p.end}
		l, err := source.open()
		if err != nil || l == nil {
			continue
		}
		lines, err := linesBefore(l, l.End(), n, most)
		l.Close()
		if err == nil && len(lines) > 0 {
			return lines
		}
	}
	return nil
}
