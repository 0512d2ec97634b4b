package service

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/control/supervise"
	"tandem/engine/control/usage"
	"tandem/engine/record/logs"
	"tandem/persist/store"
)

const (
	defaultExecTimeout = 30 * time.Second
	defaultExecOutput  = 64 << 10
	maxExecOutput      = 16 << 20
)

// plainVariables make programs print without colour and without a pager. Shared variables and those
// given by the caller take precedence.
var plainVariables = map[string]string{"NO_COLOR": "1", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"}

// Commands serves exec, which runs a command and waits for it.
type Commands struct {
	Control *supervise.Control
	Starter *Starter
	Store   *store.Store
	Usage   *usage.Meter
}

func (s *Commands) Handle(m *server.Mux) { server.Handle(m, api.Exec, s.runCommand) }

// runCommand runs a command as a process and waits for its exit. After the timeout the command
// keeps running as a process, unless the caller wants it killed.
func (s *Commands) runCommand(ctx context.Context, in api.ExecInput) (api.ExecOutput, error) {
	in.Env = s.Starter.Env.withClientVariables(ctx, in.Env)
	rec, err := s.commandRecord(in)
	if err != nil {
		return api.ExecOutput{}, err
	}
	began := time.Now()
	timeout := cmp.Or(time.Duration(in.TimeoutMS)*time.Millisecond, defaultExecTimeout)
	rec.ID = cmp.Or(in.ID, rec.ID)
	rec.RunLimit = store.NewRunLimit(in.Kill, began.Add(timeout), in.CallerGraceMS)
	defer s.Control.AttendCommand(ctx, rec.ID)()
	answer, err := s.Starter.beginStart(ctx, &rec, request{id: in.ID, named: in.Name != "", lease: api.LeaseDetached, sandbox: in.Sandbox}, api.State.Ended)
	if err != nil {
		return api.ExecOutput{}, err
	}
	// If the call is repeated, the time counts from the first start.
	if !answer.Began.IsZero() {
		began = answer.Began
		s.Control.SetRunLimit(rec.ID, store.NewRunLimit(in.Kill, began.Add(timeout), in.CallerGraceMS))
	}
	// Use a deadline, not a timeout, so that the time spent starting is included.
	limited, cancel := context.WithDeadline(ctx, began.Add(timeout))
	defer cancel()
	p, err := answer.Wait(limited)
	out := api.ExecOutput{TimedOut: errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil}
	if err != nil && !out.TimedOut {
		return api.ExecOutput{}, err
	}
	if out.TimedOut {
		if p, err = s.handleTimeout(ctx, rec, in); err != nil {
			return api.ExecOutput{}, err
		}
	}
	out.Process = p
	if p.State.Ended() {
		out.LeftPIDs = s.Usage.FindLeft(ctx, p)
	}
	out.DurationMS = usage.RunTime(p).Seconds() * 1000
	return out, s.readOutputs(rec, in, &out)
}

func (s *Commands) commandRecord(in api.ExecInput) (store.Record, error) {
	if in.TimeoutMS < 0 || in.MaxOutput < 0 || in.CallerGraceMS < 0 {
		return store.Record{}, api.Errorf(api.CodeInvalid, "run command: timeout_ms, max_output and caller_grace_ms cannot be negative")
	}
	rec, err := s.Starter.processRecord(api.ProcessStartInput{
		Command: in.Command, Name: in.Name, CWD: in.CWD, Env: in.Env, Environ: in.Environ, Umask: in.Umask, Actor: in.Actor,
		SplitLog: true, Transient: true,
	})
	if err != nil {
		return rec, err
	}
	rec.Env = make(map[string]string, len(in.Env)+len(plainVariables))
	set := s.Starter.Env.All()
	for name, value := range plainVariables {
		if _, ok := set[name]; !ok {
			rec.Env[name] = value
		}
	}
	for name, value := range in.Env {
		rec.Env[name] = value
	}
	return rec, nil
}

// handleTimeout kills a command that has not exited in time, or lets it keep running as the caller
// has chosen.
func (s *Commands) handleTimeout(ctx context.Context, rec store.Record, in api.ExecInput) (api.Process, error) {
	id := rec.ID
	p, err := s.Control.AwaitAnnounced(ctx, id)
	if err == nil && !p.State.Ended() && !in.Kill && !rec.Sandboxed { // it now counts as an ordinary process
		if err := access.NoteUnconfined(s.Store, id); err != nil {
			return p, api.Errorf(api.CodeUnavailable, "%v", err)
		}
	}
	switch {
	case err != nil || p.State.Ended():
		return p, err
	case !in.Kill && in.Daemon != nil:
		return s.Control.MakeDaemon(ctx, id, in.Daemon.Lines)
	case !in.Kill:
		s.Control.SetRunLimit(id, store.RunLimit{}) // it no longer depends on its caller
		return p, nil
	}
	ended, err := s.Control.StopProcess(ctx, changeRequest(ctx, id, "stop"), "SIGTERM", int(supervise.CommandStopTimeout.Milliseconds()))
	// It exited by itself before the signal.
	if errors.Is(err, api.CodeEnded) {
		return s.Control.AwaitAnnounced(ctx, id)
	}
	return ended, err
}

// readOutputs reads what a command has printed so far. After its exit the files are complete,
// because the command writes to them directly.
func (s *Commands) readOutputs(r store.Record, in api.ExecInput, out *api.ExecOutput) error {
	most := min(cmp.Or(in.MaxOutput, defaultExecOutput), maxExecOutput)
	dir := s.Store.Dir(r.ID)
	more := !out.Process.State.Ended()
	stdout, dropped, err := logs.Tail(filepath.Join(dir, store.StdoutName), most, more)
	out.StdoutDropped, out.StdoutCursor = dropped, dropped+int64(len(stdout))
	stderr, dropped, errStderr := logs.Tail(filepath.Join(dir, store.StderrName), most, more)
	out.StderrDropped, out.StderrCursor = dropped, dropped+int64(len(stderr))
	if err := errors.Join(err, errStderr); err != nil {
		return api.Errorf(api.CodeInternal, "read output of %s: %v", r.Name, err)
	}
	out.Stdout, out.StdoutBytes = logs.InJSON(stdout, in.Exact)
	out.Stderr, out.StderrBytes = logs.InJSON(stderr, in.Exact)
	return nil
}
