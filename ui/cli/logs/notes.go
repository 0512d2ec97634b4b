package logs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/engine/base/sleep"
	"tandem/ui/cli/output"
)

// watchPause is the delay before watching events again after an error.
const watchPause = 200 * time.Millisecond

// exitNotes returns notes about processes that have exited.
func (m *logMerge) exitNotes(ctx context.Context) (notes []mergedLine, err error) {
	for _, s := range m.sources {
		if !s.followed || !m.hasEndedOf(s) {
			continue
		}
		if s.startedAgain {
			s.startedAgain = false
			m.resume(s)
			continue
		}
		if s.followed = false; !s.wasAlive {
			continue
		}
		p, err := api.ProcessGet.Call(ctx, m.engine, api.IDInput{ID: s.Process.ID})
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
func (m *logMerge) handleEvent(e api.Event) (notes []mergedLine) {
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
func (m *logMerge) handleChange(p api.Process) (notes []mergedLine) {
	i := slices.IndexFunc(m.sources, func(s *logSource) bool { return s.Process.ID == p.ID })
	if i < 0 {
		if m.project != "" && logmerge.Of(p, m.project, m.sessions) && !m.known[p.ID] {
			m.known[p.ID], m.waits = true, false
			m.in.IDs = append(m.in.IDs, p.ID)
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
		m.resume(s)
	}
	switch s.Process = p; {
	case p.State == api.StateBackoff && was.State != api.StateBackoff:
		notes = append(notes, newNote(s, endNote(p)+"; it will be restarted"))
	case restartsOf(p) > restartsOf(was) && was.State != api.StateBackoff:
		notes = append(notes, newNote(s, "restarted"))
	}
	return notes
}

func newNote(s *logSource, text string) mergedLine {
	return mergedLine{Source: s.Source, note: text}
}

// endNote describes how a process ended.
func endNote(p api.Process) string {
	switch {
	case p.ID == "":
		return "was removed"
	case p.State == api.StateStopped:
		return "was stopped"
	case p.ExitSignal != "":
		return "was killed by " + p.ExitSignal
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

func restartsOf(p api.Process) int {
	if p.Supervision == nil {
		return 0
	}
	return p.Supervision.Restarts
}
