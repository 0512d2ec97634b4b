package engine

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/logs"
	"tandem/persist/store"
)

const (
	execTimeout    = 30 * time.Second
	execOutput     = 64 << 10
	execOutputMost = 16 << 20
)

// plain are variables with which programs print for a reader that is none, and
// wait for nobody. They count less than the overlay and what a caller sets.
var plain = map[string]string{"NO_COLOR": "1", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"}

// exec runs a command as a process of its own and waits for it. What has not
// ended in time goes on as a process, unless the caller wants it ended.
func (h *host) exec(ctx context.Context, in api.ExecInput) (api.ExecOutput, error) {
	in.Env = h.env.With(ctx, in.Env)
	rec, err := h.execRecord(in)
	if err == nil {
		err = own(ctx, &rec, api.LeaseDetached)
	}
	if err == nil && in.ID != "" {
		rec.ID, err = in.ID, h.claim(in.ID)
	}
	if err != nil {
		return api.ExecOutput{}, err
	}
	if err := h.confine(&rec, access.Layers(ctx, in.Sandbox)); err != nil {
		return api.ExecOutput{}, err
	}
	timeout := execTimeout
	if in.TimeoutMS > 0 {
		timeout = time.Duration(in.TimeoutMS) * time.Millisecond
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, err := h.enter(ctx, rec, in.Name != "", api.State.Ended)
	if err != nil {
		return api.ExecOutput{}, err
	}
	p, err := answer.Wait(limited)
	out := api.ExecOutput{TimedOut: errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil}
	if err != nil && !out.TimedOut {
		return api.ExecOutput{}, err
	}
	if out.TimedOut {
		if p, err = h.overdue(ctx, rec.ID, in); err != nil {
			return api.ExecOutput{}, err
		}
	}
	out.Process = p
	out.DurationMS = duration(p).Seconds() * 1000
	return out, h.outputs(rec, in, &out)
}

func (h *host) execRecord(in api.ExecInput) (store.Record, error) {
	if in.TimeoutMS < 0 || in.MaxOutput < 0 {
		return store.Record{}, api.Errorf(api.CodeInvalid, "run command: timeout_ms and max_output cannot be negative")
	}
	rec, err := h.processRecord(api.ProcessStartInput{
		Command: in.Command, Name: in.Name, CWD: in.CWD, Env: in.Env, Environ: in.Environ, Actor: in.Actor,
		SplitLog: true, Transient: true,
	})
	if err != nil {
		return rec, err
	}
	rec.Env = make(map[string]string, len(in.Env)+len(plain))
	set := h.env.All()
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
func (h *host) overdue(ctx context.Context, id string, in api.ExecInput) (api.Process, error) {
	p, err := h.control.Announced(ctx, id)
	switch {
	case err != nil || p.State.Ended():
		return p, err
	case !in.Kill && in.Daemon != nil:
		return h.control.Keep(ctx, id, in.Daemon.Lines)
	case !in.Kill:
		return p, nil
	}
	ended, err := h.control.StopProcess(ctx, asked(ctx, id, "end"), "SIGKILL", 0)
	if errors.Is(err, api.CodeEnded) {
		return h.control.Announced(ctx, id)
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
func (h *host) outputs(r store.Record, in api.ExecInput, out *api.ExecOutput) error {
	most := min(cmp.Or(in.MaxOutput, execOutput), execOutputMost)
	dir := h.store.Dir(r.ID)
	stdout, dropped, err := logs.Tail(filepath.Join(dir, store.StdoutName), most)
	out.StdoutDropped = dropped
	stderr, dropped, errStderr := logs.Tail(filepath.Join(dir, store.StderrName), most)
	out.StderrDropped = dropped
	if err := errors.Join(err, errStderr); err != nil {
		return api.Errorf(api.CodeInternal, "read output of %s: %v", r.Name, err)
	}
	out.Stdout, out.StdoutBytes = logs.InJSON(stdout, in.Exact)
	out.Stderr, out.StderrBytes = logs.InJSON(stderr, in.Exact)
	return nil
}
