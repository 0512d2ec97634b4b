package project

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// StatusInterrupted is the exit status of an interrupted up.
const StatusInterrupted = output.StatusSignal + 2

// frameTime is how long a frame of the progress rows is shown.
const frameTime = 100 * time.Millisecond

// An update is an event of the engine, or the error that ended the stream.
type update struct {
	event api.Event
	err   error
}

// watch follows events until every process runs, and with Wait is ready, or has failed. It prints
// each change.
func (r *Run) watch(ctx context.Context, began time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows := &progressRows{out: r.Out, on: r.Live}
	defer rows.clear()
	var updates <-chan update // nil until there is something to wait for
	for {
		late := r.Timeout > 0 && time.Since(began) >= r.Timeout
		// Rows are erased first, so that the changes below are printed above the new rows.
		rows.clear()
		waiting, pause := 0, time.Duration(math.MaxInt64)
		if r.Timeout > 0 {
			pause = r.Timeout - time.Since(began)
		}
		if r.Live != nil {
			pause = min(pause, frameTime)
		}
		for _, s := range r.Plan.steps {
			if !r.isOnTrial(s) || late {
				r.updateStep(s, late)
				r.settleReplaced(ctx, s)
			} else {
				pause = min(pause, time.Until(s.runningSince.Add(trialTime)))
			}
			if !s.finished {
				waiting++
			}
		}
		if waiting == 0 || ctx.Err() != nil || r.ExitOnFailure && r.hasFailure() {
			return
		}
		rows.draw(r.Plan.steps, began)
		if updates == nil {
			updates = r.events(ctx)
		}
		select {
		case u := <-updates:
			switch {
			case u.err == nil:
				r.apply(u.event)
			case !errors.Is(u.err, api.CodeUnavailable):
				r.errs = append(r.errs, u.err)
				return
			case r.refresh(ctx) != nil: // otherwise the engine is back
				return
			default:
				updates = r.events(ctx)
			}
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// events streams the engine's events until ctx is done.
func (r *Run) events(ctx context.Context) <-chan update {
	updates := make(chan update)
	go func() {
		for event, err := range r.Conn.WatchFor(ctx, api.WatchInput{Lasting: true}) {
			select {
			case updates <- update{event, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return updates
}

// apply updates the state of all steps after an event.
func (r *Run) apply(e api.Event) {
	for _, s := range r.Plan.steps {
		i := slices.IndexFunc(e.Processes, func(p api.Process) bool { return p.ID == s.process.ID })
		removed := e.Type == api.EventSnapshot || e.Type == api.EventRemoved && e.ID == s.process.ID
		switch {
		case i >= 0:
			s.process = e.Processes[i]
		case e.Type == api.EventProcess && e.Process.ID == s.process.ID:
			s.process = *e.Process
		case removed && s.err == nil && !s.finished:
			s.err = fmt.Errorf("start %s: it was removed", s.entry.Name)
		}
	}
}

// refresh reads the state of all steps. If the engine is lost, it waits until the engine returns.
func (r *Run) refresh(ctx context.Context) error {
	list, err := api.ProcessList.Call(ctx, r.Conn, api.ProcessListInput{})
	if err != nil {
		if ctx.Err() == nil {
			r.errs = append(r.errs, err)
		}
		return err
	}
	r.apply(api.Event{Type: api.EventSnapshot, Processes: list.Processes})
	return nil
}

// updateStep prints and records the current state of a step. If late is set, the timeout has
// passed, and an unfinished step becomes an error.
func (r *Run) updateStep(s *step, late bool) {
	p := s.process
	switch {
	case s.finished:
		return
	case s.err != nil:
	case s.action == actionDone:
		r.printProgress(s)
	case p.State == api.StateFailed && !s.announced:
		s.err = fmt.Errorf("start %s: %s", s.entry.Name, p.Error)
	case p.State == api.StateWaiting || p.State == api.StateStarting:
		if !late {
			return
		}
		s.err = fmt.Errorf("start %s: not started within %v: %s", s.entry.Name, r.Timeout, stateReason(p))
	case !s.announced && s.neverRan():
		s.err = fmt.Errorf("start %s: stopped before it started", s.entry.Name)
	case !s.announced:
		s.announced = true
		r.printProgress(s)
		// A process may be ready as soon as it runs, so check again at once.
		r.updateStep(s, late)
		return
	case !r.Wait || s.entry.Start.Ready == nil:
	case p.IsReady():
		s.ready = true
		r.printProgress(s)
	case p.State.Ended():
		s.err = fmt.Errorf("%s is not ready: %s", s.entry.Name, stateReason(p))
	case late:
		s.err = fmt.Errorf("%s is not ready within %v: %s", s.entry.Name, r.Timeout, stateReason(p))
	default:
		return
	}
	s.finished = true
}

// checkRest checks, after all waits, the processes without a passed readiness check: one that has
// exited or waits for a restart has failed, unless it is a task that is done.
func (r *Run) checkRest(ctx context.Context) {
	if !r.Wait || r.refresh(ctx) != nil {
		return
	}
	var late []string
	for _, s := range r.Plan.steps {
		switch {
		case s.err != nil || s.ready || s.action == actionDone:
		case s.hasFailed():
			s.err = fmt.Errorf("%s has failed: %s", s.entry.Name, stateReason(s.process))
		case s.process.State.Ended():
			r.printStep(s, string(actionDone))
		case !s.finished:
			late = append(late, output.Visible(s.entry.Name))
		}
	}
	if len(late) > 0 {
		r.Out.Tell("no longer waiting for %s", strings.Join(late, ", "))
	}
}

func (r *Run) hasFailure() bool {
	return slices.ContainsFunc(r.Plan.steps, func(s *step) bool { return s.err != nil || s.hasFailed() })
}

// hasFailed reports whether the process of a step has run and failed, or was stopped.
func (s *step) hasFailed() bool {
	p := s.process
	return s.announced && (p.State == api.StateBackoff || p.State.Ended() && !hasSucceeded(s.entry, p))
}

// neverRan reports whether the process of a step was stopped while it waited for others.
func (s *step) neverRan() bool {
	before := 0
	if s.action == actionRestart {
		before = s.existing.LastPID
	}
	return s.process.State == api.StateStopped && s.process.LastPID == before
}

// reportInterrupted prints which entries were started when the user interrupted up.
func (r *Run) reportInterrupted() error {
	var missing []string
	for _, s := range r.Plan.steps {
		if s.process.ID == "" && (s.err == nil || errors.Is(s.err, context.Canceled)) {
			missing = append(missing, output.Visible(s.entry.Name))
		}
	}
	if len(missing) > 0 {
		r.Out.Tell("interrupted; not started: %s", strings.Join(missing, ", "))
	} else {
		r.Out.Tell("up continues in the background; `tandem ps` shows it, `tandem down` stops it")
	}
	return &output.ExitError{Status: StatusInterrupted}
}

// printLastLines prints the last output line of exited processes that failed or kept others from
// starting.
func (r *Run) printLastLines(ctx context.Context) {
	if !slices.ContainsFunc(r.Plan.steps, func(s *step) bool { return s.err != nil }) || r.refresh(ctx) != nil {
		return
	}
	printed := map[string]bool{}
	for _, s := range r.Plan.steps {
		if s.err == nil {
			continue
		}
		of := []*step{s}
		for _, d := range s.entry.After {
			of = append(of, r.step(d.Name))
		}
		for _, on := range of {
			if on.process.ID == "" || !on.process.State.Ended() || printed[on.entry.Name] || hasSucceeded(on.entry, on.process) {
				continue
			}
			printed[on.entry.Name] = true
			r.printLastLine(ctx, on)
		}
	}
}

func (r *Run) printLastLine(ctx context.Context, s *step) {
	out, err := api.ProcessLog.Call(ctx, r.Conn, api.ProcessLogInput{ID: s.process.ID, Tail: 1})
	if line := strings.TrimSpace(out.Data); err == nil && line != "" {
		r.Out.Tell("%s printed last: %s", output.Visible(s.entry.Name), output.Visible(line))
	}
}

func (r *Run) summary() string {
	failed := 0
	for _, s := range r.Plan.steps {
		if s.err != nil {
			failed++
		}
	}
	text := fmt.Sprintf("%d up", len(r.Plan.steps)-failed)
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}
