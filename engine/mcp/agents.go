package mcp

import (
	"context"
	"os"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/engine/mcp/toolkit"
)

const (
	// statelessLimit is how many agents without a session are remembered.
	statelessLimit = 64
	// statelessIdle is how long one of them counts as present after its last call.
	statelessIdle = 10 * time.Minute
)

// A caller is who makes a request.
type caller struct {
	session *sdk.ServerSession
	actor   string
	token   string // id of the token it came with; "" without one
}

// identify tells whose request it is.
func identify[P sdk.Params](req *sdk.ServerRequest[P]) caller {
	a := caller{session: req.Session, actor: toolkit.ActorOf(req.ClientInfo())}
	if req.Extra != nil && req.Extra.TokenInfo != nil {
		a.token = req.Extra.TokenInfo.UserID
	}
	return a
}

// agents are the agents that are connected: one for each session that lasts;
// of requests without one, one for each token and client.
type agents struct {
	mu     sync.Mutex
	byKey  map[any]*connection
	abroad map[*toolkit.Agent]*abroad
}

// A connection is an agent that is connected to the engine, or about to be.
type connection struct {
	ready  chan struct{}
	agent  *toolkit.Agent
	err    error
	used   time.Time // last asked for; of agents without a session
	cancel context.CancelFunc
}

type statelessKey struct{ token, actor string }

// agentOf is the agent behind a request, connected to the engine. The first
// request of an agent makes it, the others wait for that.
func (s *server) agentOf(ctx context.Context, a caller) (*toolkit.Agent, error) {
	var key any = a.session
	if !s.stateful {
		key = statelessKey{a.token, a.actor}
	}
	e := s.connectionOf(key, a)
	select {
	case <-e.ready:
	case <-ctx.Done():
		return nil, api.Errorf(api.CodeUnavailable, "reach the engine: %v", ctx.Err())
	}
	if e.err != nil {
		return nil, e.err
	}
	return e.agent, e.agent.Revive(ctx)
}

// ownerOf is the id under which the engine knows an agent as the owner of what
// it starts: its session's, or where there are none its token's and name's.
func (s *server) ownerOf(a caller) string {
	if s.stateful {
		return api.NewID()
	}
	return toolkit.LastingOwner(a.token, a.actor)
}

// connectionOf finds a caller's connection, or begins one.
func (s *server) connectionOf(key any, a caller) *connection {
	s.agents.mu.Lock()
	defer s.agents.mu.Unlock()
	e := s.agents.byKey[key]
	if e == nil {
		if !s.stateful {
			s.agents.forget(statelessLimit - 1)
		}
		e = &connection{ready: make(chan struct{})}
		var life context.Context
		life, e.cancel = context.WithCancel(s.ctx)
		s.agents.byKey[key] = e
		s.tasks.Go(func() { s.keepConnected(life, key, e, a) })
	}
	e.used = time.Now()
	return e
}

// live is an agent's presence: from its first request to the end of its
// session, or of the time without requests.
func (s *server) keepConnected(ctx context.Context, key any, e *connection, a caller) {
	defer e.cancel()
	defer s.agents.remove(key, e)
	e.agent, e.err = s.connect(ctx, a.actor, s.ownerOf(a))
	if e.err == nil {
		s.agents.settle(ctx, e.agent)
		defer s.agents.leave(e.agent)
	}
	close(e.ready)
	if e.err != nil {
		return
	}
	if s.stateful {
		s.tasks.Go(func() {
			// The error is that of the connection, and its end is all that counts.
			_ = a.session.Wait()
			e.cancel()
		})
	} else {
		s.tasks.Go(func() { s.agents.expire(ctx, e) })
	}
	e.agent.Attend(ctx, s.applyEvent)
}

// remove forgets a connection, so that the next request makes another one.
func (f *agents) remove(key any, e *connection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byKey[key] == e {
		delete(f.byKey, key)
	}
}

// settle lets an agent work on other machines until it leaves.
func (f *agents) settle(ctx context.Context, a *toolkit.Agent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.abroad == nil {
		f.abroad = map[*toolkit.Agent]*abroad{}
	}
	f.abroad[a] = &abroad{ctx: ctx, byHost: map[string]*stay{}}
}

func (f *agents) leave(a *toolkit.Agent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.abroad, a)
}

// forget drops those that were not used for longest until at most n are left.
// The lock is held.
func (f *agents) forget(n int) {
	for len(f.byKey) > n {
		var oldest any
		for key, e := range f.byKey {
			if oldest == nil || e.used.Before(f.byKey[oldest].used) {
				oldest = key
			}
		}
		f.byKey[oldest].cancel()
		delete(f.byKey, oldest)
	}
}

// expire ends an agent without a session some time after its last request.
func (f *agents) expire(ctx context.Context, e *connection) {
	clock := time.NewTicker(statelessIdle / 2)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-clock.C:
			f.mu.Lock()
			idle := now.Sub(e.used)
			f.mu.Unlock()
			if idle >= statelessIdle {
				e.cancel()
				return
			}
		}
	}
}

// greet welcomes an agent that has finished the handshake.
func (s *server) greet(_ context.Context, req *sdk.InitializedRequest) {
	s.welcome(identify(req))
}

// welcome connects an agent to the engine as soon as it has said who it is, so
// that a person sees it and its first call is quick.
func (s *server) welcome(a caller) {
	if s.stateful {
		s.connectionOf(a.session, a)
	}
}

// connect connects a new agent. While its presence runs, the engine
// counts the agent as there.
func (s *server) connect(ctx context.Context, actor, owner string) (*toolkit.Agent, error) {
	f := &toolkit.Agent{Options: &s.o, Actor: actor, Owner: owner, Roots: s.o.Roots, Environ: api.Environ(os.Environ()), Umask: api.Umask()}
	engine, err := retry.Connect(ctx, func(ctx context.Context) (*client.Client, error) {
		return s.o.Connect(ctx, f.Actor, f.Owner, s.o.Bounds())
	})
	if err != nil {
		return nil, err
	}
	f.Engine = engine
	return f, nil
}
