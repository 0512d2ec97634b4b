package logs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/engine/api/logmerge"
	"tandem/engine/base/cellwidth"
	"tandem/engine/base/sleep"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
	"tandem/ui/cli/project"
)

// watchPause is the delay before watching events again after an error.
const watchPause = 200 * time.Millisecond

// A logMerge prints several logs as one.
type logMerge struct {
	flags
	sinceGiven bool
	conn       *retry.Conn
	out        *mergePrinter
	all        *logmerge.Merge
	project    string // project file whose new processes join; "" for none
	sources    []*logSource
	known      map[string]bool // ids of processes already added, or ignored
	waits      bool            // the project has no processes yet
}

// A logSource is one of the merged processes.
type logSource struct {
	*logmerge.Source
	followed bool // its end has not been reported
	wasAlive bool // it was alive at some time while followed

	// The process was started again while followed: the next end may be that of the run
	// before.
	startedAgain bool
}

// merge prints the logs of the named processes, or of a project.
func merge(ctx context.Context, f *factory.Factory, opts flags, cmd *cobra.Command, ids []string) error {
	var list []api.Process
	path := ""
	if opts.project {
		var err error
		if path, list, err = findProject(ctx, f); err != nil {
			return err
		}
		if !opts.follow && len(logmerge.Newest(path, list, opts.sessions)) == 0 {
			return notStartedError(path, list)
		}
	}
	conn, err := retry.Connect(ctx, f.Dial)
	if err != nil {
		return err
	}
	defer conn.Close()
	out := newMergePrinter(f.Out, opts)
	out.alone = !opts.isMerged(ids)
	m := &logMerge{flags: opts, sinceGiven: cmd.Flags().Changed("since"), conn: conn, out: out, project: path,
		all: &logmerge.Merge{Rest: !opts.follow}, known: map[string]bool{}}
	for _, p := range list {
		m.known[p.ID] = true
	}
	for _, p := range logmerge.Newest(path, list, opts.sessions) {
		if err := m.addRecent(ctx, p); err != nil {
			return err
		}
	}
	for _, id := range ids {
		p, err := api.ProcessGet.Call(ctx, conn, api.IDInput{ID: id})
		if err != nil {
			return err
		}
		if !m.known[p.ID] {
			m.known[p.ID] = true
			if err := m.addRecent(ctx, p); err != nil {
				return err
			}
		}
	}
	if m.waits = len(m.sources) == 0; m.waits {
		m.out.Tell("nothing of %s has been started; waiting for `tandem up`", path)
	}
	if err := m.run(ctx); err != nil {
		return err
	}
	if opts.grep != "" && m.out.found == 0 {
		return &output.ExitError{Status: output.StatusFailed}
	}
	return nil
}

func notStartedError(project string, list []api.Process) error {
	if len(logmerge.Newest(project, list, true)) > 0 {
		return api.Errorf(api.CodeNotFound, "read logs: %s has started sessions only", output.Visible(project)).WithHint("add --sessions")
	}
	return api.Errorf(api.CodeNotFound, "read logs: nothing of %s has been started", output.Visible(project)).WithHint("`tandem up` starts it")
}

// add adds a process, with a name and a colour different from the others.
func (m *logMerge) add(p api.Process) *logSource {
	others := make([]*logmerge.Source, len(m.sources))
	for i, s := range m.sources {
		others[i] = s.Source
	}
	s := &logSource{Source: logmerge.NewSource(p, others, len(nameTints), output.Visible), followed: true, wasAlive: !p.State.Ended()}
	m.out.width = max(m.out.width, cellwidth.Of(s.Label))
	m.sources = append(m.sources, s)
	return s
}

// addRecent adds a process and prints its log from the position selected by the flags.
func (m *logMerge) addRecent(ctx context.Context, p api.Process) error {
	spans := m.add(p).Spans(m.stream)
	if m.lines == 0 || m.lines > 0 && m.grep == "" {
		if err := logmerge.Last(ctx, m.conn, spans, m.lines, logPage); err != nil {
			return err
		}
	}
	for _, span := range spans {
		if m.sinceGiven {
			span.To = m.since
		}
		m.all.Add(span, logPage)
	}
	return nil
}

// run prints the current logs, and with --follow new output.
func (m *logMerge) run(ctx context.Context) error {
	if err := m.backlog(ctx); err != nil {
		return err
	}
	if m.follow {
		if err := m.followAll(ctx); err != nil {
			return err
		}
	}
	return m.out.flush()
}

// backlog prints the current lines of all logs in order of time.
func (m *logMerge) backlog(ctx context.Context) error {
	for {
		line, ok, err := m.all.Next(ctx, m.conn)
		if err != nil {
			return err
		}
		if !ok {
			return m.out.endBacklog()
		}
		if err := m.out.add(line); err != nil {
			return err
		}
	}
}

// followAll prints new output until all processes have exited.
func (m *logMerge) followAll(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	events := make(chan api.Event)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() { m.watch(ctx, events) })
	for {
		lines, heard, err := m.next(ctx, events)
		if err != nil {
			return err
		}
		// Notes follow the lines already read, so a process's last output precedes its exit.
		notes, err := m.exitNotes(ctx, m.conn)
		if err != nil {
			return err
		}
		lines = append(lines, notes...)
		for _, e := range heard {
			lines = append(lines, m.handleEvent(e)...)
		}
		for _, l := range lines {
			if err := m.out.add(l); err != nil {
				return err
			}
		}
		if err := m.out.flush(); err != nil || m.all.HasEnded() && !m.waits {
			return err
		}
	}
}

// next returns the next lines, and process events received meanwhile.
func (m *logMerge) next(ctx context.Context, events <-chan api.Event) (lines []logmerge.Line, heard []api.Event, err error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if !m.all.HasEnded() {
			lines, err = m.all.Wait(waiting, m.conn)
		} else if m.waits {
			<-waiting.Done()
		}
	}()
	for {
		select {
		case e := <-events:
			heard = append(heard, e)
			// Wait for the output just before an event, so that it is printed before the note.
			time.AfterFunc(logmerge.Settle, cancel)
		case <-done:
			if len(heard) > 0 { // interrupted by the event
				err = ctx.Err()
			}
			return lines, heard, err
		}
	}
}

// exitNotes returns notes about processes that have exited.
func (m *logMerge) exitNotes(ctx context.Context, e api.Engine) (notes []logmerge.Line, err error) {
	for _, s := range m.sources {
		if !s.followed || !m.all.HasEndedOf(s.Source) {
			continue
		}
		if s.startedAgain {
			s.startedAgain = false
			m.all.Resume(s.Source)
			continue
		}
		if s.followed = false; !s.wasAlive {
			continue
		}
		p, err := api.ProcessGet.Call(ctx, e, api.IDInput{ID: s.Process.ID})
		if err != nil && !errors.Is(err, api.CodeNotFound) {
			return nil, err
		}
		if notes = append(notes, newNote(s, endNote(p))); p.State.Ended() {
			s.Process = p
		}
	}
	return notes, nil
}

// handleEvent updates the sources from an event and returns notes about the changes.
func (m *logMerge) handleEvent(e api.Event) (notes []logmerge.Line) {
	changed := e.Processes
	if e.Process != nil {
		changed = append(changed, *e.Process)
	}
	for _, p := range changed {
		notes = append(notes, m.handleChange(p)...)
	}
	return notes
}

// handleChange updates a process, which may have restarted or be new, and returns notes about the
// change.
func (m *logMerge) handleChange(p api.Process) (notes []logmerge.Line) {
	i := slices.IndexFunc(m.sources, func(s *logSource) bool { return s.Process.ID == p.ID })
	if i < 0 {
		if m.project != "" && logmerge.Of(p, m.project, m.sessions) && !m.known[p.ID] {
			m.known[p.ID], m.waits = true, false
			s := m.add(p)
			s.wasAlive = true
			for _, span := range s.Spans(m.stream) {
				m.all.Add(span, logPage)
			}
		}
		return nil
	}
	s := m.sources[i]
	was := s.Process
	startedAgain := p.StartedAt.After(was.StartedAt)
	switch {
	case s.followed:
		s.startedAgain = s.startedAgain || startedAgain
	case p.State.Ended():
	case !startedAgain:
		return nil // a late event from before the exit
	default:
		s.followed, s.wasAlive, m.waits = true, true, false
		m.all.Resume(s.Source)
	}
	switch s.Process = p; {
	case p.State == api.StateBackoff && was.State != api.StateBackoff:
		notes = append(notes, newNote(s, endNote(p)+"; it will be restarted"))
	case restartCount(p) > restartCount(was) && was.State != api.StateBackoff:
		notes = append(notes, newNote(s, "restarted"))
	}
	return notes
}

func newNote(s *logSource, text string) logmerge.Line {
	return logmerge.Line{Source: s.Source, At: time.Now(), Note: text}
}

// endNote describes how a process ended.
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

// watch sends events about processes to events, also after an engine restart.
func (m *logMerge) watch(ctx context.Context, events chan<- api.Event) {
	for ctx.Err() == nil {
		for e, err := range m.conn.WatchFor(ctx, api.WatchInput{Lasting: true}) {
			if err != nil {
				break
			}
			if e.Process == nil && len(e.Processes) == 0 {
				continue
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
		if sleep.For(ctx, watchPause) != nil {
			return
		}
	}
}

func restartCount(p api.Process) int {
	if p.Supervision == nil {
		return 0
	}
	return p.Supervision.Restarts
}

// findProject returns the path of the current project file, and all processes.
func findProject(ctx context.Context, f *factory.Factory) (path string, list []api.Process, err error) {
	if list, err = f.ListIfRunning(ctx, api.ProcessListInput{}); err == nil {
		path, err = project.Locate("", list, true, "run this in a project's folder or below")
	}
	return path, list, err
}
