package machines

import (
	"context"
	"reflect"
	"slices"

	"tandem/engine/api"
	"tandem/panes"
)

// An Engine combines the local engine with those of the machines. A call goes to the
// machine that its input names.
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

// Attach attaches to a session.
func (e Engine) Attach(ctx context.Context, o api.AttachOptions) (a panes.Attachment, err error) {
	name, id := api.MachineOf(o.ID)
	if name == "" {
		return e.Engine.Attach(ctx, o)
	}
	o.ID = id
	err = e.set.callMachine(ctx, name, func(ctx context.Context, far panes.Engine) (err error) {
		a, err = far.Attach(ctx, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return attachment{a, name}, nil
}

// An attachment is attached to a session on a machine.
type attachment struct {
	panes.Attachment
	machine string
}

// Receive returns the next output. Its ids have the machine's name.
func (a attachment) Receive() (api.Output, error) {
	out, err := a.Attachment.Receive()
	out.Ended = qualifiedCopy(a.machine, out.Ended)
	return out, err
}

// Do calls an operation on the machine that its input names.
func (e Engine) Do(ctx context.Context, operation string, effect api.Effect, in, out any) error {
	name, in, err := unqualifyInput(operation, in)
	switch {
	case err != nil:
		return err
	case name != "":
		err := remote{e.set, name}.Do(ctx, operation, effect, in, out)
		if err == nil {
			qualifyOutput(name, out)
		}
		return err
	case operation == api.HistorySearch.Name:
		return e.searchHistory(ctx, in.(api.HistorySearchInput), out.(*api.HistorySearchOutput))
	case operation == api.ProcessList.Name:
		return e.listAll(ctx, effect, in, out)
	}
	return e.Engine.Do(ctx, operation, effect, in, out)
}

// unqualifyInput returns the machine named in an operation's input, "" for the local one, and the
// input for the engine there. The operation's row tells where the names are.
func unqualifyInput(operation string, in any) (machine string, input any, err error) {
	row, ok := api.Find(operation)
	if !ok || reflect.TypeOf(in) != row.In {
		return "", in, nil
	}
	pointer := reflect.New(row.In)
	pointer.Elem().Set(reflect.ValueOf(in))
	for i, id := range row.RoutingIDs(pointer.Interface()) {
		name, rest := api.MachineOf(*id)
		if i > 0 && name != machine {
			return "", in, api.Errorf(api.CodeInvalid, "call %s: must name sessions and processes of one machine", operation)
		}
		machine, *id = name, rest
	}
	if host := row.Host(pointer.Interface()); host != nil && *host != "" {
		machine, *host = *host, ""
	}
	row.Adapt(pointer.Interface(), machine)
	return machine, pointer.Elem().Interface(), nil
}

// qualifyOutput adds the machine's name to the ids in its answer.
func qualifyOutput(machine string, out any) {
	switch out := out.(type) {
	case *api.Process:
		qualifyProcess(machine, out)
	case *api.ProcessLogOutput:
		out.Process = qualifiedCopy(machine, out.Process)
	case *api.ProcessWaitOutput:
		qualifyProcess(machine, &out.Process)
	case *api.SessionWaitOutput:
		qualifyProcess(machine, &out.Process)
	case *api.AgentWaitOutput:
		out.Process = qualifiedCopy(machine, out.Process)
	case *api.ExecOutput:
		qualifyProcess(machine, &out.Process)
	case *api.SessionRestoreOutput:
		for i := range out.Restored {
			qualifyProcess(machine, &out.Restored[i].Process)
		}
		for i := range out.Failed {
			out.Failed[i].ID = api.OnMachine(machine, out.Failed[i].ID)
		}
	case *api.AgentExplainOutput:
		out.Session = api.OnMachine(machine, out.Session)
	case *api.Request:
		out.ID = api.OnMachine(machine, out.ID)
	case *api.FileJob:
		out.ID = api.OnMachine(machine, out.ID)
	case *api.HistorySearchOutput:
		for i := range out.Rows {
			row := &out.Rows[i]
			row.Host, row.Process = machine, api.OnMachine(machine, row.Process)
		}
	}
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
		qualifyProcess(machine, &m.processes[i])
	}
}
