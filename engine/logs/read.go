package logs

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/vt/scan"
	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

const (
	ReadDefault     = 64 << 10
	ReadMost        = 1 << 20
	logMatches      = 100
	logMatchesMost  = 10_000
	logContextMost  = 1000
	logLineMost     = 16 << 10 // of a line in a match
	logWaitMost     = 50 * time.Second
	logStateRecheck = 250 * time.Millisecond
)

// A Source is the log of one process, as reading it needs to know it.
type Source struct {
	Name    string // of the process
	Path    string // of its log, or of its standard output
	ErrPath string // of its standard error, where they are kept apart

	// End is the committed end of the log of a terminal whose session is open;
	// nil for a log that is as long as its file.
	End    func() int64
	Opened <-chan struct{} // closed once end tells; nil if it always does

	// Session is the id of the session whose shell's marks are in the log; "" if there are none.
	Session string
	secret  string // nonce in these marks

	Started time.Time        // of the process
	State   func() api.State // now; any goroutine may call it, and it does not block
}

// stream is the part of the log that a request is about.
func (p Source) stream(name string) (Source, error) {
	switch {
	case name == "", name == "both":
	case name != "stdout" && name != "stderr":
		return p, api.Errorf(api.CodeInvalid, "read log of %s: no stream %q", p.Name, name).WithHint("stdout, stderr or both")
	case p.ErrPath == "":
		return p, api.Errorf(api.CodeInvalid, "read log of %s: its standard output and error are in one log", p.Name).
			WithHint("leave stream out: the log has both")
	case name == "stderr":
		p.Path = p.ErrPath
	}
	return p, nil
}

// await waits until it is known where the log ends.
func (p Source) await(ctx context.Context) error {
	if p.Opened == nil {
		return nil
	}
	select {
	case <-p.Opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A reader is an open log with its secret redacted.
type reader struct {
	linelog.Reader
	file *linelog.File
}

func (r *reader) Close() error                { return r.file.Close() }
func (r *reader) Written() (time.Time, error) { return r.file.Written() }

// open opens the log; it is nil if there is none yet.
func (p Source) open() (*reader, error) {
	l, err := linelog.Open(p.Path, linelog.Options{End: p.End})
	if errors.Is(err, os.ErrNotExist) {
		return nil, p.errDeleted()
	}
	if err != nil {
		return nil, err
	}
	return &reader{Hide(l, p.secret), l}, nil
}

// errDeleted returns an error if the process runs although its log is missing: logs are created
// before processes start.
func (p Source) errDeleted() error {
	if p.State == nil {
		return nil
	}
	switch p.State() {
	case api.StateRunning, api.StateStopping:
		return api.Errorf(api.CodeNotFound, "read log of %s: %s was deleted", p.Name, p.Path).
			WithHint("restart the process to get a new log")
	}
	return nil
}

// withSecret returns p with the nonce of its session's marks, which reads of p then redact.
func (s *Logs) withSecret(p Source) Source {
	if s.Secret != nil && p.Session != "" {
		p.secret = s.Secret(p.Session)
	}
	return p
}

// A logQuery is a process.log under way.
type logQuery struct {
	logs    *Logs
	in      api.ProcessLogInput
	source  Source
	pattern *Pattern // nil without grep

	since *int64 // where it goes on, once known
	tail  int64  // what a search backward does not go behind
	text  []byte // what was read last
}

// Read answers process.log.
func (s *Logs) Read(ctx context.Context, in api.ProcessLogInput, p Source) (api.ProcessLogOutput, error) {
	p = s.withSecret(p)
	run, err := s.reading(in, p)
	if err == nil {
		err = p.await(ctx)
	}
	if err != nil {
		return api.ProcessLogOutput{}, err
	}
	if in.WaitMS <= 0 || in.Backward {
		return run(ctx)
	}
	grew := make(chan struct{}, 1)
	for _, path := range p.pathsOf(in.Stream) {
		defer s.join(grew, path, p.End)()
	}
	wait := time.NewTimer(min(time.Duration(in.WaitMS)*time.Millisecond, logWaitMost))
	defer wait.Stop()
	recheck := time.NewTicker(logStateRecheck)
	defer recheck.Stop()
	for {
		out, err := run(ctx)
		if err != nil || out.Data != "" || out.DataBytes != "" || len(out.Matches) > 0 || out.State.Ended() {
			return out, err
		}
		for again := false; !again; {
			select {
			case <-grew:
				again = true
			case <-recheck.C:
				again = p.State().Ended()
			case <-wait.C:
				return out, nil
			case <-ctx.Done():
				return out, ctx.Err()
			}
		}
	}
}

// reading is what gives what there is now of what a request asks for, each time
// from where it ended before.
func (s *Logs) reading(in api.ProcessLogInput, p Source) (run func(context.Context) (api.ProcessLogOutput, error), err error) {
	if in.Stream == "both" && p.ErrPath != "" {
		q, err := newBothQuery(s, in, p)
		if err != nil {
			return nil, err
		}
		return q.run, nil
	}
	q, err := newLogQuery(in, p)
	if err != nil {
		return nil, err
	}
	q.logs = s
	return func(ctx context.Context) (api.ProcessLogOutput, error) {
		out, err := q.run(ctx)
		out.Data, out.DataBytes = InJSON(q.text, in.Exact)
		return out, err
	}, nil
}

// newLogQuery checks a request.
func newLogQuery(in api.ProcessLogInput, p Source) (*logQuery, error) {
	source, err := p.stream(in.Stream)
	if err != nil {
		return nil, err
	}
	q := &logQuery{in: in, source: source, since: in.Since}
	starts := 0
	for _, given := range []bool{in.Since != nil, in.FromLine != nil, in.Tail > 0} {
		if given {
			starts++
		}
	}
	switch {
	case starts > 1:
		return nil, api.Errorf(api.CodeInvalid, "read log of %s: since, from_line and tail exclude each other", p.Name)
	case in.SinceStderr != nil && in.Stream != "both":
		return nil, api.Errorf(api.CodeInvalid, "read log of %s: since_stderr goes with the stream both", p.Name)
	case min(in.Tail, in.Max, in.Context, in.Limit, in.WaitMS) < 0:
		return nil, api.Errorf(api.CodeInvalid, "read log of %s: tail, max, context, limit and wait_ms cannot be negative", p.Name)
	case in.Backward && in.Grep == "":
		return nil, api.Errorf(api.CodeInvalid, "read log of %s backward: there is nothing to search", p.Name).WithHint("give grep")
	case in.Grep != "":
		q.pattern, err = CompilePattern(p.Name, in.Grep)
	}
	q.in.Max = min(cmp.Or(in.Max, ReadDefault), ReadMost)
	q.in.Limit = min(cmp.Or(in.Limit, logMatches), logMatchesMost)
	q.in.Context = min(in.Context, logContextMost)
	return q, err
}

// run gives what there is now. What is dropped while it reads is left out.
func (q *logQuery) run(ctx context.Context) (api.ProcessLogOutput, error) {
	// Asked first: what an ended process has written is all in its log.
	out := api.ProcessLogOutput{State: q.source.State()}
	l, err := q.source.open()
	if err != nil || l == nil {
		return out, err
	}
	defer l.Close()
	for {
		// In this order: a log that grows and is trimmed meanwhile may begin where it
		// ended before.
		out.Dropped = l.Start()
		out.End = l.End()
		out.Start, err = q.start(ctx, l, out.Dropped, out.End)
		if err == nil && q.pattern == nil {
			err = q.data(l, &out)
		} else if err == nil {
			err = q.grep(ctx, l, &out)
		}
		if !errors.Is(err, sparse.ErrDropped) {
			return out, err
		}
		out.Matches = nil
	}
}

// start is where reading or searching begins, given where the log does and where
// it ends.
func (q *logQuery) start(ctx context.Context, l linelog.Reader, first, end int64) (int64, error) {
	at := first
	switch {
	case q.since != nil && *q.since < 0:
		at = end + *q.since
	case q.since != nil:
		at = *q.since
	case q.in.FromLine != nil || q.in.Tail > 0:
		n := -int64(q.in.Tail)
		if q.in.FromLine != nil {
			n = *q.in.FromLine
		}
		line, err := linelog.FindLine(ctx, l, n)
		if err != nil {
			return 0, err
		}
		at = line
		if q.in.Backward && q.in.Tail > 0 {
			q.tail, at = line, end
		}
	case q.in.Backward:
		at = end
	}
	return max(min(at, end), first), nil
}

// data reads text from out.Start on.
func (q *logQuery) data(l *reader, out *api.ProcessLogOutput) error {
	text, err := readText(l, out.Start, out.End, q.in.Max, out.State.Ended())
	if err != nil {
		return err
	}
	q.text = text
	if (q.in.Tail > 0 || q.in.FromLine != nil) && out.Start > out.Dropped && len(text) > 0 {
		before := []byte{'\n'}
		if _, err := l.ReadAt(before, out.Start-1); err != nil {
			return err
		}
		out.WithinLine = before[0] != '\n'
	}
	out.NextCursor = out.Start + int64(len(text))
	if q.in.Times {
		out.Times = q.logs.timesOf(q.source.Path, out.Start, out.NextCursor)
	}
	q.since = &out.NextCursor
	return nil
}

// InJSON is what was printed as a string of JSON can hold it: as text, or with
// exact in base64 if it is no UTF-8.
func InJSON(p []byte, exact bool) (text, encoded string) {
	switch {
	case utf8.Valid(p):
		return string(p), ""
	case exact:
		return "", base64.StdEncoding.EncodeToString(p)
	}
	return strings.ToValidUTF8(string(p), "\uFFFD"), ""
}

// readText reads up to most bytes. A character that is not complete yet is left
// for the next call, unless nothing more comes.
func readText(l linelog.Reader, from, end int64, most int, ended bool) ([]byte, error) {
	p := make([]byte, min(int64(max(most, 4)), end-from))
	n, err := l.ReadAt(p, from)
	if n < len(p) && errors.Is(err, sparse.ErrDropped) {
		return nil, err
	}
	if n == 0 && len(p) > 0 && err != nil {
		return nil, api.Errorf(api.CodeInternal, "%v", err)
	}
	p = p[:n]
	if ended && from+int64(n) == end {
		return p, nil
	}
	return p[:scan.Whole(p)], nil
}

// grep searches from out.Start on, or before it.
func (q *logQuery) grep(ctx context.Context, l *reader, out *api.ProcessLogOutput) error {
	m := &matches{log: l, q: q}
	var err error
	if q.in.Backward {
		out.NextCursor, err = linelog.Backward(ctx, l, q.pattern, q.tail, out.Start, m.add)
	} else {
		out.NextCursor, err = q.forward(ctx, l, m, out)
	}
	out.Matches = m.found
	q.since = &out.NextCursor
	if err == nil && q.in.Count {
		err = q.count(ctx, l, out)
	}
	return errors.Join(err, m.err)
}

// count tells how many lines match, and how many of them are before out.Start.
func (q *logQuery) count(ctx context.Context, l *reader, out *api.ProcessLogOutput) error {
	out.Total, out.Before = 0, 0
	_, err := linelog.Forward(ctx, l, q.pattern, out.Dropped, out.End, func(line linelog.Line) bool {
		if out.Total++; line.Offset < out.Start {
			out.Before++
		}
		return true
	})
	return err
}

// forward searches forward. The last line of a log that is still written may
// not be whole: who waits for matches gets it when it is; who does not, gets it
// as it is, but a next search begins with it again unless it has matched.
func (q *logQuery) forward(ctx context.Context, l *reader, m *matches, out *api.ProcessLogOutput) (int64, error) {
	from, to := out.Start, out.End
	if out.State.Ended() {
		return linelog.Forward(ctx, l, q.pattern, from, to, m.add)
	}
	last, err := linelog.LineStart(l, to)
	if err != nil {
		return from, err
	}
	last = max(last, from)
	if q.in.WaitMS > 0 {
		return linelog.Forward(ctx, l, q.pattern, from, last, m.add)
	}
	next, err := linelog.Forward(ctx, l, q.pattern, from, to, m.add)
	if next == to && m.last < to {
		next = last
	}
	return next, err
}

// matches collects what a search finds.
type matches struct {
	log   linelog.Reader
	q     *logQuery
	found []api.LogMatch
	size  int   // of all text so far
	last  int64 // where the last one ends
	err   error
}

// add takes a line that matches, and reports whether there is room for more.
func (m *matches) add(line linelog.Line) bool {
	most := min(logLineMost, m.q.in.Max)
	match := m.q.pattern.excerpt(line.Text, most)
	match.Offset = line.Offset
	if n := m.q.in.Context; n > 0 {
		before, errBefore := linesBefore(m.log, line.Offset, n, most)
		after, errAfter := linesAfter(m.log, line.Next, n, most)
		if m.err = errors.Join(errBefore, errAfter); m.err != nil {
			return false
		}
		match.Before, match.After = before, after
	}
	m.found = append(m.found, match)
	m.last = line.Next
	m.size += len(match.Text)
	for _, l := range slices.Concat(match.Before, match.After) {
		m.size += len(l)
	}
	return len(m.found) < m.q.in.Limit && m.size < m.q.in.Max
}

// lineText returns a line as text. If it is longer than most bytes, the rest is cut and the
// text says so.
func lineText(line []byte, most int) string {
	cut := 0
	if len(line) > most {
		part := line[:most]
		part = part[:scan.Whole(part)]
		cut, line = len(line)-len(part), part
	}
	return strings.ToValidUTF8(string(line), "\uFFFD") + cutMark(cut, " ", "")
}

// linesBefore are up to n lines that end at an offset; those that are dropped
// meanwhile are left out.
func linesBefore(l linelog.Reader, off int64, n, most int) ([]string, error) {
	var lines []string
	for ; n > 0 && off > l.Start(); n-- {
		from, err := linelog.LineStart(l, off-1)
		line := ""
		if err == nil {
			line, err = readLine(l, from, off, most)
		}
		if errors.Is(err, sparse.ErrDropped) {
			break
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
		off = from
	}
	slices.Reverse(lines)
	return lines, nil
}

// linesAfter are up to n lines that begin at an offset.
func linesAfter(l linelog.Reader, off int64, n, most int) ([]string, error) {
	var lines []string
	for ; n > 0 && off < l.End(); n-- {
		to, err := linelog.LineEnd(l, off)
		line := ""
		if err == nil {
			line, err = readLine(l, off, to, most)
		}
		if errors.Is(err, sparse.ErrDropped) {
			break
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
		off = to
	}
	return lines, nil
}

// readLine reads the line between two offsets as text, cut to most bytes.
func readLine(l linelog.Reader, from, to int64, most int) (string, error) {
	p := make([]byte, min(to-from, int64(most)+2))
	n, err := l.ReadAt(p, from)
	if n < len(p) && err != nil {
		return "", err
	}
	if int64(len(p)) == to-from {
		return lineText(linelog.TrimLine(p), most), nil
	}
	part := p[:most]
	part = part[:scan.Whole(part)]
	return strings.ToValidUTF8(string(part), "\uFFFD") + cutMark(int(to-from)-len(part), " ", ""), nil
}
