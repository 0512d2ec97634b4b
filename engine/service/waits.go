package service

import (
	"context"
	"errors"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/control/readiness"
	"tandem/engine/control/supervise"
	"tandem/engine/control/usage"
	"tandem/engine/record/logs"
	"tandem/engine/session/conditions"
	"tandem/engine/system/pty"
)

const (
	maxWait = 50 * time.Second
	// inputPoll is the time between two checks whether a process waits for input.
	inputPoll = 50 * time.Millisecond
)

// A waitResult says which condition of process.wait was met, or why the wait ended.
type waitResult struct {
	met       string
	line      string
	crashLoop *api.Process // a process in a crash loop
	err       error
}

// waitForProcess waits until one of the given conditions is met, the process exits, or the timeout
// expires.
func (s *Processes) waitForProcess(ctx context.Context, in api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
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
	// The caller has given up. This is not the timeout of the wait.
	if ctx.Err() != nil {
		return api.ProcessWaitOutput{}, ctx.Err()
	}
	out := api.ProcessWaitOutput{Met: first.met, Line: first.line, CrashLoop: first.crashLoop != nil}
	e, err := s.Control.FindEntry(ctx, in.ID)
	if out.Process = e.View; out.CrashLoop {
		out.Process = *first.crashLoop
	}
	if in.Port != 0 && out.Met == "" {
		out.PortHolder = s.Usage.PortHolder(ctx, in.ID, in.Port)
	}
	if in.Ready && out.Met == "" && s.OpenCheck != nil {
		out.OpenCheck = s.OpenCheck(in.ID)
	}
	return out, err
}

// waitTimeout bounds a wait for conditions.
func waitTimeout(ctx context.Context, timeoutMS int) (context.Context, context.CancelFunc) {
	timeout := maxWait
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

// conditions returns the conditions of a wait. If an exit is not among them, ended is closed when
// the process exits. The function replaces in.ID with the full id.
func (s *Processes) conditions(ctx context.Context, in *api.ProcessWaitInput, ended chan<- struct{}) (all []conditions.Condition[waitResult], err error) {
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
	add := func(outlives bool, look func(context.Context) waitResult) {
		all = append(all, conditions.Condition[waitResult]{Outlives: outlives, Look: func(ctx context.Context) (waitResult, bool) {
			seen := look(ctx)
			return seen, seen.met != "" || seen.crashLoop != nil || seen.err != nil
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
		add(true, func(ctx context.Context) waitResult { return s.awaitLine(ctx, source, pattern, behind) })
	}
	add(true, func(ctx context.Context) waitResult { return s.awaitState(ctx, *in, e.Runs, ended) })
	if in.Port != 0 {
		listens := untilListening(s.Control, s.Usage, in.ID, in.Port)
		add(false, func(ctx context.Context) waitResult { return resultIf("port", listens(ctx) == nil) })
	}
	if in.IdleMS != 0 {
		d := time.Duration(in.IdleMS) * time.Millisecond
		add(false, func(ctx context.Context) waitResult { return resultIf("idle", s.Logs.WaitIdle(ctx, source, d) == nil) })
	}
	if in.Input {
		add(false, func(ctx context.Context) waitResult {
			return resultIf("input", s.awaitInput(ctx, e.Rec.ID, e.View.PID))
		})
	}
	return all, nil
}

var errNotListening = errors.New("it is not listening on that port")

// untilListening returns a function that waits until a process or one of its descendants listens on
// a port.
func untilListening(c *supervise.Control, u *usage.Meter, id string, port int) func(context.Context) error {
	return readiness.Until(func(ctx context.Context) error {
		e, err := c.FindEntry(ctx, id)
		if err == nil && !u.IsListening(supervise.MeasurableOf(e.Rec, e.View), port) {
			err = errNotListening
		}
		return err
	})
}

func resultIf(condition string, holds bool) waitResult {
	if !holds {
		return waitResult{}
	}
	return waitResult{met: condition}
}

// awaitInput waits until a process waits for input. It returns false if ctx ends first.
func (s *Processes) awaitInput(ctx context.Context, id string, pid int) bool {
	tick := time.NewTicker(inputPoll)
	defer tick.Stop()
	for path := s.Store.InputPath(id); pty.PipeReader(path, pid) == 0; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// awaitState waits until a run ends, the process is ready, or it is in a crash loop. If the process
// has exited for good and in.Exit is not set, awaitState closes the channel ended and returns an
// empty result.
func (s *Processes) awaitState(ctx context.Context, in api.ProcessWaitInput, runs int, ended chan<- struct{}) waitResult {
	var ready bool // when the condition was met: a process that runs again may not be ready yet
	view, err := s.Control.AwaitCondition(ctx, in.ID, func(s api.State, now int, isReady, crashLoop bool) bool {
		ready = in.Ready && isReady
		return s.Ended() || crashLoop || in.Exit && (now > runs || s == api.StateBackoff) || ready
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return waitResult{}
	case err != nil:
		return waitResult{err: err}
	case ready:
		return waitResult{met: "ready"}
	case in.Exit:
		return waitResult{met: "exit"}
	case view.State == api.StateBackoff:
		return waitResult{crashLoop: &view}
	}
	close(ended)
	return waitResult{}
}

func (s *Processes) awaitLine(ctx context.Context, source logs.Source, pattern *logs.Pattern, behind []logs.Place) waitResult {
	line, _, err := s.Logs.WaitLine(ctx, source, pattern, behind)
	switch {
	case err == nil:
		return waitResult{met: "log", line: line}
	case errors.Is(err, logs.ErrOver), ctx.Err() != nil:
		return waitResult{}
	}
	return waitResult{err: api.Errorf(api.CodeUnavailable, "read log of %s: %v", source.Name, err)}
}
