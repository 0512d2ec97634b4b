package machines

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/panes"
)

const (
	// The time between attempts to reach a connected machine doubles from firstWait to
	// maxWait.
	firstWait, maxWait = 50 * time.Millisecond, 2 * time.Second
	// callWait is how long a call waits for a machine that is connecting.
	callWait = 10 * time.Second
)

// A machine is the connection to one machine. The set's lock guards its fields.
type machine struct {
	set     *Set
	stop    func()
	changed *sync.Cond // uses the lock of the set

	now        api.Machine
	engine     panes.Engine    // nil unless its events are followed
	news       panes.News      // with names as returned by OnMachine
	live       context.Context // done once the machine is disconnected
	disconnect context.CancelFunc

	processes  []api.Process // its last answer to process.list
	fetching   bool
	lastSearch *historySearch // last search of its history
}

func newMachine(s *Set) *machine {
	m := &machine{set: s, changed: sync.NewCond(&s.mu), stop: func() {}}
	m.live, m.disconnect = context.WithCancel(context.Background())
	m.disconnect()
	return m
}

// setState records the machine's state. Running calls to a machine that has gone offline
// are cancelled. The lock is held.
func (m *machine) setState(now api.Machine) {
	if now.State != m.now.State {
		m.dropSearch()
	}
	m.now = now
	switch connected := now.State == api.MachineConnected; {
	case connected && m.live.Err() != nil:
		m.live, m.disconnect = context.WithCancel(context.Background())
	case !connected:
		m.disconnect()
	}
	m.changed.Broadcast()
}

// runLoop follows the machine's events until ctx is done.
func (m *machine) runLoop(ctx context.Context) {
	defer context.AfterFunc(ctx, m.wakeWaiting)()
	wait := firstWait
	for {
		own, name := m.awaitConnected(ctx)
		if own == nil {
			return
		}
		began := time.Now()
		if e, err := own.Reach(ctx, name); err == nil {
			// The local engine reports the machine's state.
			_ = m.followEvents(ctx, e)
			m.setEngine(nil)
			// The machine's link may live on, and keep the connections open.
			if c, ok := e.(closer); ok {
				c.Close()
			}
		}
		if time.Since(began) > maxWait {
			wait = firstWait
		}
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, maxWait)
	}
}

// A reacher connects to other machines.
type reacher interface {
	Reach(ctx context.Context, machine string) (panes.Engine, error)
}

// A closer closes unused connections.
type closer interface{ Close() }

// awaitConnected waits until the local engine is connected to the machine, and returns it;
// nil once ctx is done.
func (m *machine) awaitConnected(ctx context.Context) (own reacher, name string) {
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	for ctx.Err() == nil {
		// Wait does not watch ctx; its end broadcasts changed.
		if own, _ = m.set.own.(reacher); own != nil && m.now.State == api.MachineConnected {
			return own, m.now.Name
		}
		m.changed.Wait()
	}
	return nil, ""
}

func (m *machine) setEngine(e panes.Engine) {
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	m.engine = e
	m.changed.Broadcast()
}

// wakeWaiting wakes all that wait for a change, to find that their context is done.
func (m *machine) wakeWaiting() {
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	m.changed.Broadcast()
}

func (m *machine) followEvents(ctx context.Context, e panes.Engine) error {
	for event, err := range e.Watch(ctx) {
		if err != nil {
			return err
		}
		m.applyEvent(event, e)
		m.set.notify()
	}
	return errors.New("the machine ended the stream of events")
}

// applyEvent applies an event. The first one shows that the engine accepts calls.
func (m *machine) applyEvent(event api.Event, e panes.Engine) {
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	// The connection ends with this event, and the next engine may follow at once.
	if event.Type == api.EventStopped {
		return
	}
	m.news.Apply(qualifyEvent(m.now.Name, event))
	m.set.serial++
	if m.engine == nil {
		m.engine = e
		m.changed.Broadcast()
	}
}

// qualifyEvent returns an event with the machine's name added to its ids.
func qualifyEvent(machine string, e api.Event) api.Event {
	e.ID = api.OnMachine(machine, e.ID)
	e.Processes = slices.Clone(e.Processes)
	for i := range e.Processes {
		api.Qualify(machine, &e.Processes[i])
	}
	e.Process = e.Process.Qualified(machine)
	if e.Request != nil {
		r := *e.Request
		r.ID = api.OnMachine(machine, r.ID)
		e.Request = &r
	}
	return e
}

// awaitEngine returns the machine's engine, and a context that is done when the machine
// disconnects. It waits only for a machine that is connecting.
func (m *machine) awaitEngine(ctx context.Context) (panes.Engine, context.Context, error) {
	ctx, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	defer context.AfterFunc(ctx, m.wakeWaiting)()
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	for {
		switch {
		case m.now.State == api.MachineAway || m.now.State == api.MachineNeedsYou || ctx.Err() != nil:
			return nil, nil, m.unreachableError()
		case m.now.State == api.MachineConnected && m.engine != nil:
			return m.engine, m.live, nil
		}
		m.changed.Wait()
	}
}

// unreachableError returns why the machine cannot be called. The lock is held.
func (m *machine) unreachableError() error {
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
