package mcp

import (
	"context"
	"os"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
)

const (
	// statelessLimit is the maximum number of remembered agents without a session.
	statelessLimit = 64
	// statelessIdle is how long after its last call an agent without a session counts as present.
	statelessIdle = 10 * time.Minute
)

// A caller identifies the sender of a request.
type caller struct {
	session *sdk.ServerSession
	actor   string
	token   string // id of its token; "" without one
}

func identifyCaller[P sdk.Params](req *sdk.ServerRequest[P]) caller {
	a := caller{session: req.Session, actor: toolkit.ActorOf(req.ClientInfo())}
	if req.Extra != nil && req.Extra.TokenInfo != nil {
		a.token = req.Extra.TokenInfo.UserID
	}
	return a
}

// agents holds the connected agents: one per lasting session and, for requests without a session,
// one per token and client name.
type agents struct {
	mu      sync.Mutex
	byKey   map[any]*connection
	remotes map[*toolkit.Agent]*remoteAgents
}

// A connection is an agent's link to the engine. agent and err are set once ready is closed.
type connection struct {
	ready    chan struct{}
	agent    *toolkit.Agent
	err      error
	lastUsed time.Time // last request; only for agents without a session
	cancel   context.CancelFunc
}

type statelessKey struct{ token, actor string }

// agentOf returns the agent of a request, connected to the engine. An agent's first request
// makes the connection; requests arriving meanwhile wait for it.
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
	return e.agent, e.agent.EnsureEngine(ctx)
}

// ownerOf returns the id under which the engine records an agent's processes: a new one per session
// or, without sessions, one derived from the token and the name.
func (s *server) ownerOf(a caller) string {
	if s.stateful {
		return api.NewID()
	}
	return toolkit.LastingOwner(a.token, a.actor)
}

// connectionOf returns the connection stored under key, starting one if necessary.
func (s *server) connectionOf(key any, a caller) *connection {
	s.agents.mu.Lock()
	defer s.agents.mu.Unlock()
	e := s.agents.byKey[key]
	if e == nil {
		// Make room before adding, so that the new agent is never the one evicted.
		if !s.stateful {
			s.agents.evictOldest(statelessLimit - 1)
		}
		e = &connection{ready: make(chan struct{})}
		var life context.Context
		life, e.cancel = context.WithCancel(s.ctx)
		s.agents.byKey[key] = e
		s.tasks.Go(func() { s.keepConnected(life, key, e, a) })
	}
	e.lastUsed = time.Now()
	return e
}

// keepConnected keeps an agent present from its first request to the end of its session or of its
// idle time.
func (s *server) keepConnected(ctx context.Context, key any, e *connection, a caller) {
	defer e.cancel()
	defer s.agents.removeConnection(key, e)
	e.agent, e.err = s.connectAgent(ctx, a.actor, s.ownerOf(a))
	if e.err == nil {
		s.agents.addRemotes(ctx, e.agent)
		defer s.agents.removeRemotes(e.agent)
	}
	// This is not deferred: requests wait for ready while the agent stays connected below.
	close(e.ready)
	if e.err != nil {
		return
	}
	if s.stateful {
		s.tasks.Go(func() {
			// Only the end of the session matters, not its error.
			_ = a.session.Wait()
			e.cancel()
		})
	} else {
		s.tasks.Go(func() { s.agents.expireIdle(ctx, e) })
	}
	e.agent.WatchEvents(ctx, s.applyEvent)
}

// removeConnection removes a connection, so that the agent's next request makes a new one.
func (f *agents) removeConnection(key any, e *connection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byKey[key] == e {
		delete(f.byKey, key)
	}
}

// addRemotes lets an agent work on other machines until ctx ends.
func (f *agents) addRemotes(ctx context.Context, a *toolkit.Agent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.remotes == nil {
		f.remotes = map[*toolkit.Agent]*remoteAgents{}
	}
	f.remotes[a] = &remoteAgents{ctx: ctx, byHost: map[string]*remoteAgent{}}
}

func (f *agents) removeRemotes(a *toolkit.Agent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.remotes, a)
}

// evictOldest drops the least recently used connections until at most n are left. The caller holds
// mu.
func (f *agents) evictOldest(n int) {
	for len(f.byKey) > n {
		var oldest any
		for key, e := range f.byKey {
			if oldest == nil || e.lastUsed.Before(f.byKey[oldest].lastUsed) {
				oldest = key
			}
		}
		f.byKey[oldest].cancel()
		delete(f.byKey, oldest)
	}
}

// expireIdle disconnects an agent without a session after statelessIdle without a request.
func (f *agents) expireIdle(ctx context.Context, e *connection) {
	clock := time.NewTicker(statelessIdle / 2)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-clock.C:
			f.mu.Lock()
			idle := now.Sub(e.lastUsed)
			f.mu.Unlock()
			if idle >= statelessIdle {
				e.cancel()
				return
			}
		}
	}
}

// handleInitialized connects an agent once it has finished the handshake.
func (s *server) handleInitialized(_ context.Context, req *sdk.InitializedRequest) {
	s.preconnect(identifyCaller(req))
}

// preconnect connects an agent before its first call, so that the user sees it and that call is
// quick. It does nothing for agents without a session.
func (s *server) preconnect(a caller) {
	if s.stateful {
		s.connectionOf(a.session, a)
	}
}

// connectAgent returns a new agent with a connection to the engine.
func (s *server) connectAgent(ctx context.Context, actor, owner string) (*toolkit.Agent, error) {
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
