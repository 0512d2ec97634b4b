package machines

import (
	"context"
	"slices"

	"tandem/engine/api"
	"tandem/panes"
)

// An Engine combines the lists and histories of the local engine with those of the machines.
type Engine struct {
	panes.Engine // the local one
	set          *Set
}

// WrapEngine combines own with the engines of the machines.
func (s *Set) WrapEngine(own panes.Engine) Engine { return Engine{own, s} }

// callMachine calls a machine. A running call fails when the machine goes offline.
func (s *Set) callMachine(ctx context.Context, name string, do func(context.Context, panes.Engine) error) error {
	s.mu.Lock()
	m, own, fleet := s.findMachine(name), s.own, s.fleet
	s.mu.Unlock()
	if m == nil {
		if reaches, ok := own.(reacher); ok && fleet != nil {
			return callOnce(ctx, reaches, name, do)
		}
		return api.Errorf(api.CodeNotFound, "%s: config.toml has no machine with this name", name)
	}
	e, live, err := m.awaitEngine(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(live, cancel)
	defer stop()
	// The machine's state explains the failure better than the call's own error.
	if err = do(ctx, e); err != nil && live.Err() != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return m.unreachableError()
	}
	return err
}

// callOnce calls a machine over a temporary connection.
func callOnce(ctx context.Context, own reacher, name string, do func(context.Context, panes.Engine) error) error {
	e, err := own.Reach(ctx, name)
	if err != nil {
		return err
	}
	if c, ok := e.(closer); ok {
		defer c.Close()
	}
	return do(ctx, e)
}

// Do calls an operation. Those on one session or process are carried out on its machine by the local
// engine.
func (e Engine) Do(ctx context.Context, operation string, effect api.Effect, in, out any) error {
	switch operation {
	case api.HistorySearch.Name:
		return e.searchHistory(ctx, in.(api.HistorySearchInput), out.(*api.HistorySearchOutput))
	case api.ProcessList.Name:
		return e.listAll(ctx, effect, in, out)
	}
	return e.Engine.Do(ctx, operation, effect, in, out)
}

// A remote calls a machine by its name.
type remote struct {
	set     *Set
	machine string
}

// Do implements api.Engine.
func (r remote) Do(ctx context.Context, operation string, effect api.Effect, in, out any) error {
	return r.set.callMachine(ctx, r.machine, func(ctx context.Context, far panes.Engine) error {
		return far.Do(ctx, operation, effect, in, out)
	})
}

// listAll lists the processes of all machines. For other machines it uses their last
// answer, and requests a new one in the background, so it waits for none of them.
func (e Engine) listAll(ctx context.Context, effect api.Effect, in, out any) error {
	if err := e.Engine.Do(ctx, api.ProcessList.Name, effect, in, out); err != nil {
		return err
	}
	answer := out.(*api.ProcessListOutput)
	e.set.mu.Lock()
	defer e.set.mu.Unlock()
	for _, m := range e.set.all {
		if m.now.State != api.MachineConnected || m.engine == nil {
			continue
		}
		answer.Processes = append(answer.Processes, m.processes...)
		if !m.fetching {
			m.fetching = true
			ctx, name := e.set.ctx, m.now.Name
			e.set.start(func() { m.fetchProcesses(ctx, name, in.(api.ProcessListInput)) })
		}
	}
	return nil
}

// fetchProcesses requests a machine's processes.
func (m *machine) fetchProcesses(ctx context.Context, machine string, in api.ProcessListInput) {
	out, err := api.ProcessList.Call(ctx, remote{m.set, machine}, in)
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	m.fetching = false
	if err != nil {
		m.processes = nil
		return
	}
	m.processes = slices.Clone(out.Processes)
	for i := range m.processes {
		api.Qualify(machine, &m.processes[i])
	}
}
