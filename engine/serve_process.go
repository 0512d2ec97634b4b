package engine

import (
	"context"
	"errors"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/names"
	"tandem/engine/proctree"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// mostLog is a limit that no log reaches, small enough to be reckoned with.
const mostLog = 1 << 60

func (h *host) processStart(ctx context.Context, in api.ProcessStartInput) (api.Process, error) {
	in.Env = h.env.With(ctx, in.Env)
	rec, err := h.processRecord(in)
	if err == nil {
		err = own(ctx, &rec, in.Lease)
	}
	if err == nil && in.ID != "" {
		rec.ID, err = in.ID, h.claim(in.ID)
	}
	if err == nil {
		err = h.confine(&rec, access.Layers(ctx, in.Sandbox))
	}
	if err != nil {
		return api.Process{}, err
	}
	return h.startRecord(ctx, rec, in.Name != "")
}

// own makes the calling agent the owner of what it starts. What a person starts
// has none.
func own(ctx context.Context, r *store.Record, lease api.Lease) error {
	switch lease {
	case "", api.LeaseDetached, api.LeaseSession, api.LeaseForever:
	default:
		return api.Errorf(api.CodeInvalid, "lease %s: there is no such lease", names.Shown(string(lease))).
			WithHint("it is detached, session or forever")
	}
	caller := server.CallerOf(ctx)
	if !caller.Agent() {
		return nil
	}
	if names.Check(caller.Owner) != nil && !names.IsID(caller.Owner) {
		return api.Errorf(api.CodeInvalid, "start: owner %s is no name", names.Shown(caller.Owner))
	}
	if lease == "" {
		lease = api.LeaseDetached
	}
	r.Actor = caller.Actor()
	if names.Check(r.Actor) != nil {
		r.Actor = server.AgentPrefix + "unknown"
	}
	r.Owner, r.Lease = caller.Owner, string(lease)
	return nil
}

// startRecord starts a new record and answers when it runs, has ended already,
// or could not be started.
func (h *host) startRecord(ctx context.Context, rec store.Record, named bool) (api.Process, error) {
	answer, err := h.enter(ctx, rec, named, supervise.HasStarted)
	if err != nil {
		return api.Process{}, err
	}
	return answer.Wait(ctx)
}

// enter begins to start a new record. The answer comes when its announced state
// is as wanted, or it could not be started.
func (h *host) enter(ctx context.Context, rec store.Record, named bool, until func(api.State) bool) (supervise.Pending, error) {
	rec.Cgroup = h.cgroupOf(rec)
	answer, err := h.control.StartNew(ctx, rec, h.logPath(rec), named, until)
	if err == nil {
		return answer, nil
	}
	if rec.Sandboxed {
		err = errors.Join(err, h.store.Remove(rec.ID))
	}
	return answer, api.AsError(err)
}

// processRecord checks what a client asks to start and makes a record of it.
func (h *host) processRecord(in api.ProcessStartInput) (store.Record, error) {
	none := store.Record{}
	if len(in.Command) == 0 && !in.TTY {
		return none, api.Errorf(api.CodeInvalid, "start process: no command is given")
	}
	kind := api.KindProcess
	if in.TTY {
		kind = api.KindSession
	}
	r, err := h.recordOf(kind, api.SessionStartInput{
		Command: in.Command, Name: in.Name, CWD: in.CWD, Env: in.Env, Environ: in.Environ, Cols: in.Cols, Rows: in.Rows, Actor: in.Actor,
	})
	if err != nil {
		return none, err
	}
	if r.TTY = in.TTY; !in.TTY {
		r.Cols, r.Rows = 0, 0
	}
	if r.Restart, err = supervise.RestartOf(in.KeepAlive, in.Restart); err != nil {
		return none, err
	}
	if err := checkReadiness(in.Ready); err != nil {
		return none, err
	}
	if in.Ready != nil {
		ready := store.Readiness(*in.Ready)
		r.Ready = &ready
	}
	if in.StopSignal != "" {
		if _, err := proctree.ParseSignal(in.StopSignal); err != nil {
			return none, err
		}
	}
	if in.Stdin && in.TTY {
		return none, api.Errorf(api.CodeInvalid, "start process: stdin is for processes without a terminal").
			WithHint("session.write types into a terminal")
	}
	r.Stdin = in.Stdin
	if in.StopTimeoutMS < 0 || in.LogLimit < 0 {
		return none, api.Errorf(api.CodeInvalid, "start process: stop_timeout_ms and log_limit cannot be negative")
	}
	if err := setProject(&r, in.Project); err != nil {
		return none, err
	}
	r.StopSignal, r.StopTimeoutMS = in.StopSignal, in.StopTimeoutMS
	r.SplitLog, r.LogLimit, r.Transient = in.SplitLog && !in.TTY, min(in.LogLimit, mostLog), in.Transient
	return r, nil
}

func (h *host) processList(ctx context.Context, in api.ProcessListInput) (api.ProcessListOutput, error) {
	if in.Metrics {
		h.lookAtNeeds(ctx)
	}
	all, err := h.control.Measurables(ctx)
	if err != nil {
		return api.ProcessListOutput{}, err
	}
	if in.Metrics {
		h.measure(all)
	}
	out := api.ProcessListOutput{Processes: make([]api.Process, len(all))}
	for i, m := range all {
		out.Processes[i] = m.View
	}
	return out, nil
}

// measure adds what processes use; those without a child use nothing.
func (h *host) measure(all []supervise.Measurable) {
	ids := make([]store.Identity, len(all))
	for i, m := range all {
		ids[i] = m.Who
	}
	strays := func(procs []proctree.Process) map[int]store.Identity { return h.strays(all, procs) }
	for i, use := range h.meter.Measure(ids, strays) {
		all[i].View.Metrics = use
	}
}

// strays are the orphans that carry the marks of processes, with the children
// of those. Like the end of a terminal, its metrics leave alone what has left it
// for good.
func (h *host) strays(all []supervise.Measurable, procs []proctree.Process) map[int]store.Identity {
	marked := h.table.Orphans(procs)
	strays := make(map[int]store.Identity)
	for _, m := range all {
		if m.Who.PID == 0 || m.View.Terminal != nil {
			continue
		}
		for _, pid := range marked[proctree.Mark{ID: m.View.ID, DataDir: h.o.DataDir}] {
			strays[pid] = m.Who
		}
	}
	return strays
}

func (h *host) processGet(ctx context.Context, in api.IDInput) (api.Process, error) {
	e, err := h.control.Entry(ctx, in.ID)
	if err != nil {
		return api.Process{}, err
	}
	one := []supervise.Measurable{supervise.MeasurableOf(e.Rec, e.View)}
	h.measure(one)
	return one[0].View, nil
}

func (h *host) processStop(ctx context.Context, in api.ProcessStopInput) (api.Process, error) {
	if in.Signal != "" {
		if _, err := proctree.ParseSignal(in.Signal); err != nil {
			return api.Process{}, err
		}
	}
	if in.TimeoutMS < 0 {
		return api.Process{}, api.Errorf(api.CodeInvalid, "stop process: timeout_ms cannot be negative")
	}
	p, err := h.control.StopProcess(ctx, asked(ctx, in.ID, "end"), in.Signal, in.TimeoutMS)
	if errors.Is(err, api.CodeEnded) {
		return h.stopRemains(ctx, in, err)
	}
	return p, err
}

func (h *host) processStopAll(ctx context.Context, in api.ProcessStopAllInput) (api.ProcessStopAllOutput, error) {
	out := api.ProcessStopAllOutput{Stopped: []api.Process{}}
	if in.Signal != "" {
		if _, err := proctree.ParseSignal(in.Signal); err != nil {
			return out, err
		}
	}
	h.log.Info("request", "event", "stop all", "sessions", in.Sessions, "by", server.CallerOf(ctx).Name)
	var locked error
	stopped, failed := h.control.StopSome(ctx, in.Signal, func(p api.Process) bool {
		if p.Terminal != nil && !in.Sessions {
			return false
		}
		err := access.MayChange(ctx, p, "end")
		locked = errors.Join(locked, err)
		return err == nil
	})
	out.Stopped = append(out.Stopped, stopped...)
	failed = errors.Join(locked, failed)
	switch {
	case errors.Is(failed, api.CodeLocked):
		return out, api.Errorf(api.CodeLocked, "%v", failed).WithHint("all others were ended")
	case failed != nil:
		return out, api.Errorf(api.CodeConflict, "stop all: %v", failed)
	}
	return out, nil
}
func (h *host) processRestart(ctx context.Context, in api.IDInput) (api.Process, error) {
	if err := h.mayStartAgain(ctx, &in.ID, true); err != nil {
		return api.Process{}, err
	}
	p, err := h.control.RestartProcess(ctx, asked(ctx, in.ID, "restart"))
	if err == nil {
		h.history.StartedAgain(p)
	}
	return p, err
}

func (h *host) processSignal(ctx context.Context, in api.ProcessSignalInput) (api.Empty, error) {
	number, err := proctree.ParseSignal(in.Signal)
	if err != nil {
		return api.Empty{}, err
	}
	if err := h.mayStartAgain(ctx, &in.ID, false); err != nil {
		return api.Empty{}, err
	}
	e, err := h.control.Entry(ctx, in.ID)
	if err != nil {
		return api.Empty{}, err
	}
	if e.Child.PID == 0 {
		return api.Empty{}, api.Errorf(api.CodeEnded, "send signal to %s: it does not run", e.Rec.Name)
	}
	if err := access.MayChange(ctx, e.View, "signal"); err != nil {
		return api.Empty{}, err
	}
	h.log.Info("request", "event", "signal", "id", in.ID, "signal", number, "by", server.CallerOf(ctx).Name)
	return api.Empty{}, proctree.SignalGroup(e.Child, number)
}

func (h *host) processUpdate(ctx context.Context, in api.ProcessUpdateInput) (api.Process, error) {
	if in.Name != nil {
		if err := names.Check(*in.Name); err != nil {
			return api.Process{}, err
		}
	}
	if in.LogLimit != nil && *in.LogLimit < 0 {
		return api.Process{}, api.Errorf(api.CodeInvalid, "update process: log_limit cannot be negative")
	}
	u := supervise.Update{KeepAlive: in.KeepAlive, Name: in.Name, LogLimit: in.LogLimit}
	if u.LogLimit != nil {
		most := min(*in.LogLimit, mostLog)
		u.LogLimit = &most
	}
	if in.Restart != nil {
		restart, err := supervise.RestartOf(false, in.Restart)
		if err != nil {
			return api.Process{}, err
		}
		u.Restart = &restart
	}
	if in.Restart != nil || in.KeepAlive != nil {
		if err := h.mayStartAgain(ctx, &in.ID, true); err != nil {
			return api.Process{}, err
		}
	}
	return h.control.UpdateProcess(ctx, asked(ctx, in.ID, "update"), u)
}

// mayStartAgain refuses a caller with a sandbox what has something outside it started
// again. id is completed, so that what was looked at is what is started.
func (h *host) mayStartAgain(ctx context.Context, id *string, asks bool) error {
	if server.CallerOf(ctx).Bounds.Sandbox == nil {
		return nil
	}
	e, err := h.control.EntryToStart(ctx, *id)
	if err != nil {
		return err
	}
	*id = e.Rec.ID
	return h.guard.MayStartAgain(ctx, e.Rec, asks)
}
