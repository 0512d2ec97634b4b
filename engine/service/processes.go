package service

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/engine/api/qualify"
	"tandem/engine/api/server"
	"tandem/engine/base/names"
	"tandem/engine/control/supervise"
	"tandem/engine/control/usage"
	"tandem/engine/record/kept"
	"tandem/engine/record/logs"
	"tandem/engine/remote/all"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

// Processes serves the operations on processes.
type Processes struct {
	Control *supervise.Control
	Guard   *access.Guard
	Starter *Starter
	Store   *store.Store
	Logs    *logs.Logs
	Usage   *usage.Meter
	Pipes   *PipeShells
	Log     *slog.Logger
	Others  *all.Machines

	// StopRemains stops the programs that exited children left running. It returns how many of the
	// records had left any.
	StopRemains func(ctx context.Context, records []store.Record, signal string) (int, error)

	// OpenCheck returns the name of the first readiness check that still fails, or "" if none does.
	OpenCheck func(id string) string
	Kept      *kept.Output // nil if no output is kept
}

// Handle registers the operations.
func (s *Processes) Handle(m *server.Mux) {
	server.Handle(m, api.ProcessStart, s.startProcess)
	server.Handle(m, api.ProcessList, func(ctx context.Context, in api.ProcessListInput) (api.ProcessListOutput, error) {
		return s.Others.Processes(ctx, in, s.listProcesses)
	})
	server.Handle(m, api.ProcessGet, s.getProcess)
	server.Handle(m, api.ProcessStop, s.stopProcess)
	server.Handle(m, api.ProcessStopAll, s.stopAll)
	server.Handle(m, api.ProcessRestart, s.restartProcess)
	server.Handle(m, api.ProcessSignal, s.signalProcess)
	server.Handle(m, api.ProcessLog, s.readProcessLog)
	server.Handle(m, api.ProcessLogs, s.readProcessLogs)
	server.Handle(m, api.ProcessWait, s.waitForProcess)
	server.Handle(m, api.ProcessUpdate, s.updateProcess)
	server.Handle(m, api.ProcessRemove, s.removeProcess)
	server.Handle(m, api.ProcessWrite, s.writeStdin)
}

func (s *Processes) startProcess(ctx context.Context, in api.ProcessStartInput) (api.Process, error) {
	in.Env = s.Starter.Env.withClientVariables(ctx, in.Env)
	rec, err := s.Starter.processRecord(in)
	if err != nil {
		return api.Process{}, err
	}
	return s.Starter.startAndWait(ctx, rec, request{id: in.ID, named: in.Name != "", private: in.Private, lease: in.Lease, sandbox: in.Sandbox})
}

func (s *Processes) listProcesses(ctx context.Context, in api.ProcessListInput) (api.ProcessListOutput, error) {
	if in.Metrics {
		updateNeeds(ctx, s.Control)
	}
	all, err := s.Control.Measurables(ctx)
	if err != nil {
		return api.ProcessListOutput{}, err
	}
	if in.Metrics {
		s.Usage.Measure(all)
	}
	out := api.ProcessListOutput{Processes: make([]api.Process, len(all))}
	for i, m := range all {
		out.Processes[i] = m.View
	}
	return out, nil
}

func (s *Processes) getProcess(ctx context.Context, in api.IDInput) (api.Process, error) {
	e, err := s.Control.FindEntry(ctx, in.ID)
	if err != nil {
		t, err := findKept(ctx, s.Kept, in.ID, err)
		return t.Process, err
	}
	return s.Usage.MeasureOne(e), nil
}

func (s *Processes) stopProcess(ctx context.Context, in api.ProcessStopInput) (api.Process, error) {
	if in.Signal != "" {
		if _, err := proctree.ParseSignal(in.Signal); err != nil {
			return api.Process{}, err
		}
	}
	if in.TimeoutMS < 0 {
		return api.Process{}, api.Errorf(api.CodeInvalid, "stop process: timeout_ms cannot be negative")
	}
	p, err := s.Control.StopProcess(ctx, changeRequest(ctx, in.ID, "stop"), in.Signal, in.TimeoutMS)
	// Its background jobs may still be running.
	if errors.Is(err, api.CodeEnded) {
		return s.stopRemains(ctx, in, err)
	}
	return p, err
}

func (s *Processes) stopAll(ctx context.Context, in api.ProcessStopAllInput) (api.ProcessStopAllOutput, error) {
	out := api.ProcessStopAllOutput{Stopped: []api.Process{}}
	if in.Signal != "" {
		if _, err := proctree.ParseSignal(in.Signal); err != nil {
			return out, err
		}
	}
	s.Log.Info("request", "event", "stop all", "sessions", in.Sessions, "by", api.CallerOf(ctx).Name)
	inside, err := s.idsInSandbox(ctx)
	if err != nil {
		return out, err
	}
	var locked error
	owner := api.CallerOf(ctx).Owner
	wanted := func(p api.Process) bool {
		if p.Terminal != nil && !in.Sessions {
			return false
		}
		if in.Own && (owner == "" || p.Owner == nil || p.Owner.Client != owner) || inside != nil && !inside[p.ID] {
			out.Others = append(out.Others, p)
			return false
		}
		err := access.MayChange(ctx, p, "stop")
		// The other processes are stopped even if a session is locked.
		locked = errors.Join(locked, err)
		return err == nil
	}
	stopped, failed := s.Control.StopSome(ctx, api.CallerOf(ctx).Actor(), in.Signal, wanted)
	ended, failedRemains := s.stopAllRemains(ctx, in.Signal, wanted)
	out.Stopped = slices.Concat(out.Stopped, stopped, ended)
	failed = errors.Join(locked, failed, failedRemains)
	switch {
	case errors.Is(failed, api.CodeLocked):
		return out, api.Errorf(api.CodeLocked, "%v", failed).WithHint("all others were stopped")
	case failed != nil:
		return out, api.Errorf(api.CodeConflict, "stop all: %v", failed)
	}
	return out, nil
}

// idsInSandbox returns the processes that run in the sandboxes set for the caller, or nil if the
// caller has none.
func (s *Processes) idsInSandbox(ctx context.Context) (map[string]bool, error) {
	if len(api.CallerOf(ctx).Sandboxes()) == 0 {
		return nil, nil
	}
	all, err := s.Control.ListProcesses(ctx)
	inside := map[string]bool{}
	for _, p := range all {
		inside[p.ID] = !s.Guard.LeavesSandbox(ctx, p.ID)
	}
	return inside, err
}

func (s *Processes) restartProcess(ctx context.Context, in api.ProcessRestartInput) (api.Process, error) {
	after, err := supervise.DependenciesOf(in.After)
	if err != nil {
		return api.Process{}, err
	}
	if err := s.mayStartAgain(ctx, &in.ID, true); err != nil {
		return api.Process{}, err
	}
	return s.Control.RestartProcess(ctx, changeRequest(ctx, in.ID, "restart"), after, in.RestartID)
}

func (s *Processes) signalProcess(ctx context.Context, in api.ProcessSignalInput) (api.Empty, error) {
	number, err := proctree.ParseSignal(in.Signal)
	if err != nil {
		return api.Empty{}, err
	}
	// A signal can make a program start another one, so the caller needs the access required for a
	// restart.
	if err := s.mayStartAgain(ctx, &in.ID, false); err != nil {
		return api.Empty{}, err
	}
	e, err := s.Control.FindEntry(ctx, in.ID)
	if err != nil {
		return api.Empty{}, err
	}
	if e.Child.PID == 0 {
		return api.Empty{}, api.Errorf(api.CodeEnded, "send signal to %s: it is not running", e.Rec.Name)
	}
	if err := access.MayChange(ctx, e.View, "signal"); err != nil {
		return api.Empty{}, err
	}
	s.Log.Info("request", "event", "signal", "id", in.ID, "signal", number, "by", api.CallerOf(ctx).Name)
	return api.Empty{}, proctree.SignalGroup(e.Child, number)
}

func (s *Processes) updateProcess(ctx context.Context, in api.ProcessUpdateInput) (api.Process, error) {
	if in.Name != nil {
		if err := api.Invalid(names.Check(*in.Name)); err != nil {
			return api.Process{}, err
		}
	}
	if in.LogLimit != nil && *in.LogLimit < 0 {
		return api.Process{}, api.Errorf(api.CodeInvalid, "update process: log_limit cannot be negative")
	}
	u := supervise.Update{KeepAlive: in.KeepAlive, Name: in.Name, LogLimit: in.LogLimit, Revision: in.Revision}
	if u.LogLimit != nil {
		most := min(*in.LogLimit, maxLogLimit)
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
		if err := s.mayStartAgain(ctx, &in.ID, true); err != nil {
			return api.Process{}, err
		}
	}
	return s.Control.UpdateProcess(ctx, changeRequest(ctx, in.ID, "update"), u)
}

// mayStartAgain rejects the restart of a process that runs outside its caller's sandbox. It
// replaces id with the full id, so that the restart cannot hit another process than was checked.
func (s *Processes) mayStartAgain(ctx context.Context, id *string, asks bool) error {
	if len(api.CallerOf(ctx).Sandboxes()) == 0 {
		return nil
	}
	e, err := s.Control.FindStarting(ctx, *id)
	if err != nil {
		return err
	}
	*id = e.Rec.ID
	return s.Guard.MayStartAgain(ctx, e.Rec, asks)
}

func (s *Processes) removeProcess(ctx context.Context, in api.IDInput) (api.Empty, error) {
	e, err := s.Control.FindEntry(ctx, in.ID)
	if err != nil {
		return api.Empty{}, s.removeKept(ctx, in.ID, err)
	}
	if view := s.Usage.MeasureOne(e); view.HasRemains() {
		return api.Empty{}, supervise.ErrRunning(e.Rec)
	}
	_, err = s.Control.RemoveProcess(ctx, changeRequest(ctx, e.Rec.ID, "remove"))
	if err == nil && s.Kept != nil {
		_, err = s.Kept.Remove(e.Rec.ID) // the engine may have begun to keep it just before
	}
	return api.Empty{}, err
}

// stopAllRemains stops the programs that exited processes left running, and returns these
// processes. wanted selects the processes.
func (s *Processes) stopAllRemains(ctx context.Context, signal string, wanted func(api.Process) bool) (ended []api.Process, _ error) {
	all, err := s.Control.Measurables(ctx)
	if err != nil {
		return nil, err
	}
	s.Usage.Measure(all)
	var records []store.Record
	for _, m := range all {
		if !m.View.HasRemains() || !wanted(m.View) {
			continue
		}
		// One removed meanwhile had nothing left.
		if e, err := s.Control.EntryByID(ctx, m.View.ID); err == nil {
			ended, records = append(ended, e.View), append(records, e.Rec)
		}
	}
	_, err = s.StopRemains(ctx, records, signal)
	return ended, err
}

// stopRemains stops the programs that an exited process left running. If there are none, it returns
// ended, the error for stopping an exited process.
func (s *Processes) stopRemains(ctx context.Context, in api.ProcessStopInput, ended error) (api.Process, error) {
	e, err := s.Control.FindEntry(ctx, in.ID)
	if err != nil {
		return api.Process{}, err
	}
	record := e.Rec
	if in.TimeoutMS > 0 {
		record.StopTimeoutMS = in.TimeoutMS
	}
	switch n, err := s.StopRemains(ctx, []store.Record{record}, in.Signal); {
	case err != nil:
		return api.Process{}, err
	case n == 0:
		return api.Process{}, ended
	}
	return e.View, nil
}

func (s *Processes) readProcessLog(ctx context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
	out, err := readLog(ctx, s.Control, s.Logs, in)
	if errors.Is(err, api.CodeNotFound) || err == nil && out.State.Ended() && out.Process == nil { // or just removed
		return s.readKept(ctx, in, out, err)
	}
	return out, err
}

func (s *Processes) readProcessLogs(ctx context.Context, in api.ProcessLogsInput) (api.ProcessLogsOutput, error) {
	return logmerge.Read(ctx, logReads{s}, in)
}

// logReads makes the calls for logmerge.Read, on this machine or another.
type logReads struct{ *Processes }

// Do implements api.Engine. It calls the machine on which the process runs.
func (r logReads) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	switch in := in.(type) {
	case api.IDInput:
		if machine, id := api.MachineOf(in.ID); machine != "" {
			return r.callOn(ctx, machine, name, effect, api.IDInput{ID: id}, out)
		}
		e, err := r.Control.FindEntry(ctx, in.ID)
		if *out.(*api.Process) = e.View; err != nil {
			t, err := findKept(ctx, r.Kept, in.ID, err)
			*out.(*api.Process) = t.Process
			return err
		}
		return nil
	case api.ProcessLogInput:
		machine, id := api.MachineOf(in.ID)
		if in.ID = id; machine != "" {
			return r.callOn(ctx, machine, name, effect, in, out)
		}
		read, err := r.readProcessLog(ctx, in)
		*out.(*api.ProcessLogOutput) = read
		return err
	}
	return api.Errorf(api.CodeInternal, "merge logs: unexpected call %s", name)
}

// callOn calls another machine.
func (r logReads) callOn(ctx context.Context, machine, name string, effect api.Effect, in, out any) error {
	err := r.Others.Call(ctx, machine, name, effect, in, out)
	if err == nil {
		qualify.Output(machine, out)
	}
	return err
}

func readLog(ctx context.Context, c *supervise.Control, l *logs.Logs, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
	e, err := c.FindEntry(ctx, in.ID)
	if err != nil {
		return api.ProcessLogOutput{}, err
	}
	out, err := l.Read(ctx, in, e.Source())
	if err != nil || !out.State.Ended() {
		return out, err
	}
	if e, err = c.EntryByID(ctx, e.Rec.ID); err == nil {
		out.Process = &e.View
	}
	return out, nil // without the process if it was removed meanwhile
}
