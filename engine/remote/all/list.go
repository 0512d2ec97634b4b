package all

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/qualify"
	"tandem/engine/base/panics"
)

// maxRowsAge is how old the last known processes of a machine may be.
const maxRowsAge = 10 * time.Second

// knownRows are the processes of a machine as it last listed them.
type knownRows struct {
	processes []api.Process
	at        time.Time
	fetching  bool
}

// Processes returns the processes of this machine, which the function local lists, and those of
// other machines.
func (s *Machines) Processes(ctx context.Context, in api.ProcessListInput, local func(context.Context, api.ProcessListInput) (api.ProcessListOutput, error)) (out api.ProcessListOutput, err error) {
	hosts, known := in.Hosts, in.Machines
	in.Hosts, in.Machines = nil, false
	if len(hosts) == 0 && !known {
		return local(ctx, in)
	}
	key, err := s.callerOf(ctx, "")
	if err != nil {
		return out, err
	}
	out.Processes = []api.Process{}
	if len(hosts) == 0 || slices.Contains(hosts, "") {
		if out, err = local(ctx, in); err != nil {
			return out, err
		}
	}
	if known {
		out.Processes = append(out.Processes, s.listKnown(ctx, key, in)...)
		return out, nil
	}
	for _, a := range askAll(ctx, s, key, hosts, api.ProcessList, in) {
		out.Processes = append(out.Processes, a.out.Processes...)
		if a.err != nil {
			out.Missing = append(out.Missing, api.HostErrorOf(a.host, a.err))
		}
	}
	return out, ctx.Err()
}

// listKnown returns the last known processes of all connected machines, and requests new ones.
func (s *Machines) listKnown(ctx context.Context, key caller, in api.ProcessListInput) (all []api.Process) {
	machines := s.List(ctx).Machines
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.rows, func(_ caller, rows *knownRows) bool { return !rows.fetching && time.Since(rows.at) >= maxRowsAge })
	for _, m := range machines {
		from := caller{m.Name, key.by, key.agent}
		rows := s.rows[from]
		if m.State != api.MachineConnected {
			continue
		}
		if rows == nil {
			rows = &knownRows{}
			s.rows[from] = rows
		}
		if time.Since(rows.at) < maxRowsAge {
			all = append(all, rows.processes...)
		}
		if !rows.fetching {
			rows.fetching = true
			s.running.Go(panics.Logged(s.Log, "processes of a machine", func() { s.fetchRows(from, in, rows) }))
		}
	}
	return all
}

// fetchRows requests a machine's processes.
func (s *Machines) fetchRows(key caller, in api.ProcessListInput, rows *knownRows) {
	var out api.ProcessListOutput
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		*rows = knownRows{processes: out.Processes, at: time.Now()}
	}()
	if err := s.call(s.ctx, key, api.ProcessList.Name, api.Read, in, &out); err != nil {
		out.Processes = nil // the machine's state says why
	}
	qualify.Output(key.machine, &out)
}

// An answer is the output of one machine.
type answer[Out any] struct {
	host string
	out  Out
	err  error
}

// askAll calls an operation on other machines at once, and waits for all answers. They are in the order
// of hosts, without this machine.
func askAll[In, Out any](ctx context.Context, s *Machines, key caller, hosts []string, op api.Operation[In, Out], in In) []answer[Out] {
	var answers []answer[Out]
	for _, host := range hosts {
		if host != "" {
			answers = append(answers, answer[Out]{host: host, err: api.Errorf(api.CodeInternal, "call %s: internal error", op.Name)})
		}
	}
	var asked sync.WaitGroup
	for i := range answers {
		a := &answers[i]
		asked.Go(panics.Logged(s.Log, "call on a machine", func() {
			a.err = s.call(ctx, caller{a.host, key.by, key.agent}, op.Name, op.Effect, in, &a.out)
			qualify.Output(a.host, &a.out)
		}))
	}
	asked.Wait()
	return answers
}
