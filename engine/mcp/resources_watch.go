package mcp

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
	"tandem/engine/sleep"
)

// resourcePace is how often at most agents are told of one change or another.
const resourcePace = time.Second

// resources are what agents are told about changes: which sessions watch what,
// and what was on the list when they were told last.
type resources struct {
	mu       sync.Mutex
	followed map[string]*following // by URI
	sessions map[*sdk.ServerSession]bool

	listed   map[string]string // id to name
	told     time.Time         // when agents were told of the list
	telling  bool              // somebody will tell them soon
	snapshot bool              // listed is known
}

// A following tells those who watch a resource when it changes.
type following struct {
	sessions map[*sdk.ServerSession]bool
	cancel   context.CancelFunc
}

// subscribe begins to follow a resource for a session.
func (s *server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	what, ok := parseResource(req.Params.URI)
	if !ok {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	f, err := s.agentOf(ctx, identify(req))
	if err != nil {
		return err
	}
	if err := permitReading(ctx, f, what); err != nil {
		return err
	}
	if _, err := api.ProcessGet.Call(ctx, f.Engine, api.IDInput{ID: what.id}); err != nil {
		if errors.Is(err, api.CodeNotFound) {
			return sdk.ResourceNotFoundError(req.Params.URI)
		}
		return err
	}
	s.follow(f, req.Params.URI, what, req.Session)
	return nil
}

func (s *server) follow(f *toolkit.Agent, uri string, what resourceURI, session *sdk.ServerSession) {
	r := &s.resources
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.followed == nil {
		r.followed, r.sessions = map[string]*following{}, map[*sdk.ServerSession]bool{}
	}
	if !r.sessions[session] {
		r.sessions[session] = true
		s.tasks.Go(func() {
			_ = session.Wait() // its end is all that counts
			r.leave(session)
		})
	}
	g := r.followed[uri]
	if g == nil {
		g = &following{sessions: map[*sdk.ServerSession]bool{}}
		var ctx context.Context
		ctx, g.cancel = context.WithCancel(s.ctx)
		r.followed[uri] = g
		s.tasks.Go(func() {
			defer g.cancel()
			s.tellChanges(ctx, f, uri, what.id)
		})
	}
	g.sessions[session] = true
}

// unsubscribe ends that.
func (s *server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	s.resources.mu.Lock()
	defer s.resources.mu.Unlock()
	s.resources.drop(req.Params.URI, req.Session)
	return nil
}

// leave ends all that a session follows.
func (r *resources) leave(session *sdk.ServerSession) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, session)
	for uri := range maps.Clone(r.followed) {
		r.drop(uri, session)
	}
}

// drop takes a session off a resource. The lock is held.
func (r *resources) drop(uri string, session *sdk.ServerSession) {
	g := r.followed[uri]
	if g == nil {
		return
	}
	delete(g.sessions, session)
	if len(g.sessions) == 0 {
		g.cancel()
		delete(r.followed, uri)
	}
}

// tellChanges tells of new output until ctx ends or the process is forgotten. It
// looks as the agent that asked first, whose connection may be gone by then.
func (s *server) tellChanges(ctx context.Context, f *toolkit.Agent, uri, id string) {
	engine, err := s.o.Connect(ctx, f.Actor, f.Owner, s.o.Bounds())
	if err != nil {
		return
	}
	defer engine.Close()
	since, stderr := int64(-1), int64(0)
	for ctx.Err() == nil {
		in := api.ProcessLogInput{ID: id, Stream: "both", Since: &since, Max: 1 << 20}
		if since >= 0 {
			in.WaitMS, in.SinceStderr = 50_000, &stderr
		}
		out, err := api.ProcessLog.Call(ctx, engine, in)
		switch {
		case errors.Is(err, api.CodeNotFound):
			return
		case err != nil:
			_ = sleep.For(ctx, toolkit.WatchAgainMost)
			continue
		case since >= 0 && (out.End > since || out.Stderr != nil && out.Stderr.End > stderr):
			_ = s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
		since = out.End
		if out.Stderr != nil {
			stderr = out.Stderr.End
		}
		_ = sleep.For(ctx, resourcePace)
	}
}

// applyEvent takes in what an agent's watch tells. Of several agents each tells the
// same, and the first counts.
func (s *server) applyEvent(e api.Event) {
	r := &s.resources
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.apply(e) || r.telling {
		return
	}
	r.telling = true
	wait := max(0, time.Until(r.told.Add(resourcePace)))
	s.tasks.Go(func() {
		_ = sleep.For(s.ctx, wait)
		r.mu.Lock()
		r.telling, r.told = false, time.Now()
		r.mu.Unlock()
		if s.ctx.Err() == nil {
			s.addTemplate()
		}
	})
}

// apply reports whether an event changes the list of resources. The lock is held.
func (r *resources) apply(e api.Event) bool {
	switch e.Type {
	case api.EventSnapshot:
		listed := make(map[string]string, len(e.Processes))
		for _, p := range e.Processes {
			if !transient(p) {
				listed[p.ID] = p.Name
			}
		}
		changed := r.snapshot && !maps.Equal(listed, r.listed)
		r.listed, r.snapshot = listed, true
		return changed
	case api.EventProcess:
		name, known := r.listed[e.Process.ID]
		if r.listed == nil || known && name == e.Process.Name || transient(*e.Process) {
			return false
		}
		r.listed[e.Process.ID] = e.Process.Name
		return true
	case api.EventRemoved:
		_, known := r.listed[e.ID]
		delete(r.listed, e.ID)
		return known
	}
	return false
}
