package machines

import (
	"context"
	"reflect"
	"slices"

	"tandem/engine/api"
	"tandem/panes"
)

// An Engine is the own engine and those of the machines: what is named on one of
// them is done there.
type Engine struct {
	panes.Engine // the own one
	set          *Set
}

// Over is the own engine and those of the machines.
func (s *Set) Over(own panes.Engine) Engine { return Engine{own, s} }

// on has something done on a machine. What is under way when that goes away fails.
func (s *Set) on(ctx context.Context, name string, do func(context.Context, panes.Engine) error) error {
	s.mu.Lock()
	m, own, fleet := s.find(name), s.through, s.fleet
	s.mu.Unlock()
	if m == nil {
		if reaches, ok := own.(reacher); ok && fleet != nil {
			return once(ctx, reaches, name, do)
		}
		return api.Errorf(api.CodeNotFound, "%s: config.toml has no machine with this name", name)
	}
	e, live, err := m.at(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(live, cancel)
	defer stop()
	if err = do(ctx, e); err != nil && live.Err() != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return m.unreachable()
	}
	return err
}

// once has something done over a connection of its own.
func once(ctx context.Context, own reacher, name string, do func(context.Context, panes.Engine) error) error {
	e, err := own.Reach(ctx, name)
	if err != nil {
		return err
	}
	if c, ok := e.(closer); ok {
		defer c.Close()
	}
	return do(ctx, e)
}

// Attach shows a session.
func (e Engine) Attach(ctx context.Context, o api.AttachOptions) (a panes.Attachment, err error) {
	name, id := api.MachineOf(o.ID)
	if name == "" {
		return e.Engine.Attach(ctx, o)
	}
	o.ID = id
	err = e.set.on(ctx, name, func(ctx context.Context, far panes.Engine) (err error) {
		a, err = far.Attach(ctx, o)
		return err
	})
	return a, err
}

// Do carries out an operation where what it is about is.
func (e Engine) Do(ctx context.Context, operation string, effect api.Effect, in, out any) error {
	name, in := there(in)
	switch {
	case name != "":
		err := e.set.on(ctx, name, func(ctx context.Context, far panes.Engine) error {
			return far.Do(ctx, operation, effect, in, out)
		})
		if err == nil {
			here(name, out)
		}
		return err
	case operation == api.HistorySearch.Name:
		return e.search(ctx, in.(api.HistorySearchInput), out.(*api.HistorySearchOutput))
	case operation == api.ProcessList.Name:
		return e.listAll(ctx, effect, in, out)
	}
	return e.Engine.Do(ctx, operation, effect, in, out)
}

// there is which machine the input of an operation names, "" for the own one, and
// the input as that machine understands it.
func there(in any) (machine string, input any) {
	v := reflect.New(reflect.TypeOf(in)).Elem()
	v.Set(reflect.ValueOf(in))
	if v.Kind() != reflect.Struct {
		return "", in
	}
	for _, field := range []string{"ID", "Process"} {
		f := v.FieldByName(field)
		if !f.IsValid() || f.Kind() != reflect.String {
			continue
		}
		if name, id := api.MachineOf(f.String()); name != "" {
			machine = name
			f.SetString(id)
		}
	}
	if host := v.FieldByName("Host"); host.IsValid() && host.Kind() == reflect.String && host.String() != "" {
		machine = host.String()
		host.SetString("")
	}
	if near := v.FieldByName("CWDOf"); near.IsValid() {
		name, id := api.MachineOf(near.String())
		if name != machine {
			id = ""
		}
		near.SetString(id)
	}
	for _, field := range []string{"Environ", "Umask"} {
		if f := v.FieldByName(field); machine != "" && f.IsValid() {
			f.SetZero() // what is started there has that machine's
		}
	}
	return machine, v.Interface()
}

// here gives what a machine answered the names that it has here.
func here(machine string, out any) {
	switch out := out.(type) {
	case *api.Process:
		name(machine, out)
	case *api.HistorySearchOutput:
		for i := range out.Rows {
			row := &out.Rows[i]
			row.Host, row.Process = machine, api.OnMachine(machine, row.Process)
		}
	}
}

// listAll answers with the processes of all machines. For others it takes what
// they have answered last, and asks them anew beside that, so that it waits for
// none.
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
		answer.Processes = append(answer.Processes, m.measured...)
		if !m.measuring {
			m.measuring = true
			ctx, name := e.set.ctx, m.now.Name
			e.set.start(func() { m.measure(ctx, name, in.(api.ProcessListInput)) })
		}
	}
	return nil
}

// measure asks a machine for its processes.
func (m *machine) measure(ctx context.Context, machine string, in api.ProcessListInput) {
	var out api.ProcessListOutput
	err := m.set.on(ctx, machine, func(ctx context.Context, e panes.Engine) (err error) {
		out, err = api.ProcessList.Call(ctx, e, in)
		return err
	})
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	m.measuring = false
	if err != nil {
		m.measured = nil
		return
	}
	m.measured = slices.Clone(out.Processes)
	for i := range m.measured {
		name(machine, &m.measured[i])
	}
}
