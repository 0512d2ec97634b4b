package all

import (
	"context"
	"sync"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/engine/remote/hosts"
)

// Machines are the engines of other machines. All exported fields are required.
type Machines struct {
	// Connect connects to the engine of a machine for calls of the client by. agent is the agent's process
	// behind it, "" for none. It waits only for a machine that is connecting.
	Connect func(ctx context.Context, machine, by, agent string) (Engine, error)
	// Known reports whether a machine is listed.
	Known func(ctx context.Context, machine string) bool
	// MayReachMachines and AgentBehind are those of access.Guard.
	MayReachMachines func(ctx context.Context) bool
	AgentBehind      func(ctx context.Context) (string, error)

	mu      sync.Mutex
	engines map[caller]*connection
}

// An Engine is the engine of another machine. Close closes unused connections.
type Engine interface {
	api.Engine
	Close()
}

// NewEngine returns the engine of a client. If the engine exits during a call, a change is repeated when
// that is safe.
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

// A caller is what a connection is kept for.
type caller struct{ machine, by, agent string }

// A connection is an engine while its machine is connected.
type connection struct {
	Engine
	version string          // of the machine when last noted
	live    context.Context // done once the machine is not connected any more; the cause says why
	end     context.CancelCauseFunc
}

// Knows implements server.Machines.
func (s *Machines) Knows(ctx context.Context, machine string) bool { return s.Known(ctx, machine) }

// MayReach implements server.Machines.
func (s *Machines) MayReach(ctx context.Context) bool { return s.MayReachMachines(ctx) }

// Call implements server.Machines. A running call fails when the machine goes offline.
func (s *Machines) Call(ctx context.Context, machine, operation string, effect api.Effect, in, out any) error {
	agent, err := s.AgentBehind(ctx)
	if err != nil {
		return err
	}
	c, err := s.connect(ctx, caller{machine, api.CallerOf(ctx).Name, agent})
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

// connect returns a connection, an existing one if possible.
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
	if s.engines == nil {
		s.engines = map[caller]*connection{}
	}
	s.engines[key] = c
	return c, nil
}

func (s *Machines) connected(key caller) *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engines[key]
}

// Note records the state of a machine. It must be called for each change. Calls to a machine that is
// not connected any more fail, and one of another version is connected to again.
func (s *Machines) Note(m api.Machine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, c := range s.engines {
		if key.machine != m.Name {
			continue
		}
		if m.State != api.MachineConnected {
			c.end(hosts.Unreachable(m))
		} else if c.version == "" || c.version == m.Version {
			c.version = m.Version
			continue
		}
		delete(s.engines, key)
		c.Close()
	}
}
