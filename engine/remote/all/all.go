package all

import (
	"context"
	"iter"
	"log/slog"
	"maps"
	"sync"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/engine/remote/hosts"
)

// Machines are the engines of other machines. All exported fields are required.
type Machines struct {
	Log *slog.Logger
	// Connect connects to the engine of a machine for the calls of one client. client is the
	// client's name, and agent the name of the agent's process behind it, "" for none. Connect waits
	// only for a machine that is connecting.
	Connect func(ctx context.Context, machine, client, agent string) (Engine, error)
	// Known reports whether a machine is listed; List lists all, without waiting.
	Known func(ctx context.Context, machine string) bool
	List  func(ctx context.Context) api.MachineListOutput
	// MayReachMachines and AgentBehind have the same meaning as in access.Guard.
	MayReachMachines func(ctx context.Context) bool
	AgentBehind      func(ctx context.Context) (string, error)

	ctx     context.Context
	running sync.WaitGroup

	mu        sync.Mutex
	changed   chan struct{} // closed and replaced when a machine changes, or an answer comes late
	engines   map[caller]*connection
	rows      map[caller]*knownRows // each caller sees only what the machine lets it see
	histories map[string]int64      // number of changes to the history of a machine
	searches  map[searcher]*search
	late      int64 // number of answers to searches that came too late
}

// Start must be called first. Work that outlives a call, such as a slow search, ends with ctx.
func (s *Machines) Start(ctx context.Context) {
	s.ctx, s.changed = ctx, make(chan struct{})
	s.engines, s.rows, s.histories, s.searches = map[caller]*connection{}, map[caller]*knownRows{}, map[string]int64{}, map[searcher]*search{}
}

// Close waits until everything has ended. The context of Start must have ended.
func (s *Machines) Close() { s.running.Wait() }

// An Engine is the engine of another machine. Close closes unused connections.
type Engine interface {
	api.Engine
	WatchFor(ctx context.Context, in api.WatchInput) iter.Seq2[api.Event, error]
	Close()
}

// NewEngine returns an Engine that makes its calls through c. If the engine exits during a call that
// changes something, the call is repeated when that is safe.
func NewEngine(c *client.Client) Engine { return clientEngine{c} }

type clientEngine struct{ *client.Client }

// Do implements api.Engine.
func (e clientEngine) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	if effect == api.Read {
		return e.Client.Do(ctx, name, effect, in, out)
	}
	conn := retry.Conn{Client: e.Client, Hasty: true}
	return conn.Do(ctx, name, effect, in, out)
}

// A caller identifies the client for which a connection to a machine is kept.
type caller struct{ machine, by, agent string }

// A connection is a connection to the engine of a machine. It is used while the machine stays
// connected.
type connection struct {
	Engine
	version string          // of the machine when last noted
	live    context.Context // done once the machine is disconnected; its cause is the reason
	end     context.CancelCauseFunc
}

// Knows implements server.Machines.
func (s *Machines) Knows(ctx context.Context, machine string) bool { return s.Known(ctx, machine) }

// MayReach implements server.Machines.
func (s *Machines) MayReach(ctx context.Context) bool { return s.MayReachMachines(ctx) }

// callerOf returns the key for the connection that the caller of ctx uses to a machine. It rejects
// a caller that may not reach machines.
func (s *Machines) callerOf(ctx context.Context, machine string) (caller, error) {
	by := api.CallerOf(ctx)
	if !s.MayReachMachines(ctx) {
		return caller{}, api.Errorf(api.CodeForbidden, "reach other machines: this engine does so only for its user's programs")
	}
	agent, err := s.AgentBehind(ctx)
	return caller{machine, by.Name, agent}, err
}

// Call implements server.Machines. A running call fails when the machine goes offline.
func (s *Machines) Call(ctx context.Context, machine, operation string, effect api.Effect, in, out any) error {
	key, err := s.callerOf(ctx, machine)
	if err != nil {
		return err
	}
	return s.call(ctx, key, operation, effect, in, out)
}

func (s *Machines) call(ctx context.Context, key caller, operation string, effect api.Effect, in, out any) error {
	c, err := s.connect(ctx, key)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.live, cancel)()
	err = c.Do(ctx, operation, effect, in, out)
	// The machine's state explains the failure better than the call's own error.
	if err != nil && c.live.Err() != nil {
		return context.Cause(c.live)
	}
	return err
}

// connect returns the connection kept for key, or makes one.
func (s *Machines) connect(ctx context.Context, key caller) (*connection, error) {
	if c := s.connected(key); c != nil {
		return c, nil
	}
	e, err := s.Connect(ctx, key.machine, key.by, key.agent)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.engines[key]; c != nil { // made meanwhile
		e.Close()
		return c, nil
	}
	c := &connection{Engine: e}
	c.live, c.end = context.WithCancelCause(context.Background())
	s.engines[key] = c
	return c, nil
}

func (s *Machines) connected(key caller) *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engines[key]
}

// drop forgets a connection, so that the next call makes another one.
func (s *Machines) drop(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.engines, func(_ caller, other *connection) bool { return other == c })
	c.Close()
}

// Note records the state of a machine; nil stands for the summary of a fleet. It must be called for each
// change. Calls to a machine that has been disconnected fail; a machine whose version has changed gets a
// new connection.
func (s *Machines) Note(m *api.Machine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broadcast()
	if m == nil {
		return
	}
	for key, c := range s.engines {
		if key.machine != m.Name {
			continue
		}
		if m.State != api.MachineConnected {
			c.end(hosts.Unreachable(*m))
		} else if c.version == "" || c.version == m.Version {
			c.version = m.Version
			continue
		}
		delete(s.engines, key)
		c.Close()
	}
	s.dropSearches(m.Name)
}

// broadcast wakes the watchers. The lock is held.
func (s *Machines) broadcast() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// awaitChange returns a channel that is closed at the next change.
func (s *Machines) awaitChange() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}
