package all

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/qualify"
	"tandem/engine/base/panics"
	"tandem/engine/base/sleep"
)

const (
	// The time between attempts to follow a connected machine doubles from firstWait to maxWait.
	firstWait, maxWait = 50 * time.Millisecond, 2 * time.Second
	// listInterval is how often the list of machines is read again, because round-trip and offline
	// times change without a notification.
	listInterval = 5 * time.Second
)

// A Merged stream has the events of this machine, which are passed to Send, and the events of other
// machines. Context ends when events of other machines cannot be sent any more.
type Merged struct {
	Context  context.Context
	machines *Machines
	in       api.WatchInput
	cancel   context.CancelCauseFunc
	begin    sync.Once
	running  sync.WaitGroup

	mu   sync.Mutex
	send func(api.Event) error
}

// Merge returns a stream that calls send with each event. The other machines' events begin after
// the first event of this machine, a snapshot. The stream adds the list of machines to that
// snapshot, because its layout may name their sessions. The caller must call End.
func (s *Machines) Merge(ctx context.Context, in api.WatchInput, send func(api.Event) error) *Merged {
	m := &Merged{machines: s, in: in, send: send}
	m.Context, m.cancel = context.WithCancelCause(ctx)
	return m
}

// Send sends an event of this machine.
func (m *Merged) Send(e api.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.Type == api.EventSnapshot && e.Host == "" {
		list := m.machines.List(m.Context)
		e.Machines, e.Fleet = list.Machines, list.Fleet
	}
	err := m.send(e)
	m.begin.Do(func() {
		m.running.Go(panics.Logged(m.machines.Log, "events of other machines", func() { m.cancel(m.machines.Watch(m.Context, m.in, m.Send)) }))
	})
	return err
}

// End stops the events of other machines, and waits until none is being sent.
func (m *Merged) End() {
	m.cancel(nil)
	m.running.Wait()
}

// A watcher receives the events of all machines.
type watcher struct {
	*Machines
	caller
	in   api.WatchInput
	send func(api.Event) error
	fail context.CancelCauseFunc

	following map[string]*follower // by machine
	running   sync.WaitGroup
}

// A follower follows the events of one machine while it is connected.
type follower struct {
	machine string
	stop    context.CancelFunc

	mu        sync.Mutex
	connected bool
	changed   chan struct{} // closed and replaced when connected changes
}

// Watch sends the list of machines and the events of each of them until ctx is done or send fails, in the
// name of the caller of ctx. send may be called concurrently. A machine never delays the events of others.
func (s *Machines) Watch(ctx context.Context, in api.WatchInput, send func(api.Event) error) error {
	key, err := s.callerOf(ctx, "")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &watcher{Machines: s, caller: key, in: api.WatchInput{Lasting: in.Lasting}, send: send, fail: cancel, following: map[string]*follower{}}
	defer w.running.Wait()
	defer cancel(nil)
	var last api.MachineListOutput
	for sent, late := false, s.lateAnswers(); ; {
		changed := s.awaitChange()
		now := s.List(ctx)
		if !sent || !reflect.DeepEqual(now, last) {
			w.trySend(api.Event{Type: api.EventMachines, Machines: now.Machines, Fleet: now.Fleet})
			sent, last = true, now
		}
		w.follow(ctx, now.Machines)
		if n := s.lateAnswers(); n != late {
			late = n
			w.trySend(api.Event{Type: api.EventHistory, History: n})
		}
		var again <-chan time.Time
		if len(now.Machines) > 0 || now.Fleet != nil {
			again = time.After(listInterval)
		}
		select {
		case <-changed:
		case <-again:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// trySend sends an event; a failure ends the watch.
func (w *watcher) trySend(e api.Event) {
	if err := w.send(e); err != nil {
		w.fail(err)
	}
}

// follow starts and stops followers, and tells them the state of their machines.
func (w *watcher) follow(ctx context.Context, machines []api.Machine) {
	listed := map[string]bool{}
	for _, m := range machines {
		listed[m.Name] = true
		f := w.following[m.Name]
		if f == nil {
			f = &follower{machine: m.Name, changed: make(chan struct{})}
			var ending context.Context
			ending, f.stop = context.WithCancel(ctx)
			w.following[m.Name] = f
			w.running.Go(panics.Restarted(ending, w.Log, "events of a machine", func() { w.run(ending, f) }))
		}
		f.setConnected(m.State == api.MachineConnected)
	}
	for name, f := range w.following {
		if !listed[name] {
			f.stop()
			delete(w.following, name)
		}
	}
}

func (f *follower) setConnected(connected bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.connected != connected {
		f.connected = connected
		close(f.changed)
		f.changed = make(chan struct{})
	}
}

// awaitConnected waits until the machine is connected, or ctx is done.
func (f *follower) awaitConnected(ctx context.Context) {
	for {
		f.mu.Lock()
		connected, changed := f.connected, f.changed
		f.mu.Unlock()
		if connected {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// run follows a machine until ctx is done.
func (w *watcher) run(ctx context.Context, f *follower) {
	wait := firstWait
	for ctx.Err() == nil {
		if f.awaitConnected(ctx); ctx.Err() != nil {
			return
		}
		began := time.Now()
		// An error needs no report: the list of machines has the machine's state.
		if c, err := w.connect(ctx, caller{f.machine, w.by, w.agent}); err == nil {
			_ = w.pass(ctx, f.machine, c)
			w.drop(c)
		}
		if time.Since(began) > maxWait {
			wait = firstWait
		}
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, maxWait)
	}
}

// pass sends the events of a machine until they end.
func (w *watcher) pass(ctx context.Context, machine string, e Engine) error {
	for event, err := range e.WatchFor(ctx, w.in) {
		if err != nil {
			return err
		}
		switch event.Type {
		case api.EventSnapshot:
			w.noteHistory(machine, 0)
			event = api.Event{Type: event.Type, Processes: event.Processes}
		case api.EventHistory:
			w.noteHistory(machine, event.History)
		case api.EventProcess, api.EventRemoved, api.EventNotice, api.EventRequest:
		default: // about the machine itself and its own dashboards
			continue
		}
		w.trySend(qualify.Event(machine, event))
	}
	return errors.New("the machine ended the stream of events")
}
