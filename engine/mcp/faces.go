package mcp

import (
	"context"
	"os"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

const (
	// facesMost is how many agents without a session are remembered.
	facesMost = 64
	// faceIdle is how long one of them counts as present after its last call.
	faceIdle = 10 * time.Minute
)

// An agent is who makes a request.
type agent struct {
	session *sdk.ServerSession
	actor   string
	token   string // id of the token it came with; "" without one
}

// identify tells whose request it is.
func identify[P sdk.Params](req *sdk.ServerRequest[P]) agent {
	a := agent{session: req.Session, actor: toolkit.ActorOf(req.ClientInfo())}
	if req.Extra != nil && req.Extra.TokenInfo != nil {
		a.token = req.Extra.TokenInfo.UserID
	}
	return a
}

// faces are the agents that are connected: one for each session that lasts;
// of requests without one, one for each token and client.
type faces struct {
	mu   sync.Mutex
	made map[any]*entry
}

// An entry is a face, or the wait for it.
type entry struct {
	ready  chan struct{}
	face   *toolkit.Agent
	err    error
	used   time.Time // last asked for; of agents without a session
	cancel context.CancelFunc
}

type stateless struct{ token, actor string }

// faceOf is the agent behind a request, connected to the engine. The first
// request of an agent makes it, the others wait for that.
func (s *server) faceOf(ctx context.Context, a agent) (*toolkit.Agent, error) {
	var key any = a.session
	if !s.held {
		key = stateless{a.token, a.actor}
	}
	e := s.entryOf(key, a)
	select {
	case <-e.ready:
	case <-ctx.Done():
		return nil, api.Errorf(api.CodeUnavailable, "reach the engine: %v", ctx.Err())
	}
	if e.err != nil {
		return nil, e.err
	}
	return e.face, e.face.Revive(ctx)
}

// ownerOf is the id under which the engine knows an agent as the owner of what
// it starts: its session's, or where there are none its token's and name's.
func (s *server) ownerOf(a agent) string {
	if s.held {
		return toolkit.NewOwner()
	}
	return toolkit.LastingOwner(a.token, a.actor)
}

// entryOf finds an agent's entry, or makes one and has it filled.
func (s *server) entryOf(key any, a agent) *entry {
	s.faces.mu.Lock()
	defer s.faces.mu.Unlock()
	e := s.faces.made[key]
	if e == nil {
		if !s.held {
			s.faces.forget(facesMost - 1)
		}
		e = &entry{ready: make(chan struct{})}
		var life context.Context
		life, e.cancel = context.WithCancel(s.ctx)
		s.faces.made[key] = e
		s.tasks.Go(func() { s.live(life, key, e, a) })
	}
	e.used = time.Now()
	return e
}

// live is an agent's presence: from its first request to the end of its
// session, or of the time without requests.
func (s *server) live(ctx context.Context, key any, e *entry, a agent) {
	defer e.cancel()
	defer s.faces.remove(key, e)
	e.face, e.err = s.connect(ctx, a.actor, s.ownerOf(a))
	close(e.ready)
	if e.err != nil {
		return
	}
	if s.held {
		s.tasks.Go(func() {
			// The error is that of the connection, and its end is all that counts.
			_ = a.session.Wait()
			e.cancel()
		})
	} else {
		s.tasks.Go(func() { s.faces.expire(ctx, e) })
	}
	e.face.Attend(ctx, s.heard)
}

// remove forgets an entry, so that the next request makes another one.
func (f *faces) remove(key any, e *entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made[key] == e {
		delete(f.made, key)
	}
}

// forget drops those that were not used for longest until at most n are left.
// The lock is held.
func (f *faces) forget(n int) {
	for len(f.made) > n {
		var oldest any
		for key, e := range f.made {
			if oldest == nil || e.used.Before(f.made[oldest].used) {
				oldest = key
			}
		}
		f.made[oldest].cancel()
		delete(f.made, oldest)
	}
}

// expire ends an agent without a session some time after its last request.
func (f *faces) expire(ctx context.Context, e *entry) {
	clock := time.NewTicker(faceIdle / 2)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-clock.C:
			f.mu.Lock()
			idle := now.Sub(e.used)
			f.mu.Unlock()
			if idle >= faceIdle {
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
func (s *server) welcome(a agent) {
	if s.held {
		s.entryOf(a.session, a)
	}
}

// connect makes a face for an agent. While its presence runs, the engine
// counts the agent as there.
func (s *server) connect(ctx context.Context, actor, owner string) (*toolkit.Agent, error) {
	f := &toolkit.Agent{Options: &s.o, Actor: actor, Owner: owner, Roots: s.o.Roots, Environ: api.Environ(os.Environ())}
	engine, err := s.o.Connect(ctx, f.Actor, f.Owner, s.o.Bounds())
	if err != nil {
		return nil, err
	}
	f.Engine = engine
	return f, nil
}
