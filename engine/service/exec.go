package service

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/logs"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

const (
	execTimeout    = 30 * time.Second
	execOutput     = 64 << 10
	execOutputMost = 16 << 20
	// killGrace is how long a command whose time is over may take to end by
	// itself once it was asked to.
	killGrace = 2 * time.Second
)

// plain are variables that make programs print plainly and wait for nobody. The overlay
// and what a caller sets take precedence.
var plain = map[string]string{"NO_COLOR": "1", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"}

// Commands serves commands that are run and waited for.
type Commands struct {
	Control *supervise.Control
	Starter *Starter
	Store   *store.Store
	Usage   *Usage
}

// Handle serves the operation.
func (s *Commands) Handle(m *server.Mux) { server.Handle(m, api.Exec, s.exec) }

// exec runs a command as a process of its own and waits for it. What has not
// ended in time goes on as a process, unless the caller wants it ended.
func (s *Commands) exec(ctx context.Context, in api.ExecInput) (api.ExecOutput, error) {
	in.Env = s.Starter.Env.with(ctx, in.Env)
	rec, err := s.record(in)
	if err != nil {
		return api.ExecOutput{}, err
	}
	began := time.Now()
	answer, err := s.Starter.begin(ctx, &rec, request{id: in.ID, named: in.Name != "", lease: api.LeaseDetached, sandbox: in.Sandbox}, api.State.Ended)
	if err != nil {
		return api.ExecOutput{}, err
	}
	if !answer.Began.IsZero() {
		began = answer.Began
	}
	timeout := execTimeout
	if in.TimeoutMS > 0 {
		timeout = time.Duration(in.TimeoutMS) * time.Millisecond
	}
	limited, cancel := context.WithDeadline(ctx, began.Add(timeout))
	defer cancel()
	p, err := answer.Wait(limited)
	out := api.ExecOutput{TimedOut: errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil}
	if err != nil && !out.TimedOut {
		return api.ExecOutput{}, err
	}
	if out.TimedOut {
		if p, err = s.overdue(ctx, rec, in); err != nil {
			return api.ExecOutput{}, err
		}
	}
	out.Process = p
	if p.State.Ended() {
		out.Left = s.Usage.left(p)
	}
	out.DurationMS = duration(p).Seconds() * 1000
	return out, s.outputs(rec, in, &out)
}

func (s *Commands) record(in api.ExecInput) (store.Record, error) {
	if in.TimeoutMS < 0 || in.MaxOutput < 0 {
		return store.Record{}, api.Errorf(api.CodeInvalid, "run command: timeout_ms and max_output cannot be negative")
	}
	rec, err := s.Starter.processRecord(api.ProcessStartInput{
		Command: in.Command, Name: in.Name, CWD: in.CWD, Env: in.Env, Environ: in.Environ, Umask: in.Umask, Actor: in.Actor,
		SplitLog: true, Transient: true,
	})
	if err != nil {
		return rec, err
	}
	rec.Env = make(map[string]string, len(in.Env)+len(plain))
	set := s.Starter.Env.All()
	for name, value := range plain {
		if _, ok := set[name]; !ok {
			rec.Env[name] = value
		}
	}
	for name, value := range in.Env {
		rec.Env[name] = value
	}
	return rec, nil
}

// overdue handles a command that has not ended in time.
func (s *Commands) overdue(ctx context.Context, rec store.Record, in api.ExecInput) (api.Process, error) {
	id := rec.ID
	p, err := s.Control.AwaitAnnounced(ctx, id)
	if err == nil && !p.State.Ended() && !in.Kill && !rec.Sandboxed { // it goes on as a process like others
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
		return p, nil
	}
	ended, err := s.Control.StopProcess(ctx, asked(ctx, id, "stop"), "SIGTERM", int(killGrace.Milliseconds()))
	if errors.Is(err, api.CodeEnded) {
		return s.Control.AwaitAnnounced(ctx, id)
	}
	return ended, err
}

// duration is how long a process ran, or has run.
func duration(p api.Process) time.Duration {
	if p.ExitedAt != nil {
		return max(p.ExitedAt.Sub(p.StartedAt), 0)
	}
	return time.Since(p.StartedAt)
}

// outputs reads what a command has printed so far. The files are complete when
// it has ended, because it wrote them itself.
func (s *Commands) outputs(r store.Record, in api.ExecInput, out *api.ExecOutput) error {
	most := min(cmp.Or(in.MaxOutput, execOutput), execOutputMost)
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
