package cli

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/engine/api/logmerge"
	"tandem/engine/cellwidth"
	"tandem/ui/cli/output"
)

const (
	// watchPause is how long the engine is given before its events are asked for again.
	watchPause = 200 * time.Millisecond
)

// A logMerge prints several logs as one.
type logMerge struct {
	logFlags
	sinceGiven bool
	conn       *retry.Conn
	out        *mergePrinter
	project    string // whose processes join; empty: none do
	sources    []*logSource
	known      map[string]bool // the ids that joined, or are not to

	news    chan logNews
	readers sync.WaitGroup
	running int  // sources that are followed
	waits   bool // nothing of the project has been started yet
}

// merge prints the logs of the processes that are named, or of a project.
func (f logFlags) merge(ctx context.Context, a *app, cmd *cobra.Command, ids []string) error {
	var list []api.Process
	path := ""
	if f.project {
		var err error
		if list, err = a.listIfRunning(ctx); err != nil {
			return err
		}
		if path, err = a.startedFrom("", list, true, "run this in a project's folder or below"); err != nil {
			return err
		}
		if !f.follow && len(logmerge.Newest(path, list, f.sessions)) == 0 {
			return nothingStarted(path, list)
		}
	}
	conn, err := retry.Connect(ctx, a.connect)
	if err != nil {
		return err
	}
	defer conn.Close()
	out := newMergePrinter(a.out, f)
	out.alone = !f.merged(ids)
	m := &logMerge{logFlags: f, sinceGiven: cmd.Flags().Changed("since"), conn: conn, out: out, project: path,
		known: map[string]bool{}, news: make(chan logNews)}
	for _, p := range list {
		m.known[p.ID] = true
	}
	for _, p := range logmerge.Newest(path, list, f.sessions) {
		m.add(p, f)
	}
	for _, id := range ids {
		p, err := api.ProcessGet.Call(ctx, conn, api.IDInput{ID: id})
		if err != nil {
			return err
		}
		if !m.known[p.ID] {
			m.known[p.ID] = true
			m.add(p, f)
		}
	}
	if m.waits = len(m.sources) == 0; m.waits {
		m.out.Tell("nothing of %s has been started; waiting for `tandem up`", path)
	}
	if err := m.run(ctx); err != nil {
		return err
	}
	if f.grep != "" && !a.out.JSON && m.out.found == 0 {
		return &output.ExitError{Status: output.StatusFailed}
	}
	return nil
}

func nothingStarted(project string, list []api.Process) error {
	if len(logmerge.Newest(project, list, true)) > 0 {
		return api.Errorf(api.CodeNotFound, "read logs: %s has started sessions only", output.Visible(project)).WithHint("add --sessions")
	}
	return api.Errorf(api.CodeNotFound, "read logs: nothing of %s has been started", output.Visible(project)).WithHint("`tandem up` starts it")
}

// add gives a log a name and a colour among the others.
func (m *logMerge) add(p api.Process, f logFlags) *logSource {
	others := make([]*logmerge.Source, len(m.sources))
	for i, s := range m.sources {
		others[i] = s.Source
	}
	s := &logSource{Source: logmerge.NewSource(p, others, len(nameTints), output.Visible)}
	s.reader = readerOf(s.Source, f, m.sinceGiven)
	m.out.width = max(m.out.width, cellwidth.Of(s.Label))
	m.sources = append(m.sources, s)
	return s
}

// run prints what there is, and when following what comes.
func (m *logMerge) run(ctx context.Context) error {
	if err := m.backlog(ctx); err != nil {
		return err
	}
	if m.logFlags.follow {
		if err := m.followAll(ctx); err != nil {
			return err
		}
	}
	return m.out.flush()
}

// backlog prints what the logs have now, line by line the one that was written
// first.
func (m *logMerge) backlog(ctx context.Context) error {
	all := logmerge.Merge{Rest: !m.logFlags.follow}
	for _, s := range m.sources {
		all.Readers = append(all.Readers, s.reader)
	}
	for {
		line, ok, err := all.Next(ctx, m.conn)
		if err != nil {
			return err
		}
		if !ok {
			return m.out.settled()
		}
		if err := m.out.add(line); err != nil {
			return err
		}
	}
}

// followAll prints what the logs get until all processes have ended.
func (m *logMerge) followAll(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer m.readers.Wait()
	defer cancel()
	send := func(n logNews) bool {
		select {
		case m.news <- n:
			return true
		case <-ctx.Done():
			return false
		}
	}
	m.readers.Go(func() { m.watch(ctx, send) })
	for _, s := range m.sources {
		s.wasAlive = !s.Process.State.Ended()
		m.begin(ctx, s, send)
	}
	for m.running > 0 || m.waits {
		var lines []logmerge.Line
		for _, n := range m.gather(ctx) {
			if n.err != nil {
				return n.err
			}
			lines = append(lines, m.heard(ctx, n, send)...)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		slices.SortStableFunc(lines, func(a, b logmerge.Line) int { return a.At.Compare(b.At) })
		for _, l := range lines {
			if err := m.out.add(l); err != nil {
				return err
			}
		}
		if err := m.out.flush(); err != nil {
			return err
		}
	}
	return nil
}

// begin follows a log.
func (m *logMerge) begin(ctx context.Context, s *logSource, send func(logNews) bool) {
	s.reading, m.waits = true, false
	m.running++
	m.readers.Go(func() { s.follow(ctx, m.conn, send) })
}

// gather gives what has come of all logs within a moment, at least something.
func (m *logMerge) gather(ctx context.Context) (all []logNews) {
	var settled <-chan time.Time
	for {
		select {
		case n := <-m.news:
			if all = append(all, n); settled == nil {
				settled = time.After(logmerge.Settle)
			}
		case <-settled:
			return all
		case <-ctx.Done():
			return all
		}
	}
}

// heard takes in what has come, and gives the lines to print for it.
func (m *logMerge) heard(ctx context.Context, n logNews, send func(logNews) bool) []logmerge.Line {
	if n.event != nil {
		var lines []logmerge.Line
		changed := n.event.Processes
		if n.event.Process != nil {
			changed = append(changed, *n.event.Process)
		}
		for _, p := range changed {
			lines = append(lines, m.changed(ctx, p, send)...)
		}
		return lines
	}
	lines := n.lines
	if n.over {
		s := n.source
		s.reading = false
		m.running--
		if s.wasAlive {
			lines = append(lines, noteOn(s, endNote(n.end)))
		}
		if n.end.ID != "" {
			s.Process = n.end
		}
	}
	return lines
}

// changed takes in what has become of a process: it may have been started again,
// or be one that joins.
func (m *logMerge) changed(ctx context.Context, p api.Process, send func(logNews) bool) (notes []logmerge.Line) {
	i := slices.IndexFunc(m.sources, func(s *logSource) bool { return s.Process.ID == p.ID })
	if i < 0 {
		if m.project != "" && logmerge.Of(p, m.project, m.sessions) && !m.known[p.ID] {
			s := m.add(p, logFlags{stream: m.stream, lines: -1})
			m.known[p.ID], s.wasAlive = true, true
			s.reader.In.Since = new(int64)
			m.begin(ctx, s, send)
		}
		return nil
	}
	s := m.sources[i]
	was := s.Process
	if !p.State.Ended() && !s.reading {
		if !p.StartedAt.After(was.StartedAt) {
			return nil // it comes late, from before the end
		}
		s.wasAlive = true
		m.begin(ctx, s, send)
	}
	switch s.Process = p; {
	case p.State == api.StateBackoff && was.State != api.StateBackoff:
		notes = append(notes, noteOn(s, endNote(p)+"; it will be restarted"))
	case restarts(p) > restarts(was) && was.State != api.StateBackoff:
		notes = append(notes, noteOn(s, "restarted"))
	}
	return notes
}

func noteOn(s *logSource, text string) logmerge.Line {
	return logmerge.Line{Source: s.Source, At: time.Now(), Note: text}
}

// endNote is how a process has ended, in words fit to be printed.
func endNote(p api.Process) string { return output.Visible(logmerge.EndNote(p)) }

// watch sends what becomes of processes, also of a next engine.
func (m *logMerge) watch(ctx context.Context, send func(logNews) bool) {
	for ctx.Err() == nil {
		for e, err := range m.conn.WatchFor(ctx, api.WatchInput{Lasting: true}) {
			if err != nil {
				break
			}
			if (e.Process != nil || len(e.Processes) > 0) && !send(logNews{event: &e}) {
				return
			}
		}
		if retry.Pause(ctx, watchPause) != nil {
			return
		}
	}
}

func restarts(p api.Process) int {
	if p.Supervision == nil {
		return 0
	}
	return p.Supervision.Restarts
}
