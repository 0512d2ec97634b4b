package service

import (
	"context"
	"errors"
	"time"

	"tandem/engine/api"
	"tandem/engine/conditions"
	"tandem/engine/logs"
	"tandem/engine/names"
	"tandem/engine/pty"
	"tandem/engine/readiness"
	"tandem/engine/supervise"
)

const (
	waitMost = 50 * time.Second
	// inputLook is the time between looks whether a process waits for input.
	inputLook = 50 * time.Millisecond
)

// A sighting is a condition of process.wait that holds.
type sighting struct {
	met     string
	line    string
	looping *api.Process // in a crash loop, which ends the wait
	err     error
}

// wait looks out for the conditions that are set until one holds, the
// process has ended so that none ever will, or the time is over.
func (s *Processes) wait(ctx context.Context, in api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
	if err := checkWait(in); err != nil {
		return api.ProcessWaitOutput{}, err
	}
	ended := make(chan struct{})
	all, err := s.conditions(ctx, &in, ended)
	if err != nil {
		return api.ProcessWaitOutput{}, err
	}
	watch, cancel := waitTimeout(ctx, in.TimeoutMS)
	defer cancel()
	first, _ := conditions.First(watch, ended, all)
	if first.err != nil {
		return api.ProcessWaitOutput{}, first.err
	}
	if ctx.Err() != nil {
		return api.ProcessWaitOutput{}, ctx.Err()
	}
	out := api.ProcessWaitOutput{Met: first.met, Line: first.line, CrashLoop: first.looping != nil}
	e, err := s.Control.FindEntry(ctx, in.ID)
	if out.Process = e.View; out.CrashLoop {
		out.Process = *first.looping
	}
	if in.Port != 0 && out.Met == "" {
		out.PortHolder = s.Usage.portHolder(ctx, in.ID, in.Port)
	}
	if in.Ready && out.Met == "" && s.OpenCheck != nil {
		out.OpenCheck = s.OpenCheck(in.ID)
	}
	return out, err
}

// waitTimeout bounds a call that waits for conditions.
func waitTimeout(ctx context.Context, timeoutMS int) (context.Context, context.CancelFunc) {
	timeout := waitMost
	if timeoutMS > 0 {
		timeout = min(timeout, time.Duration(timeoutMS)*time.Millisecond)
	}
	return context.WithTimeout(ctx, timeout)
}

func checkWait(in api.ProcessWaitInput) error {
	switch {
	case !in.Exit && !in.Ready && in.Log == "" && in.Port == 0 && in.IdleMS == 0 && !in.Input:
		return api.Errorf(api.CodeInvalid, "wait for %s: no condition given", names.Shown(in.ID)).
			WithHint("give exit, ready, log, port, idle_ms or input")
	case in.Port < 0 || in.Port > 65535:
		return api.Errorf(api.CodeInvalid, "wait for port %d: must be 1 to 65535", in.Port)
	case in.IdleMS < 0 || in.TimeoutMS < 0:
		return api.Errorf(api.CodeInvalid, "wait for %s: idle_ms and timeout_ms cannot be negative", names.Shown(in.ID))
	}
	return nil
}

// conditions are those that are to be waited for; ended is closed when the process has
// ended and that is none of them. It puts the process's id into in.
func (s *Processes) conditions(ctx context.Context, in *api.ProcessWaitInput, ended chan<- struct{}) (all []conditions.Condition[sighting], err error) {
	e, err := s.Control.FindEntry(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	in.ID = e.Rec.ID
	if in.Ready && e.Rec.Ready == nil {
		return nil, api.Errorf(api.CodeInvalid, "wait for %s to be ready: it has no readiness check", e.Rec.Name).
			WithHint("wait for log or port")
	}
	if in.Input && !e.Rec.Stdin {
		return nil, api.Errorf(api.CodeConflict, "wait for %s: it was started without stdin", e.Rec.Name)
	}
	add := func(outlives bool, look func(context.Context) sighting) {
		all = append(all, conditions.Condition[sighting]{Outlives: outlives, Look: func(ctx context.Context) (sighting, bool) {
			seen := look(ctx)
			return seen, seen.met != "" || seen.looping != nil || seen.err != nil
		}})
	}
	source := e.Source()
	if in.Log != "" {
		pattern, err := logs.CompilePattern(source.Name, in.Log)
		if err != nil {
			return nil, err
		}
		behind, err := source.Behind(*in, e.Rec.LogStart, e.Rec.ErrorLogStart)
		if err != nil {
			return nil, err
		}
		add(true, func(ctx context.Context) sighting { return s.seeLine(ctx, source, pattern, behind) })
	}
	add(true, func(ctx context.Context) sighting { return s.seeState(ctx, *in, e.Runs, ended) })
	if in.Port != 0 {
		listens := untilListening(s.Control, s.Usage, in.ID, in.Port)
		add(false, func(ctx context.Context) sighting { return metIf("port", listens(ctx) == nil) })
	}
	if in.IdleMS != 0 {
		d := time.Duration(in.IdleMS) * time.Millisecond
		add(false, func(ctx context.Context) sighting { return metIf("idle", s.Logs.WaitIdle(ctx, source, d) == nil) })
	}
	if in.Input {
		add(false, func(ctx context.Context) sighting { return metIf("input", s.seeInput(ctx, e.Rec.ID, e.View.PID)) })
	}
	return all, nil
}

var errNotListening = errors.New("it does not listen on that port")

// untilListening waits until a process, or what it has started, listens on a TCP port.
func untilListening(c *supervise.Control, u *Usage, id string, port int) func(context.Context) error {
	return readiness.Until(func(ctx context.Context) error {
		e, err := c.FindEntry(ctx, id)
		if err == nil && !u.listens(supervise.MeasurableOf(e.Rec, e.View), port) {
			err = errNotListening
		}
		return err
	})
}

func metIf(condition string, holds bool) sighting {
	if !holds {
		return sighting{}
	}
	return sighting{met: condition}
}

// seeInput looks until a process waits for input.
func (s *Processes) seeInput(ctx context.Context, id string, pid int) bool {
	tick := time.NewTicker(inputLook)
	defer tick.Stop()
	for path := s.Store.InputPath(id); !pty.ReadsPipe(path, pid); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// seeState waits for the end of a run, for readiness, or for a crash loop. It closes ended if the
// process has ended and that is not waited for.
func (s *Processes) seeState(ctx context.Context, in api.ProcessWaitInput, runs int, ended chan<- struct{}) sighting {
	view, err := s.Control.AwaitCondition(ctx, in.ID, func(s api.State, now int, ready, crashLoop bool) bool {
		return s.Ended() || crashLoop || in.Exit && (now > runs || s == api.StateBackoff) || in.Ready && ready
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return sighting{}
	case err != nil:
		return sighting{err: err}
	case in.Ready && view.State == api.StateRunning:
		return sighting{met: "ready"}
	case in.Exit:
		return sighting{met: "exit"}
	case view.State == api.StateBackoff:
		return sighting{looping: &view}
	}
	close(ended)
	return sighting{}
}

func (s *Processes) seeLine(ctx context.Context, source logs.Source, pattern *logs.Pattern, behind []logs.Place) sighting {
	line, _, err := s.Logs.WaitLine(ctx, source, pattern, behind)
	switch {
	case err == nil:
		return sighting{met: "log", line: line}
	case errors.Is(err, logs.ErrOver), ctx.Err() != nil:
		return sighting{}
	}
	return sighting{err: api.Errorf(api.CodeUnavailable, "read log of %s: %v", source.Name, err)}
}
