package project

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/ui/cli/output"
)

// StatusInterrupted is the exit status of an up that somebody has interrupted.
const StatusInterrupted = output.StatusSignal + 2

// watch looks until everything has begun, and with Wait is ready, or something is
// the matter with it, and tells that as it happens.
func (r *Run) watch(ctx context.Context, began time.Time) {
	rows := &rows{out: r.Out, on: r.Live}
	defer rows.clear()
	for {
		late := r.Timeout > 0 && time.Since(began) >= r.Timeout
		rows.clear()
		waiting := 0
		for _, s := range r.Plan.steps {
			if r.see(s, late); !s.over {
				waiting++
			}
		}
		if waiting == 0 || ctx.Err() != nil {
			return
		}
		rows.draw(r.Plan.steps, began)
		if sleep.For(ctx, look) != nil || r.refresh(ctx) != nil {
			return
		}
	}
}

// refresh asks how everything does.
func (r *Run) refresh(ctx context.Context) error {
	list, err := api.ProcessList.Call(ctx, r.Conn, api.ProcessListInput{})
	if err != nil {
		if ctx.Err() == nil {
			r.failed = append(r.failed, err)
		}
		return err
	}
	for _, s := range r.Plan.steps {
		i := slices.IndexFunc(list.Processes, func(p api.Process) bool { return p.ID == s.process.ID })
		switch {
		case i >= 0:
			s.process = list.Processes[i]
		case s.err == nil && !s.over:
			s.err = fmt.Errorf("start %s: it was removed", s.entry.Name)
		}
	}
	return nil
}

// see takes in how a step does now. late is when nothing is waited for any longer.
func (r *Run) see(s *step, late bool) {
	p := s.process
	switch {
	case s.over:
		return
	case s.err != nil:
	case s.action == actionDone:
		r.note(s)
	case p.State == api.StateFailed && !s.noted:
		s.err = fmt.Errorf("start %s: %s", s.entry.Name, p.Error)
	case p.State == api.StateWaiting || p.State == api.StateStarting:
		if !late {
			return
		}
		s.err = fmt.Errorf("start %s: not within %v: %s", s.entry.Name, r.Timeout, why(p))
	case !s.noted:
		s.noted = true
		r.note(s)
		r.see(s, late)
		return
	case !r.Wait || s.entry.Start.Ready == nil:
	case p.IsReady():
		s.ready = true
		r.note(s)
	case p.State.Ended():
		s.err = fmt.Errorf("%s is not ready: %s", s.entry.Name, why(p))
	case late:
		s.err = fmt.Errorf("%s is not ready within %v: %s", s.entry.Name, r.Timeout, why(p))
	default:
		return
	}
	s.over = true
}

// printUnchecked prints, after all waits are over, the processes without a passed readiness
// check that have exited or are waiting for a restart.
func (r *Run) printUnchecked(ctx context.Context) {
	if !r.Wait || r.refresh(ctx) != nil {
		return
	}
	for _, s := range r.Plan.steps {
		p := s.process
		if s.err != nil || s.ready || s.action == actionDone {
			continue
		}
		switch {
		case p.State == api.StateExited && succeeded(s.entry, p):
			r.printStep(s, string(actionDone))
		case p.State.Ended(), p.State == api.StateBackoff:
			r.printStep(s, why(p))
		}
	}
}

// left says what goes on when somebody has interrupted the watching.
func (r *Run) left() error {
	var missing []string
	for _, s := range r.Plan.steps {
		if s.process.ID == "" && (s.err == nil || errors.Is(s.err, context.Canceled)) {
			missing = append(missing, output.Visible(s.entry.Name))
		}
	}
	if len(missing) > 0 {
		r.Out.Tell("interrupted before everything was asked for; not started: %s", strings.Join(missing, ", "))
	} else {
		r.Out.Tell("up goes on in the background; `tandem ps` shows it, `tandem down` stops it")
	}
	return &output.ExitError{Status: StatusInterrupted}
}

// lastWords tells the last line of what has ended and keeps others from starting.
func (r *Run) lastWords(ctx context.Context) {
	if !slices.ContainsFunc(r.Plan.steps, func(s *step) bool { return s.err != nil }) || r.refresh(ctx) != nil {
		return
	}
	told := map[string]bool{}
	for _, s := range r.Plan.steps {
		if s.err == nil {
			continue
		}
		of := []*step{s}
		for _, d := range s.entry.After {
			of = append(of, r.step(d.Name))
		}
		for _, on := range of {
			if on.process.ID == "" || !on.process.State.Ended() || told[on.entry.Name] || succeeded(on.entry, on.process) {
				continue
			}
			told[on.entry.Name] = true
			out, err := api.ProcessLog.Call(ctx, r.Conn, api.ProcessLogInput{ID: on.process.ID, Tail: 1})
			if line := strings.TrimSpace(out.Data); err == nil && line != "" {
				r.Out.Tell("%s printed last: %s", output.Visible(on.entry.Name), output.Visible(line))
			}
		}
	}
}

// summary counts what came of the steps.
func (r *Run) summary() string {
	up, failed := 0, 0
	for _, s := range r.Plan.steps {
		if s.err != nil {
			failed++
		} else {
			up++
		}
	}
	if failed == 0 {
		return fmt.Sprintf("%d up", up)
	}
	return fmt.Sprintf("%d up, %d failed", up, failed)
}
