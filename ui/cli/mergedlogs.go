package cli

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/output"
)

const (
	// logSettle is how long lines of several logs that are followed are held to
	// be put in order: the engine tells their times to a tenth of a second.
	logSettle = 100 * time.Millisecond
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
	running int // sources that are followed
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
		if path, err = a.startedFrom("", list, true); err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(p api.Process) bool { return isOf(p, path) }) {
			return api.Errorf(api.CodeNotFound, "read logs: nothing of %s has been started", output.Visible(path)).WithHint("`tandem up` starts it")
		}
	}
	conn, err := retry.Connect(ctx, a.Connect)
	if err != nil {
		return err
	}
	defer conn.Close()
	m := &logMerge{logFlags: f, sinceGiven: cmd.Flags().Changed("since"), conn: conn, out: newMergePrinter(a.out, f), project: path,
		known: map[string]bool{}, news: make(chan logNews)}
	for _, p := range list {
		m.known[p.ID] = true
	}
	for _, p := range newestOf(path, list) {
		m.add(newLogSource(p, f, m.sinceGiven))
	}
	for _, id := range ids {
		p, err := api.ProcessGet.Call(ctx, conn, api.IDInput{ID: id})
		if err != nil {
			return err
		}
		if !m.known[p.ID] {
			m.known[p.ID] = true
			m.add(newLogSource(p, f, m.sinceGiven))
		}
	}
	if err := m.run(ctx); err != nil {
		return err
	}
	if f.grep != "" && !a.out.JSON && m.out.found == 0 {
		return &output.ExitError{Status: output.StatusFailed}
	}
	return nil
}

func isOf(p api.Process, path string) bool { return p.Project != nil && p.Project.File == path }

// newestOf are the processes of a project file: of each entry what is alive,
// else what has ended last.
func newestOf(path string, list []api.Process) (newest []api.Process) {
	at := map[string]int{}
	for _, p := range list {
		if !isOf(p, path) {
			continue
		}
		i, seen := at[p.Project.Name]
		switch {
		case !seen:
			at[p.Project.Name] = len(newest)
			newest = append(newest, p)
		case newest[i].State.Ended():
			newest[i] = p
		}
	}
	return newest
}

// add gives a log a name and a colour among the others.
func (m *logMerge) add(s *logSource) {
	m.out.name(s, m.sources)
	m.sources = append(m.sources, s)
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
	pending := make([][]logLine, len(m.sources))
	more := make([]bool, len(m.sources))
	for i := range more {
		more[i] = true
	}
	for {
		first := -1
		for i, s := range m.sources {
			for len(pending[i]) == 0 && more[i] {
				var err error
				if pending[i], more[i], _, err = s.ask(ctx, m.conn); err != nil {
					return err
				}
				if !more[i] && !m.logFlags.follow {
					pending[i] = append(pending[i], s.rest()...)
				}
			}
			if len(pending[i]) > 0 && (first < 0 || pending[i][0].at.Before(pending[first][0].at)) {
				first = i
			}
		}
		if first < 0 {
			return m.out.settled()
		}
		if err := m.out.add(pending[first][0]); err != nil {
			return err
		}
		pending[first] = pending[first][1:]
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
		s.wasAlive = !s.process.State.Ended()
		m.begin(ctx, s, send)
	}
	for m.running > 0 {
		var lines []logLine
		for _, n := range m.gather(ctx) {
			if n.err != nil {
				return n.err
			}
			lines = append(lines, m.heard(ctx, n, send)...)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		slices.SortStableFunc(lines, func(a, b logLine) int { return a.at.Compare(b.at) })
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
	s.reading = true
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
				settled = time.After(logSettle)
			}
		case <-settled:
			return all
		case <-ctx.Done():
			return all
		}
	}
}

// heard takes in what has come, and gives the lines to print for it.
func (m *logMerge) heard(ctx context.Context, n logNews, send func(logNews) bool) []logLine {
	if n.event != nil {
		var lines []logLine
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
			s.process = n.end
		}
	}
	return lines
}

// changed takes in what has become of a process: it may have been started again,
// or be one that joins.
func (m *logMerge) changed(ctx context.Context, p api.Process, send func(logNews) bool) (notes []logLine) {
	i := slices.IndexFunc(m.sources, func(s *logSource) bool { return s.process.ID == p.ID })
	if i < 0 {
		if m.project != "" && isOf(p, m.project) && !m.known[p.ID] {
			s := newLogSource(p, logFlags{stream: m.stream, lines: -1}, false)
			m.known[p.ID], s.wasAlive = true, true
			s.in.Since = new(int64)
			m.add(s)
			m.begin(ctx, s, send)
		}
		return nil
	}
	s := m.sources[i]
	was := s.process
	if !p.State.Ended() && !s.reading {
		if !p.StartedAt.After(was.StartedAt) {
			return nil // it comes late, from before the end
		}
		s.wasAlive = true
		m.begin(ctx, s, send)
	}
	switch s.process = p; {
	case p.State == api.StateBackoff && was.State != api.StateBackoff:
		notes = append(notes, noteOn(s, endNote(p)+"; it will be restarted"))
	case restarts(p) > restarts(was) && was.State != api.StateBackoff:
		notes = append(notes, noteOn(s, "restarted"))
	}
	return notes
}

func noteOn(s *logSource, text string) logLine {
	return logLine{source: s, at: time.Now(), note: text}
}

// endNote is how a process has ended, in words.
func endNote(p api.Process) string {
	switch {
	case p.ID == "":
		return "was removed"
	case p.State == api.StateStopped:
		return "was stopped"
	case p.ExitSignal != "":
		return "was ended by " + p.ExitSignal
	case p.ExitCode != nil:
		return fmt.Sprintf("exited with %d", *p.ExitCode)
	case p.Error != "":
		return "failed: " + output.Visible(p.Error)
	case p.State == api.StateFailed:
		return "failed"
	}
	return "exited; its status is unknown"
}

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
