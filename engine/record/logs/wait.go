package logs

import (
	"context"
	"errors"
	"time"

	"tandem/engine/api"
	"tandem/engine/screen/rendered"
	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

// LineSettles is how long a line without a newline must be unchanged to count as complete. A prompt
// is such a line.
const LineSettles = 50 * time.Millisecond

// ErrOver is returned if the process has ended and its log has no matching line.
var ErrOver = errors.New("the process has exited and its log has no such line")

// A Place is an offset in a file of a log.
type Place struct {
	path string
	at   int64
}

// Places returns an offset in each file of a log as places: out in the log itself, and err in that
// of standard error.
func (p Source) Places(out, err int64) []Place {
	all := []Place{{p.Path, out}}
	if p.ErrPath != "" {
		all = append(all, Place{p.ErrPath, err})
	}
	return all
}

// WaitLine waits for a matching line after one of the places in behind. It returns the line's text
// and place. If the process has ended without such a line, it returns ErrOver. If ctx ends, it
// returns ctx's error.
func (s *Logs) WaitLine(ctx context.Context, p Source, pattern *Pattern, behind []Place) (string, Place, error) {
	p = s.withSecret(p)
	// After an engine's start, wait until the end of the log is known.
	if err := p.awaitEnd(ctx); err != nil {
		return "", Place{}, err
	}
	grew := make(chan struct{}, 1)
	for _, b := range behind {
		defer s.addFollower(grew, b.path, p.End)()
	}
	recheck := time.NewTicker(logStateRecheck)
	defer recheck.Stop()
	for {
		// Get the state first: once the process has ended, the log is complete.
		ended := p.State().Ended()
		hit, path, err := p.firstInFiles(ctx, pattern, behind)
		switch {
		case err != nil:
			return "", Place{}, err
		// An unfinished line counts only once it has stopped growing, which awaitSettled waits for.
		case hit != nil && (ended || hit.Whole || s.awaitSettled(ctx, grew)):
			return string(hit.Text), Place{path, hit.Offset}, nil
		case hit != nil: // it grew, and may no longer match
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

// firstInFiles returns the first matching line of the first file that has one, and the path of the
// file. It advances the places in the other files.
func (p Source) firstInFiles(ctx context.Context, pattern *Pattern, behind []Place) (*linelog.Line, string, error) {
	for i := range behind {
		b := &behind[i]
		p.Path = b.path
		hit, next, err := p.firstMatch(ctx, pattern, b.at)
		if err != nil || hit != nil {
			return hit, b.path, err
		}
		// Lines without a match are not searched again.
		b.at = next
	}
	return nil, "", nil
}

// awaitSettled waits for LineSettles, and reports whether the log has not grown meanwhile.
func (s *Logs) awaitSettled(ctx context.Context, grew <-chan struct{}) bool {
	timer := time.NewTimer(s.settles)
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

// firstMatch returns the first matching line from an offset on, with text suitable for display. If
// there is none, next is where the next search should start.
func (p Source) firstMatch(ctx context.Context, pattern *Pattern, since int64) (hit *linelog.Line, next int64, err error) {
	l, err := p.openLog()
	if err != nil || l == nil {
		return nil, since, err
	}
	defer l.Close()
	for {
		end := l.End()
		if since > end {
			return nil, since, nil // not written yet
		}
		last, err := linelog.LineStart(l, end)
		if err == nil {
			_, err = linelog.Forward(ctx, l, pattern, since, end, func(line linelog.Line) bool {
				line.Text = []byte(pattern.excerpt(rendered.AppendText(nil, line.Text), maxLine).Text)
				hit = &line
				return false
			})
		}
		if !errors.Is(err, sparse.ErrDropped) {
			return hit, max(since, last), err
		}
	}
}

// WaitIdle waits until a process has written nothing for d. Silence before the call counts.
func (s *Logs) WaitIdle(ctx context.Context, p Source, d time.Duration) error {
	if err := p.awaitEnd(ctx); err != nil {
		return err
	}
	grew := make(chan struct{}, 1)
	for _, path := range p.paths() {
		defer s.addFollower(grew, path, p.End)()
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

// paths returns the files of the log, standard error first.
func (p Source) paths() []string {
	if p.ErrPath == "" {
		return []string{p.Path}
	}
	return []string{p.ErrPath, p.Path}
}

// pathsOf returns the paths of the log files for stream: "both", "stderr" or, with any other value,
// standard output.
func (p Source) pathsOf(stream string) []string {
	if stream == "both" {
		return p.paths()
	}
	return []string{p.PathOf(stream)}
}

// lastWrite returns the time of the last output. For a terminal, whose log does not record it, it
// returns the current time. Without output, it returns the time at which the process started.
func (p Source) lastWrite() time.Time {
	if p.End != nil {
		return time.Now()
	}
	last := p.Started
	for _, path := range p.paths() {
		source := Source{Path: path}
		l, err := source.openLog()
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

// LastLines returns at most the last n lines of a log as text. Long lines are cut. The lines of a
// split log are from standard error, unless that is empty.
func (s *Logs) LastLines(p Source, n int) []string {
	const maxLine = 4 << 10
	p = s.withSecret(p)
	for _, path := range p.paths() {
		source := Source{Path: path, End: p.End, secret: p.secret, open: p.open}
		l, err := source.openLog()
		if err != nil || l == nil {
			continue
		}
		lines, _, err := linesBefore(l, l.End(), n, maxLine, 0)
		l.Close()
		if err == nil && len(lines) > 0 {
			return lines
		}
	}
	return nil
}

// Behind returns the places after which to wait for a line. If the request has no offset, they are
// the starts of the current run's output: out in its log, and errors in the log of standard error.
// An offset in the request applies to a single file.
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
