package logs

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/screen/vt/scan"
	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

const (
	DefaultRead     = 64 << 10
	MaxRead         = 1 << 20
	defaultMatches  = 100
	maxMatches      = 10_000
	maxContext      = 1000
	maxLine         = 16 << 10 // maximum length of a matching line
	maxWait         = 50 * time.Second
	logStateRecheck = 250 * time.Millisecond
)

// A Source describes the log of one process.
type Source struct {
	Name    string // name of the process
	Path    string // path of its log, or of its standard output
	ErrPath string // path of its standard error, if the streams are split

	// End returns the committed end of the log of an open terminal. If End is nil, the log ends
	// with its file.
	End    func() int64
	Opened <-chan struct{} // closed once End is valid; nil if it always is

	// Session is the id of the session whose shell marks are in the log. It is "" if there are
	// none.
	Session string
	secret  string // nonce in the marks

	Private bool // the log is in memory
	open    func(path string, flag int) (*os.File, error)

	// Kept has the logs if the process has no record any more. Path and ErrPath need not be files
	// then.
	Kept Kept

	Started time.Time        // start of the process
	State   func() api.State // current state; safe for concurrent use and never blocks
}

// stream returns the source for one stream of a request.
func (p Source) stream(name string) (Source, error) {
	switch {
	case name == "", name == "both":
	case name != "stdout" && name != "stderr":
		return p, api.Errorf(api.CodeInvalid, "read log of %s: no stream %q", p.Name, name).WithHint("stdout, stderr or both")
	case p.ErrPath == "":
		return p, api.Errorf(api.CodeInvalid, "read log of %s: its standard output and error are in one log", p.Name).
			WithHint("omit stream: the log contains both")
	case name == "stderr":
		p.Path = p.ErrPath
	}
	return p, nil
}

// awaitEnd waits until the end of the log is known.
func (p Source) awaitEnd(ctx context.Context) error {
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

// withSecret returns p with the nonce of its session. Reads from it then redact the nonce. It also
// makes the log of a private session readable.
func (s *Logs) withSecret(p Source) Source {
	if p.Private {
		p.open = s.OpenInMemory
	}
	if s.Secret != nil && p.Session != "" {
		p.secret = s.Secret(p.Session)
	}
	return p
}

// A logQuery is a running process.log.
type logQuery struct {
	logs    *Logs
	in      api.ProcessLogInput
	source  Source
	pattern *Pattern // nil without grep

	since *int64 // where to continue, once known
	tail  int64  // lower limit of a backward search
	text  []byte // text of the last read
}

// Read implements process.log.
func (s *Logs) Read(ctx context.Context, in api.ProcessLogInput, p Source) (api.ProcessLogOutput, error) {
	p = s.withSecret(p)
	// Check the request before waiting for the log.
	run, err := s.newRun(in, p)
	if err == nil {
		err = p.awaitEnd(ctx)
	}
	if err != nil {
		return api.ProcessLogOutput{}, err
	}
	if in.WaitMS <= 0 || in.Backward {
		return run(ctx)
	}
	grew := make(chan struct{}, 1)
	for _, path := range p.pathsOf(in.Stream) {
		// Follow before the first read, so that growth during it is noticed.
		defer s.addFollower(grew, path, p.End)()
	}
	wait := time.NewTimer(min(time.Duration(in.WaitMS)*time.Millisecond, maxWait))
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

// newRun returns a function to be called for the output available now. Each call continues where
// the previous one ended.
func (s *Logs) newRun(in api.ProcessLogInput, p Source) (run func(context.Context) (api.ProcessLogOutput, error), err error) {
	if in.Stream == "both" && p.ErrPath != "" {
		q, err := newBothQuery(s, in, p)
		if err != nil {
			return nil, err
		}
		return q.readNow, nil
	}
	q, err := newLogQuery(in, p)
	if err != nil {
		return nil, err
	}
	q.logs = s
	return func(ctx context.Context) (api.ProcessLogOutput, error) {
		out, err := q.readNow(ctx)
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
		return nil, api.Errorf(api.CodeInvalid, "read log of %s: give only one of since, from_line and tail", p.Name)
	case in.SinceStderr != nil && in.Stream != "both":
		return nil, api.Errorf(api.CodeInvalid, "read log of %s: since_stderr needs the stream both", p.Name)
	case min(in.Tail, in.Max, in.Context, in.Limit, in.WaitMS) < 0:
		return nil, api.Errorf(api.CodeInvalid, "read log of %s: tail, max, context, limit and wait_ms cannot be negative", p.Name)
	case in.Backward && in.Grep == "":
		return nil, api.Errorf(api.CodeInvalid, "read log of %s backward: no pattern to search for", p.Name).WithHint("give grep")
	case in.Grep != "":
		q.pattern, err = CompilePattern(p.Name, in.Grep)
	}
	q.in.Max = min(cmp.Or(in.Max, DefaultRead), MaxRead)
	q.in.Limit = min(cmp.Or(in.Limit, defaultMatches), maxMatches)
	q.in.Context = min(in.Context, maxContext)
	return q, err
}

// readNow returns the output available now, without lines that are dropped meanwhile.
func (q *logQuery) readNow(ctx context.Context) (api.ProcessLogOutput, error) {
	// Get the state first: once the process has ended, its log is complete.
	out := api.ProcessLogOutput{State: q.source.State()}
	l, err := q.source.openLog()
	if err != nil || l == nil {
		return out, err
	}
	defer l.Close()
	for {
		// Read the start first: otherwise a log that grows and is trimmed in between could start
		// after its end.
		out.Dropped = l.Start()
		out.End = l.End()
		out.Start, err = q.startOffset(ctx, l, out.Dropped, out.End)
		if err == nil && q.pattern == nil {
			err = q.readData(l, &out)
		} else if err == nil {
			err = q.searchLog(ctx, l, &out)
		}
		if !errors.Is(err, sparse.ErrDropped) {
			return out, err
		}
		out.Matches = nil
	}
}

// startOffset returns the offset at which to read or search, in a log between first and end.
func (q *logQuery) startOffset(ctx context.Context, l linelog.Reader, first, end int64) (int64, error) {
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

// readData reads text from out.Start.
func (q *logQuery) readData(l *reader, out *api.ProcessLogOutput) error {
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
		out.Times = q.logs.timesOf(q.source, out.Start, out.NextCursor)
	}
	q.since = &out.NextCursor
	return nil
}

// InJSON returns output as valid JSON strings: as text, or in base64 if exact is set and the output
// is not UTF-8.
func InJSON(p []byte, exact bool) (text, encoded string) {
	switch {
	case utf8.Valid(p):
		return string(p), ""
	case exact:
		return "", base64.StdEncoding.EncodeToString(p)
	}
	return strings.ToValidUTF8(string(p), "\uFFFD"), ""
}

// readText reads up to limit bytes. An incomplete character at the end is left for the next call,
// unless the process has ended.
func readText(l linelog.Reader, from, end int64, limit int, ended bool) ([]byte, error) {
	p := make([]byte, min(int64(max(limit, 4)), end-from))
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
	return p[:scan.CompleteLen(p)], nil
}

// searchLog searches from out.Start, forward or backward.
func (q *logQuery) searchLog(ctx context.Context, l *reader, out *api.ProcessLogOutput) error {
	m := &matches{log: l, q: q}
	var err error
	if q.in.Backward {
		out.NextCursor, err = linelog.Backward(ctx, l, q.pattern, q.tail, out.Start, m.addMatch)
	} else {
		out.NextCursor, err = q.searchForward(ctx, l, m, out)
	}
	out.Matches = m.found
	q.since = &out.NextCursor
	if err == nil && q.in.Count {
		err = q.countMatches(ctx, l, out)
	}
	return errors.Join(err, m.err)
}

// countMatches sets the number of matching lines, and of those before out.Start.
func (q *logQuery) countMatches(ctx context.Context, l *reader, out *api.ProcessLogOutput) error {
	out.Total, out.Before = 0, 0
	_, err := linelog.Forward(ctx, l, q.pattern, out.Dropped, out.End, func(line linelog.Line) bool {
		if out.Total++; line.Offset < out.Start {
			out.Before++
		}
		return true
	})
	return err
}

// searchForward searches forward. The last line of a growing log may be incomplete. A caller that
// waits gets it once it is complete. Other callers get it as it is, and unless it has matched, the
// next search starts with it again.
func (q *logQuery) searchForward(ctx context.Context, l *reader, m *matches, out *api.ProcessLogOutput) (int64, error) {
	from, to := out.Start, out.End
	if out.State.Ended() {
		return linelog.Forward(ctx, l, q.pattern, from, to, m.addMatch)
	}
	last, err := linelog.LineStart(l, to)
	if err != nil {
		return from, err
	}
	last = max(last, from)
	if q.in.WaitMS > 0 {
		return linelog.Forward(ctx, l, q.pattern, from, last, m.addMatch)
	}
	next, err := linelog.Forward(ctx, l, q.pattern, from, to, m.addMatch)
	// The last line may still grow, so search it again.
	if next == to && m.last < to {
		next = last
	}
	return next, err
}

// matches collects the results of a search.
type matches struct {
	log   linelog.Reader
	q     *logQuery
	found []api.LogMatch
	size  int   // total text so far
	last  int64 // end of the last match
	err   error
}

// addMatch adds a matching line and reports whether there is room for more.
func (m *matches) addMatch(line linelog.Line) bool {
	limit := min(maxLine, m.q.in.Max)
	match := m.q.pattern.excerpt(line.Text, limit)
	match.Offset = line.Offset
	if n := m.q.in.Context; n > 0 {
		before, _, errBefore := linesBefore(m.log, line.Offset, n, limit, 0)
		after, errAfter := linesAfter(m.log, line.Next, n, limit, math.MaxInt64)
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

// lineText returns a line as text. If the line is longer than limit bytes, it is cut and a note
// added.
func lineText(line []byte, limit int) string {
	cut := 0
	if len(line) > limit {
		part := line[:limit]
		part = part[:scan.CompleteLen(part)]
		cut, line = len(line)-len(part), part
	}
	return strings.ToValidUTF8(string(line), "\uFFFD") + cutMark(cut, " ", "")
}

// linesBefore returns up to n lines that end at an offset and start at or after from, without lines
// dropped meanwhile, and the offset of the first of them.
func linesBefore(l linelog.Reader, off int64, n, limit int, from int64) (lines []string, first int64, err error) {
	for ; n > 0 && off > max(l.Start(), from); n-- {
		at, err := linelog.LineStart(l, off-1)
		line := ""
		if err == nil {
			line, err = readLine(l, at, off, limit)
		}
		if errors.Is(err, sparse.ErrDropped) {
			break
		}
		if err != nil {
			return nil, off, err
		}
		lines = append(lines, line)
		off = at
	}
	slices.Reverse(lines)
	return lines, off, nil
}

// linesAfter returns up to n lines that start at an offset and before to.
func linesAfter(l linelog.Reader, off int64, n, limit int, to int64) ([]string, error) {
	var lines []string
	for ; n > 0 && off < min(l.End(), to); n-- {
		end, err := linelog.LineEnd(l, off)
		line := ""
		if err == nil {
			line, err = readLine(l, off, end, limit)
		}
		if errors.Is(err, sparse.ErrDropped) {
			break
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
		off = end
	}
	return lines, nil
}

// readLine returns the line between two offsets as text, cut after limit bytes.
func readLine(l linelog.Reader, from, to int64, limit int) (string, error) {
	p := make([]byte, min(to-from, int64(limit)+2))
	n, err := l.ReadAt(p, from)
	if n < len(p) && err != nil {
		return "", err
	}
	if int64(len(p)) == to-from {
		return lineText(linelog.TrimLine(p), limit), nil
	}
	part := p[:limit]
	part = part[:scan.CompleteLen(part)]
	return strings.ToValidUTF8(string(part), "\uFFFD") + cutMark(int(to-from)-len(part), " ", ""), nil
}
