package logs

import (
	"context"
	"errors"
	"time"

	"tandem/engine/api"
	"tandem/engine/rendered"
	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

// LineSettles is how long a line without an end must stay as it is to be taken
// for whole, as a prompt is.
const LineSettles = 50 * time.Millisecond

// ErrOver says that a process has ended without the line that was waited
// for.
var ErrOver = errors.New("the process has ended and its log has no such line")

// A Place is somewhere in one of the files of a log.
type Place struct {
	path string
	at   int64
}

// Places are the oldest bytes of the files of a log, or offsets in them.
func (p Source) Places(out, err int64) []Place {
	all := []Place{{p.Path, out}}
	if p.ErrPath != "" {
		all = append(all, Place{p.ErrPath, err})
	}
	return all
}

// WaitLine waits for a line of a log that matches a pattern, behind a place in
// each of the files that count: its text and where it begins. If the process
// has ended and there is none, it returns ErrOver; what ends ctx is its error
// too.
func (s *Logs) WaitLine(ctx context.Context, p Source, pattern *Pattern, behind []Place) (string, Place, error) {
	p = s.withSecret(p)
	if err := p.await(ctx); err != nil {
		return "", Place{}, err
	}
	grew := make(chan struct{}, 1)
	for _, b := range behind {
		defer s.join(grew, b.path, p.End)()
	}
	recheck := time.NewTicker(logStateRecheck)
	defer recheck.Stop()
	for {
		ended := p.State().Ended()
		hit, path, err := p.firstOf(ctx, pattern, behind)
		switch {
		case err != nil:
			return "", Place{}, err
		case hit != nil && (ended || hit.Whole || settled(ctx, grew)):
			return string(hit.Text), Place{path, hit.Offset}, nil
		case hit != nil:
			continue
		case ended:
			return "", Place{}, ErrOver
		}
		select {
		case <-grew:
		case <-recheck.C:
		case <-ctx.Done():
			return "", Place{}, ctx.Err()
		}
	}
}

// firstOf is the first line that matches in the first file that has one, and
// which file that is. The places of those that have none move on.
func (p Source) firstOf(ctx context.Context, pattern *Pattern, behind []Place) (*linelog.Line, string, error) {
	for i := range behind {
		b := &behind[i]
		p.Path = b.path
		hit, next, err := p.firstMatch(ctx, pattern, b.at)
		if err != nil || hit != nil {
			return hit, b.path, err
		}
		b.at = next
	}
	return nil, "", nil
}

// settled reports whether a log does not grow for a moment.
func settled(ctx context.Context, grew <-chan struct{}) bool {
	timer := time.NewTimer(LineSettles)
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
func (p Source) firstMatch(ctx context.Context, pattern *Pattern, since int64) (hit *linelog.Line, next int64, err error) {
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
			_, err = linelog.Forward(ctx, l, pattern, since, end, func(line linelog.Line) bool {
				line.Text = []byte(pattern.excerpt(rendered.AppendText(nil, line.Text), logLineMost).Text)
				hit = &line
				return false
			})
		}
		if !errors.Is(err, sparse.ErrDropped) {
			return hit, max(since, last), err
		}
	}
}

// WaitIdle waits until a process has written nothing for d; silence before the call
// counts.
func (s *Logs) WaitIdle(ctx context.Context, p Source, d time.Duration) error {
	if err := p.await(ctx); err != nil {
		return err
	}
	grew := make(chan struct{}, 1)
	for _, path := range p.paths() {
		defer s.join(grew, path, p.End)()
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
func (p Source) paths() []string {
	if p.ErrPath == "" {
		return []string{p.Path}
	}
	return []string{p.ErrPath, p.Path}
}

// pathsOf are the files of what a request calls a stream.
func (p Source) pathsOf(stream string) []string {
	switch {
	case stream == "both":
		return p.paths()
	case stream == "stderr":
		return []string{p.ErrPath}
	}
	return []string{p.Path}
}

// lastWrite is when a process wrote something last: now for a terminal, whose
// log does not tell, and its start if it has written nothing since.
func (p Source) lastWrite() time.Time {
	if p.End != nil {
		return time.Now()
	}
	last := p.Started
	for _, path := range p.paths() {
		source := Source{Path: path}
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

// LastLines are the last lines of a log as text, n at most, none of which is
// long. Of a split log they are of standard error, unless that is empty.
func (s *Logs) LastLines(p Source, n int) []string {
	const most = 4 << 10
	p = s.withSecret(p)
	for _, path := range p.paths() {
		source := Source{Path: path, End: p.End, secret: p.secret}
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

// Behind is where looking for a line begins: without an offset, where the output of the present
// run does, at out in its log and at errors in that of its standard error. An offset is one of a
// single file.
func (p Source) Behind(in api.ProcessWaitInput, out, errors int64) ([]Place, error) {
	part, err := p.stream(in.Stream)
	switch {
	case err != nil:
		return nil, err
	case p.ErrPath != "" && in.Since != nil && in.SinceStderr != nil:
		return p.Places(*in.Since, *in.SinceStderr), nil
	case in.Since == nil && (in.Stream == "" || in.Stream == "both"):
		return p.Places(out, errors), nil
	case in.Since == nil && in.Stream == "stderr":
		return []Place{{part.Path, errors}}, nil
	case in.Since == nil:
		return []Place{{part.Path, out}}, nil
	case (in.Stream == "" || in.Stream == "both") && p.ErrPath != "":
		return nil, api.Errorf(api.CodeInvalid, "wait for a line of %s: it has two logs, and since is an offset in one", p.Name).
			WithHint("give stream, stdout or stderr, too")
	}
	return []Place{{part.Path, *in.Since}}, nil
}
