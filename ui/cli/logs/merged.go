package logs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/engine/api/logmerge"
	"tandem/engine/base/cellwidth"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
	"tandem/ui/cli/project"
)

// maxMergeWait is how long one call waits for more output of several logs.
const maxMergeWait = 20 * time.Second

// A logMerge prints several logs as one.
type logMerge struct {
	flags
	conn    *retry.Conn
	engine  api.Engine // conn, except in tests
	out     *mergePrinter
	in      api.ProcessLogsInput // of the next call
	project string               // project file whose new processes join; "" for none
	sources []*logSource
	known   map[string]bool // ids of processes already added, or ignored
	waits   bool            // the project has no processes yet
	joins   bool            // further processes are new
}

// A logSource is one of the merged processes.
type logSource struct {
	*logmerge.Source
	followed bool // its end has not been reported
	wasAlive bool // it was alive at some time while followed

	// The process was started again while it was followed, so the next exit to be reported may be
	// that of its previous run.
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
	m := &logMerge{flags: opts, conn: conn, engine: conn, out: out, project: path, known: map[string]bool{},
		in: api.ProcessLogsInput{Stream: opts.stream, Partial: !opts.follow, Max: logPage}}
	for _, p := range list {
		m.known[p.ID] = true
	}
	for _, p := range logmerge.Newest(path, list, opts.sessions) {
		ids = append(ids, p.ID)
	}
	m.in.IDs = ids
	if m.lines == 0 || m.lines > 0 && m.grep == "" {
		m.in.Tail = &m.lines
	}
	if cmd.Flags().Changed("since") {
		m.in.Since = &m.since
	}
	if m.waits = len(ids) == 0; m.waits {
		m.out.Tell("nothing in %s is started yet; waiting for `tandem up`", path)
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
		return api.Errorf(api.CodeNotFound, "read logs: %s has started only sessions", output.Visible(project)).WithHint("add --sessions")
	}
	return api.Errorf(api.CodeNotFound, "read logs: nothing in %s is started yet", output.Visible(project)).WithHint("`tandem up` starts it")
}

// add adds a process, with a name and a colour different from the others.
func (m *logMerge) add(p api.Process) *logSource {
	others := make([]*logmerge.Source, len(m.sources))
	for i, s := range m.sources {
		others[i] = s.Source
	}
	s := &logSource{Source: logmerge.NewSource(p, others, len(nameTints), output.Visible), followed: true, wasAlive: m.joins || !p.State.Ended()}
	m.out.width = max(m.out.width, cellwidth.Of(s.Label))
	m.sources = append(m.sources, s)
	return s
}

// run prints the current logs, and with --follow new output.
func (m *logMerge) run(ctx context.Context) error {
	if !m.waits {
		err := logmerge.ReadPresent(ctx, m.engine, &m.in, func(out *api.ProcessLogsOutput, lines []logmerge.Line) error {
			return m.printLines(m.merge(out, lines))
		})
		if err != nil {
			return err
		}
	}
	if err := m.out.endBacklog(); err != nil || !m.follow {
		return err
	}
	return m.followAll(ctx)
}

func (m *logMerge) printLines(lines []mergedLine) error {
	for _, l := range lines {
		if err := m.out.add(l); err != nil {
			return err
		}
	}
	return nil
}

// merge returns the lines of an answer with their processes, and notes about lost ones.
func (m *logMerge) merge(out *api.ProcessLogsOutput, read []logmerge.Line) (lines []mergedLine) {
	for _, p := range out.Processes {
		m.add(p)
	}
	sources := make([]*logSource, len(out.Logs))
	for i, l := range out.Logs {
		sources[i] = m.source(l.ID)
		if l.Lost > 0 {
			lines = append(lines, newNote(sources[i], fmt.Sprintf("lost %d earlier bytes: the log has a size limit", l.Lost)))
		}
	}
	for _, l := range read {
		lines = append(lines, mergedLine{Line: l, Source: sources[l.Log].Source, Stream: out.Logs[l.Log].Stream})
	}
	return lines
}

// read waits for the next lines and moves the cursor after them.
func (m *logMerge) read(ctx context.Context, wait time.Duration) ([]mergedLine, error) {
	m.in.WaitMS = int(wait.Milliseconds())
	out, err := logmerge.Call(ctx, m.engine, m.in)
	if err != nil {
		return nil, err
	}
	lines, err := logmerge.Lines(&out)
	if err != nil {
		return nil, err
	}
	m.in.IDs, m.in.Cursor = nil, nil
	for _, l := range out.Logs {
		m.in.Cursor = append(m.in.Cursor, l.Cursor())
	}
	return m.merge(&out, lines), nil
}

func (m *logMerge) source(id string) *logSource {
	i := slices.IndexFunc(m.sources, func(s *logSource) bool { return s.Process.ID == id })
	if i < 0 { // the engine has not named it
		return m.add(api.Process{ID: id})
	}
	return m.sources[i]
}

// hasEnded reports whether all logs have been read to the end.
func (m *logMerge) hasEnded() bool {
	return len(m.in.IDs) == 0 && !slices.ContainsFunc(m.in.Cursor, func(c api.LogCursor) bool { return !c.Ended })
}

// hasEndedOf reports whether the process of s has exited and its logs were read to the end.
func (m *logMerge) hasEndedOf(s *logSource) bool {
	return !slices.ContainsFunc(m.in.Cursor, func(c api.LogCursor) bool { return c.ID == s.Process.ID && !c.Ended })
}

// resume follows a restarted process again.
func (m *logMerge) resume(s *logSource) {
	for i := range m.in.Cursor {
		if c := &m.in.Cursor[i]; c.ID == s.Process.ID {
			c.Ended = false
		}
	}
}

// followAll prints new output until all processes have exited.
func (m *logMerge) followAll(ctx context.Context) error {
	m.joins, m.in.Tail, m.in.Since = true, nil, nil // new processes are read from their start
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
		notes, err := m.exitNotes(ctx)
		if err != nil {
			return err
		}
		lines = append(lines, notes...)
		for _, e := range heard {
			lines = append(lines, m.handleEvent(e)...)
		}
		if err := m.printLines(lines); err != nil {
			return err
		}
		if err := m.out.flush(); err != nil || m.hasEnded() && !m.waits {
			return err
		}
	}
}

// next returns the next lines, or an event about processes with the lines before it.
func (m *logMerge) next(ctx context.Context, events <-chan api.Event) (lines []mergedLine, heard []api.Event, err error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if m.hasEnded() {
			<-waiting.Done()
			return
		}
		lines, err = m.read(waiting, maxMergeWait)
	}()
	select {
	case <-done:
		return lines, nil, err
	case e := <-events:
		heard = append(heard, e)
	case <-ctx.Done():
	}
	cancel()
	<-done
	// Nothing is lost with the answer to an interrupted call: the cursor is still before it.
	if lines == nil && ctx.Err() == nil && !m.hasEnded() {
		lines, err = m.read(ctx, 0)
	}
	return lines, heard, cmp.Or(ctx.Err(), err)
}

// findProject returns the path of the current project file, and all processes.
func findProject(ctx context.Context, f *factory.Factory) (path string, list []api.Process, err error) {
	if list, err = f.ListIfRunning(ctx, api.ProcessListInput{}); err == nil {
		path, err = project.Locate("", list, true, "run this in a project's folder or below")
	}
	return path, list, err
}
