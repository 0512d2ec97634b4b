package cli

import (
	"context"
	"slices"
	"strings"
	"sync"

	"tandem/engine/api"
	"tandem/engine/api/server"
)

// fakeProcesses is the part of the fake engine that handles processes.
type fakeProcesses struct {
	mu        sync.Mutex
	processes []api.Process
	starts    []api.ProcessStartInput
	stops     []api.ProcessStopInput
	onStop    func() // called with each stop; may be nil
	signalled []api.ProcessSignalInput
	logCalls  []api.ProcessLogInput
	waits     []api.ProcessWaitInput
	execs     []api.ExecInput
	variables []api.EnvVar
	start     api.Process
	loseNext  bool         // fail the next start with a lost engine
	current   *api.Process // answer of process.get; nil for a process with just a name
	execution api.ExecOutput
	execute   func(context.Context, api.ExecInput) (api.ExecOutput, error) // instead of execution; may be nil
	events    chan api.Event                                               // sent by events.watch after the snapshot; their processes are added to processes
	log       func(api.ProcessLogInput) (api.ProcessLogOutput, error)
	wait      func(api.ProcessWaitInput) (api.ProcessWaitOutput, error)
	searches  []api.OutputSearchInput
	found     []api.OutputSearchOutput // answers of output.search, in order
}

func (r *rig) handleProcesses(mux *server.Mux) {
	server.Handle(mux, api.ProcessStart, func(_ context.Context, in api.ProcessStartInput) (api.Process, error) {
		r.starts = append(r.starts, in)
		return r.start, r.failOnce()
	})
	server.Handle(mux, api.ProcessList, func(context.Context, api.ProcessListInput) (api.ProcessListOutput, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return api.ProcessListOutput{Processes: r.processes}, nil
	})
	server.Handle(mux, api.ProcessGet, func(_ context.Context, in api.IDInput) (api.Process, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.current != nil {
			return *r.current, nil
		}
		for _, p := range r.processes {
			if in.ID == p.ID || in.ID == p.Name {
				return p, nil
			}
		}
		return api.Process{ID: "id-of-" + in.ID, Name: in.ID}, r.find(in.ID)
	})
	server.Handle(mux, api.ProcessStop, func(_ context.Context, in api.ProcessStopInput) (api.Process, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.stops = append(r.stops, in)
		if r.onStop != nil {
			r.onStop()
		}
		return api.Process{Name: in.ID, State: api.StateStopped, ExitSignal: "SIGTERM"}, r.find(in.ID)
	})
	server.Handle(mux, api.ProcessStopAll, func(_ context.Context, in api.ProcessStopAllInput) (api.ProcessStopAllOutput, error) {
		r.stops = append(r.stops, api.ProcessStopInput{ID: "*", Signal: in.Signal})
		return api.ProcessStopAllOutput{Stopped: r.processes}, nil
	})
	server.Handle(mux, api.ProcessRestart, func(_ context.Context, in api.ProcessRestartInput) (api.Process, error) {
		return api.Process{Name: in.ID, State: api.StateRunning}, r.find(in.ID)
	})
	server.Handle(mux, api.ProcessSignal, func(_ context.Context, in api.ProcessSignalInput) (api.Empty, error) {
		r.signalled = append(r.signalled, in)
		return api.Empty{}, r.find(in.ID)
	})
	server.Handle(mux, api.ProcessLog, func(_ context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.logCalls = append(r.logCalls, in)
		return r.log(in)
	})
	server.Handle(mux, api.OutputSearch, func(_ context.Context, in api.OutputSearchInput) (api.OutputSearchOutput, error) {
		r.searches = append(r.searches, in)
		return r.found[len(r.searches)-1], nil
	})
	server.Handle(mux, api.ProcessWait, func(_ context.Context, in api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
		r.waits = append(r.waits, in)
		return r.wait(in)
	})
	server.Handle(mux, api.Exec, func(ctx context.Context, in api.ExecInput) (api.ExecOutput, error) {
		r.execs = append(r.execs, in)
		if r.execute != nil {
			return r.execute(ctx, in)
		}
		return r.execution, r.failOnce()
	})
	mux.HandleWatch(func(ctx context.Context, _ api.WatchInput, send func(api.Event) error) error {
		r.mu.Lock()
		list := r.processes
		r.mu.Unlock()
		if err := send(api.Event{Type: api.EventSnapshot, Processes: list}); err != nil {
			return err
		}
		for {
			select {
			case e := <-r.events:
				if e.Process != nil {
					r.mu.Lock()
					r.processes = append(slices.Clone(r.processes), *e.Process)
					r.mu.Unlock()
				}
				if err := send(e); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	r.handleEnv(mux)
}

func (r *rig) failOnce() error {
	if r.loseNext {
		r.loseNext = false
		return api.ErrEnding()
	}
	return nil
}

func (r *rig) handleEnv(mux *server.Mux) {
	shown := func(v api.EnvVar, reveal bool) api.EnvVar {
		if v.Redacted = strings.Contains(v.Name, "KEY") && !reveal; v.Redacted {
			v.Value = ""
		}
		return v
	}
	server.Handle(mux, api.EnvSet, func(_ context.Context, in api.EnvSetInput) (api.Empty, error) {
		r.variables = append(r.variables, api.EnvVar{Name: in.Name, Value: in.Value})
		return api.Empty{}, nil
	})
	server.Handle(mux, api.EnvUnset, func(_ context.Context, in api.EnvInput) (api.Empty, error) {
		for i, v := range r.variables {
			if v.Name == in.Name {
				r.variables = append(r.variables[:i], r.variables[i+1:]...)
				return api.Empty{}, nil
			}
		}
		return api.Empty{}, api.Errorf(api.CodeNotFound, "unset variable %s: it is not set", in.Name)
	})
	server.Handle(mux, api.EnvGet, func(_ context.Context, in api.EnvInput) (api.EnvVar, error) {
		for _, v := range r.variables {
			if v.Name == in.Name {
				return shown(v, in.Reveal), nil
			}
		}
		return api.EnvVar{}, api.Errorf(api.CodeNotFound, "get variable %s: it is not set", in.Name)
	})
	server.Handle(mux, api.EnvList, func(_ context.Context, in api.EnvListInput) (api.EnvListOutput, error) {
		var out api.EnvListOutput
		for _, v := range r.variables {
			out.Variables = append(out.Variables, shown(v, in.Reveal))
		}
		return out, nil
	})
}

// logOf returns a handler of process.log that serves text page by page, with the process in the
// given state.
func logOf(text string, state api.State) func(api.ProcessLogInput) (api.ProcessLogOutput, error) {
	return func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		end := int64(len(text))
		start := int64(0)
		switch {
		case in.Since != nil && *in.Since < 0:
			start = max(end+*in.Since, 0)
		case in.Since != nil:
			start = min(*in.Since, end)
		case in.Tail > 0:
			lines := strings.SplitAfter(text, "\n")
			if n := len(lines); lines[n-1] == "" {
				lines = lines[:n-1]
			}
			start = end - int64(len(strings.Join(lines[max(len(lines)-in.Tail, 0):], "")))
		}
		next := min(end, start+int64(in.Max))
		return api.ProcessLogOutput{Data: text[start:next], Start: start, NextCursor: next, End: end, State: state}, nil
	}
}
