package engine

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

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
	in.Env = h.clientEnv(ctx, in.Env)
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
	if err := h.confine(&rec, layersFor(ctx, in.Sandbox)); err != nil {
		return api.ExecOutput{}, err
	}
	timeout := execTimeout
	if in.TimeoutMS > 0 {
		timeout = time.Duration(in.TimeoutMS) * time.Millisecond
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	reply, err := h.enter(ctx, rec, in.Name != "", api.State.Ended)
	if err != nil {
		return api.ExecOutput{}, err
	}
	p, err := h.outcome(limited, rec.ID, reply)
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
	set := h.env.all()
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

// awaitThat waits until something announced of a process holds. The error of
// ctx is given as it is.
func (h *host) awaitThat(ctx context.Context, id string, holds func(p *proc) bool) (api.Process, error) {
	reply := make(chan outcome, 1)
	err := withProc(ctx, h, id, func(p *proc) error {
		if p.view.State == p.state() && holds(p) {
			reply <- outcome{process: h.control.current(p)}
			return nil
		}
		p.await(reply, func(api.State) bool { return holds(p) })
		return nil
	})
	if err != nil {
		return api.Process{}, err
	}
	return h.outcome(ctx, id, reply)
}

// outcome is the answer to a request about a process. The error of ctx is given
// as it is.
func (h *host) outcome(ctx context.Context, id string, reply chan outcome) (api.Process, error) {
	select {
	case o := <-reply:
		return o.process, o.err
	case <-h.control.done:
		return api.Process{}, api.ErrEnding()
	case <-ctx.Done():
		h.control.box.Post(func() { h.control.abandon(id, reply) })
		return api.Process{}, ctx.Err()
	}
}

// abandon drops a request whose client waits no longer.
func (c *control) abandon(id string, reply chan outcome) {
	if p := c.procs[id]; p != nil {
		p.waiters = slices.DeleteFunc(p.waiters, func(w waiter) bool { return w.reply == reply })
	}
}

// overdue handles a command that has not ended in time.
func (h *host) overdue(ctx context.Context, id string, in api.ExecInput) (api.Process, error) {
	p, err := h.announced(ctx, id)
	switch {
	case err != nil || p.State.Ended():
		return p, err
	case !in.Kill && in.Daemon != nil:
		return h.keep(ctx, id, *in.Daemon)
	case !in.Kill:
		return p, nil
	}
	ended, err := h.requestWith(ctx, id, event{kind: evStop, signal: "SIGKILL"})
	if errors.Is(err, api.CodeEnded) {
		return h.announced(ctx, id)
	}
	return ended, err
}

// keep makes a daemon of a command, so that it is not forgotten when it has
// ended.
func (h *host) keep(ctx context.Context, id string, d api.Daemon) (api.Process, error) {
	reply := make(chan outcome, 1)
	err := withProc(ctx, h, id, func(p *proc) error {
		p.rec.Transient, p.rec.Daemon = false, &store.Daemon{Lines: d.Lines}
		p.await(reply, always)
		h.control.save(p)
		return nil
	})
	if err != nil {
		return api.Process{}, err
	}
	return h.outcome(ctx, id, reply)
}

// announced is what was announced of a process, or will be for the first time.
func (h *host) announced(ctx context.Context, id string) (api.Process, error) {
	reply := make(chan outcome, 1)
	_, err := ask(ctx, h.control, func() struct{} {
		switch p := h.control.procs[id]; {
		case p == nil:
			reply <- outcome{err: api.Errorf(api.CodeNotFound, "find %s: it could not be started, or was removed", id)}
		case p.view.ID != "":
			reply <- outcome{process: h.control.current(p)}
		default:
			p.await(reply, hasStarted)
		}
		return struct{}{}
	})
	if err != nil {
		return api.Process{}, err
	}
	return h.outcome(ctx, id, reply)
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
	stdout, dropped, err := logs.Tail(filepath.Join(dir, stdoutName), most)
	out.StdoutDropped = dropped
	stderr, dropped, errStderr := logs.Tail(filepath.Join(dir, stderrName), most)
	out.StderrDropped = dropped
	if err := errors.Join(err, errStderr); err != nil {
		return api.Errorf(api.CodeInternal, "read output of %s: %v", r.Name, err)
	}
	out.Stdout, out.StdoutBytes = logs.InJSON(stdout, in.Exact)
	out.Stderr, out.StderrBytes = logs.InJSON(stderr, in.Exact)
	return nil
}
