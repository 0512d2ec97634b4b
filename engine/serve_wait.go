package engine

import (
	"context"
	"errors"
	"time"

	"tandem/engine/api"
	"tandem/persist"
)

const (
	waitMost = 50 * time.Second
	waitGap  = 10 * time.Millisecond // between two looks, at first
	waitSlow = 100 * time.Millisecond
)

// A lookout is one call of process.wait.
type lookout struct {
	in      api.ProcessWaitInput
	log     *logWatch // nil if no line is waited for
	runs    int       // how often the process had begun when the call came
	size    int64     // of its output at the last look
	changed time.Time // when that was different last
}

// processWait looks at the conditions that are set until one holds, the process
// has ended so that none ever will, or the time is over.
func (h *host) processWait(ctx context.Context, in api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
	if err := checkWait(in); err != nil {
		return api.ProcessWaitOutput{}, err
	}
	l := &lookout{in: in}
	var rec persist.Record
	err := withProc(ctx, h, in.ID, func(p *proc) error {
		rec, l.runs = p.rec, p.runs
		return nil
	})
	if err != nil {
		return api.ProcessWaitOutput{}, err
	}
	l.in.ID = rec.ID
	if in.Log != "" {
		from := int64(0)
		if in.Since != nil {
			from = *in.Since
		}
		if l.log, err = h.watchLog(rec, in.Log, from); err != nil {
			return api.ProcessWaitOutput{}, err
		}
		defer l.log.close()
	}
	timeout := waitMost
	if in.TimeoutMS > 0 {
		timeout = min(timeout, time.Duration(in.TimeoutMS)*time.Millisecond)
	}
	return h.lookOut(ctx, l, rec, timeout)
}

func checkWait(in api.ProcessWaitInput) error {
	switch {
	case !in.Exit && !in.Ready && in.Log == "" && in.Port == 0 && in.IdleMS == 0:
		return api.Errorf(api.CodeInvalid, "wait for %s: no condition is given", shown(in.ID)).
			WithHint("give exit, ready, log, port or idle_ms")
	case in.Port < 0 || in.Port > 65535:
		return api.Errorf(api.CodeInvalid, "wait for port %d: it must be 1 to 65535", in.Port)
	case in.IdleMS < 0 || in.TimeoutMS < 0:
		return api.Errorf(api.CodeInvalid, "wait for %s: idle_ms and timeout_ms cannot be negative", shown(in.ID))
	}
	return nil
}

func (h *host) lookOut(ctx context.Context, l *lookout, rec persist.Record, timeout time.Duration) (api.ProcessWaitOutput, error) {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	l.changed = time.Now()
	for gap := waitGap; ; gap = min(gap*5/4, waitSlow) {
		out, done, err := h.look(ctx, l, rec)
		if done || err != nil {
			return out, err
		}
		select {
		case <-time.After(gap):
		case <-deadline.C:
			return out, nil
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
}

// look looks once. done is set when a condition holds or none can any more.
func (h *host) look(ctx context.Context, l *lookout, rec persist.Record) (out api.ProcessWaitOutput, done bool, err error) {
	runs := 0
	err = withProc(ctx, h, l.in.ID, func(p *proc) error {
		out.Process, runs = h.control.current(p), p.runs
		return nil
	})
	if err != nil {
		return out, false, err
	}
	ended := out.Process.State.Ended()
	met, line, err := h.met(ctx, l, rec, out.Process)
	switch {
	case err != nil:
		return out, false, err
	case met != "":
		out.Met, out.Line = met, line
		return out, true, nil
	case l.in.Exit && (ended || runs > l.runs || out.Process.State == api.StateBackoff):
		out.Met = "exit"
		return out, true, nil
	}
	return out, ended, nil
}

// met names the condition beside exit that holds now.
func (h *host) met(ctx context.Context, l *lookout, rec persist.Record, p api.Process) (met, line string, err error) {
	if l.in.Ready && ready(p) {
		return "ready", "", nil
	}
	if l.log != nil {
		line, err := l.log.next(ctx)
		if err == nil {
			return "log", line, nil
		}
		if !errors.Is(err, errNoLine) && !errors.Is(err, persist.ErrDropped) {
			return "", "", api.Errorf(api.CodeUnavailable, "read log of %s: %v", p.Name, err)
		}
	}
	if l.in.Port != 0 && dialPort(ctx, l.in.Port) == nil {
		return "port", "", nil
	}
	if l.in.IdleMS != 0 && l.idle(h.outputSize(rec, p)) {
		return "idle", "", nil
	}
	return "", "", nil
}

// ready reports whether a process runs and is ready; one without a readiness
// check is as soon as it runs.
func ready(p api.Process) bool {
	if p.State != api.StateRunning {
		return false
	}
	return p.Supervision == nil || p.Supervision.Ready == nil || *p.Supervision.Ready
}

func (l *lookout) idle(size int64) bool {
	if size != l.size {
		l.size, l.changed = size, time.Now()
	}
	return time.Since(l.changed) >= time.Duration(l.in.IdleMS)*time.Millisecond
}

// outputSize is how much a process has written so far, in all.
func (h *host) outputSize(rec persist.Record, p api.Process) int64 {
	if p.Terminal != nil {
		return p.Terminal.Bytes
	}
	size := fileSize(h.logPath(rec))
	if rec.SplitLog {
		size += fileSize(h.errorLogPath(rec))
	}
	return size
}
