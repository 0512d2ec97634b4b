package service

import (
	"context"
	"errors"
	"time"

	"tandem/engine/api"
	"tandem/engine/logs"
	"tandem/engine/names"
	"tandem/engine/panics"
	"tandem/engine/pty"
	"tandem/engine/readiness"
	"tandem/engine/search"
)

const (
	waitMost = 50 * time.Second
	// inputLook is the time between looks whether a process waits for input.
	inputLook = 50 * time.Millisecond
)

// A sighting is a condition of process.wait that holds, or that never will.
type sighting struct {
	met   string // empty if it cannot hold any more
	line  string
	ended bool // the process has ended
	err   error

	caught *panics.Caught // what looking for it panicked with
}

// wait looks out for the conditions that are set until one holds, the
// process has ended so that none ever will, or the time is over.
func (s *Processes) wait(ctx context.Context, in api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
	if err := checkWait(in); err != nil {
		return api.ProcessWaitOutput{}, err
	}
	timeout := waitMost
	if in.TimeoutMS > 0 {
		timeout = min(timeout, time.Duration(in.TimeoutMS)*time.Millisecond)
	}
	watch, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	seen, err := s.lookOut(ctx, watch, &in)
	if err != nil {
		return api.ProcessWaitOutput{}, err
	}
	first := firstOf(watch, seen, in.Log != "")
	if first.err != nil {
		return api.ProcessWaitOutput{}, first.err
	}
	if ctx.Err() != nil {
		return api.ProcessWaitOutput{}, ctx.Err()
	}
	out := api.ProcessWaitOutput{Met: first.met, Line: first.line}
	e, err := s.Control.Entry(ctx, in.ID)
	out.Process = e.View
	return out, err
}

// firstOf takes the first sighting that counts. When the process has ended, what
// it has written may still hold the line that is waited for.
func firstOf(ctx context.Context, seen <-chan sighting, line bool) sighting {
	ended := false
	for {
		select {
		case s := <-seen:
			s.caught.Raise()
			switch {
			case s.met != "" || s.err != nil:
				return s
			case s.ended:
				ended = true
			default:
				line = false
			}
			if ended && !line {
				return sighting{}
			}
		case <-ctx.Done():
			return sighting{}
		}
	}
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

// lookOut starts a goroutine for each condition, which end with watch: that may
// be over before the process is found. It puts the process's id into in.
func (s *Processes) lookOut(ctx, watch context.Context, in *api.ProcessWaitInput) (<-chan sighting, error) {
	e, err := s.Control.Entry(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	in.ID = e.Rec.ID
	if in.Input && !e.Rec.Stdin {
		return nil, api.Errorf(api.CodeConflict, "wait for %s: it was started without stdin", e.Rec.Name)
	}
	source := e.Source()
	seen := make(chan sighting, 5) // one for each goroutine
	look := func(see func()) {
		go func() {
			if c := panics.Catch(see); c != nil {
				seen <- sighting{caught: c}
			}
		}()
	}
	look(func() { seen <- s.seeState(watch, *in, e.Runs) })
	if in.Log != "" {
		pattern, err := logs.Pattern(source.Name, in.Log)
		if err != nil {
			return nil, err
		}
		behind, err := source.Behind(*in)
		if err != nil {
			return nil, err
		}
		look(func() { seen <- s.seeLine(watch, source, pattern, behind) })
	}
	if in.Port != 0 {
		port := in.Port
		dial := readiness.Until(func(ctx context.Context) error { return readiness.Anywhere().Port(ctx, port) })
		look(func() {
			if dial(watch) == nil {
				seen <- sighting{met: "port"}
			}
		})
	}
	if in.IdleMS != 0 {
		d := time.Duration(in.IdleMS) * time.Millisecond
		look(func() {
			if s.Logs.WaitIdle(watch, source, d) == nil {
				seen <- sighting{met: "idle"}
			}
		})
	}
	if in.Input {
		look(func() {
			if s.seeInput(watch, e.Rec.ID, e.View.PID) {
				seen <- sighting{met: "input"}
			}
		})
	}
	return seen, nil
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

// seeState waits for the end of a run, or for readiness.
func (s *Processes) seeState(ctx context.Context, in api.ProcessWaitInput, runs int) sighting {
	view, err := s.Control.AwaitThat(ctx, in.ID, func(s api.State, now int, ready bool) bool {
		return s.Ended() || in.Exit && (now > runs || s == api.StateBackoff) || in.Ready && ready
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
	}
	return sighting{ended: true}
}

func (s *Processes) seeLine(ctx context.Context, source logs.Source, pattern *search.Pattern, behind []logs.Place) sighting {
	line, _, err := s.Logs.WaitLine(ctx, source, pattern, behind)
	switch {
	case err == nil:
		return sighting{met: "log", line: line}
	case errors.Is(err, logs.ErrOver), ctx.Err() != nil:
		return sighting{}
	}
	return sighting{err: api.Errorf(api.CodeUnavailable, "read log of %s: %v", source.Name, err)}
}
