package machines

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/panes"
)

const (
	// The time between attempts to reach a machine that is connected doubles from
	// the first to the longest.
	firstWait, longWait = 50 * time.Millisecond, 2 * time.Second
	// callWait is how long a call waits for a machine that is being connected to.
	callWait = 10 * time.Second
)

// A machine is the dashboard's connection to one. What is in it belongs to the
// lock of the set.
type machine struct {
	set     *Set
	end     func()
	changed *sync.Cond // of the lock of the set

	now    api.Machine
	engine panes.Engine    // nil while its events are not followed
	news   panes.News      // with names as OnMachine makes them
	live   context.Context // is over when it is not connected any more
	away   context.CancelFunc

	measured  []api.Process // what it answered last to process.list
	measuring bool
	found     *found // what it was asked last of its history
}

func newMachine(s *Set) *machine {
	m := &machine{set: s, changed: sync.NewCond(&s.mu), end: func() {}}
	m.live, m.away = context.WithCancel(context.Background())
	m.away()
	return m
}

// tell takes in how it is with the machine; what was asked of one that has gone
// away is over. The lock is held.
func (m *machine) tell(now api.Machine) {
	if now.State != m.now.State {
		m.forgetFound()
	}
	m.now = now
	switch connected := now.State == api.MachineConnected; {
	case connected && m.live.Err() != nil:
		m.live, m.away = context.WithCancel(context.Background())
	case !connected:
		m.away()
	}
	m.changed.Broadcast()
}

// run follows the events of the machine until ctx ends.
func (m *machine) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() {
		m.set.mu.Lock()
		defer m.set.mu.Unlock()
		m.changed.Broadcast()
	})
	defer stop()
	wait := firstWait
	for {
		own, name := m.awaitConnected(ctx)
		if own == nil {
			return
		}
		began := time.Now()
		if e, err := own.Reach(ctx, name); err == nil {
			_ = m.follow(ctx, e) // how it is with the machine is told by the own engine
			m.use(nil)
			if c, ok := e.(closer); ok { // its link may live, and its connections with it
				c.Close()
			}
		}
		if time.Since(began) > longWait {
			wait = firstWait
		}
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, longWait)
	}
}

// A reacher leads to other machines.
type reacher interface {
	Reach(ctx context.Context, machine string) (panes.Engine, error)
}

// A closer lets go of connections that are not in use.
type closer interface{ Close() }

// awaitConnected waits until the machine is connected to the own engine, which is
// at hand, and gives that; nil when ctx has ended.
func (m *machine) awaitConnected(ctx context.Context) (own reacher, name string) {
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	for ctx.Err() == nil {
		if own, _ = m.set.through.(reacher); own != nil && m.now.State == api.MachineConnected {
			return own, m.now.Name
		}
		m.changed.Wait()
	}
	return nil, ""
}

func (m *machine) use(e panes.Engine) {
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	m.engine = e
	m.changed.Broadcast()
}

func (m *machine) follow(ctx context.Context, e panes.Engine) error {
	for event, err := range e.Watch(ctx) {
		if err != nil {
			return err
		}
		m.take(event, e)
		m.set.notify()
	}
	return errors.New("the machine ended the stream of events")
}

// take takes in an event; with the first the engine can be asked.
func (m *machine) take(event api.Event, e panes.Engine) {
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	if event.Type == api.EventStopped { // the connection ends with it, and the next engine may come at once
		return
	}
	m.news.Apply(named(m.now.Name, event))
	m.set.serial++
	if m.engine == nil {
		m.engine = e
		m.changed.Broadcast()
	}
}

// named is an event with the names of another machine in it.
func named(machine string, e api.Event) api.Event {
	e.ID = api.OnMachine(machine, e.ID)
	e.Processes = slices.Clone(e.Processes)
	for i := range e.Processes {
		name(machine, &e.Processes[i])
	}
	if e.Process != nil {
		p := *e.Process
		name(machine, &p)
		e.Process = &p
	}
	if e.Request != nil {
		r := *e.Request
		r.ID = api.OnMachine(machine, r.ID)
		e.Request = &r
	}
	return e
}

// name gives a process the names that it has here.
func name(machine string, p *api.Process) {
	p.ID = api.OnMachine(machine, p.ID)
	p.WaitsFor = slices.Clone(p.WaitsFor)
	for i := range p.WaitsFor {
		p.WaitsFor[i].ID = api.OnMachine(machine, p.WaitsFor[i].ID)
	}
}

// at is the engine of the machine, and what ends when the machine goes away. It
// waits for one that is being connected to, and for nothing else.
func (m *machine) at(ctx context.Context) (panes.Engine, context.Context, error) {
	ctx, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		m.set.mu.Lock()
		defer m.set.mu.Unlock()
		m.changed.Broadcast()
	})
	defer stop()
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	for {
		switch {
		case m.now.State == api.MachineAway || m.now.State == api.MachineNeedsYou || ctx.Err() != nil:
			return nil, nil, m.unreachable()
		case m.now.State == api.MachineConnected && m.engine != nil:
			return m.engine, m.live, nil
		}
		m.changed.Wait()
	}
}

// unreachable says that nothing can be asked of the machine. The lock is held.
func (m *machine) unreachable() error {
	known := panes.Machine{Machine: m.now}
	how := known.OfflineReason(time.Now())
	if how == "" {
		how = "no answer"
	}
	if m.now.Error != "" {
		how += ": " + m.now.Error
	}
	return api.Errorf(api.CodeUnavailable, "%s: %s", m.now.Name, how)
}
