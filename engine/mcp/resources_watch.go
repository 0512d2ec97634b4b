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

// notifyInterval is the minimum time between notifications of the same kind.
const notifyInterval = time.Second

// resources tracks the sessions watching each resource, and the list as last announced.
type resources struct {
	mu       sync.Mutex
	watched  map[string]*watchedResource // by URI
	sessions map[*sdk.ServerSession]bool

	listed        map[string]string // id to name
	notified      time.Time         // time of the last notification about the list
	notifyPending bool              // a notification is scheduled
	hasSnapshot   bool              // listed is complete
}

// A watchedResource has a goroutine notifying its sessions of changes.
type watchedResource struct {
	sessions map[*sdk.ServerSession]bool
	cancel   context.CancelFunc
}

// subscribe starts to notify a session of a resource's changes.
func (s *server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	what, ok := parseResource(req.Params.URI)
	if !ok {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	f, err := s.agentOf(ctx, identifyCaller(req))
	if err != nil {
		return err
	}
	if err := permitRead(ctx, f, what); err != nil {
		return err
	}
	if _, err := api.ProcessGet.Call(ctx, f.Engine, api.IDInput{ID: what.id}); err != nil {
		if errors.Is(err, api.CodeNotFound) {
			return sdk.ResourceNotFoundError(req.Params.URI)
		}
		return err
	}
	s.watchResource(f, req.Params.URI, what, req.Session)
	return nil
}

func (s *server) watchResource(f *toolkit.Agent, uri string, what resourceURI, session *sdk.ServerSession) {
	r := &s.resources
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watched == nil {
		r.watched, r.sessions = map[string]*watchedResource{}, map[*sdk.ServerSession]bool{}
	}
	if !r.sessions[session] {
		r.sessions[session] = true
		s.tasks.Go(func() {
			_ = session.Wait() // only its end matters
			r.removeSession(session)
		})
	}
	g := r.watched[uri]
	if g == nil {
		g = &watchedResource{sessions: map[*sdk.ServerSession]bool{}}
		var ctx context.Context
		ctx, g.cancel = context.WithCancel(s.ctx)
		r.watched[uri] = g
		s.tasks.Go(func() {
			defer g.cancel()
			s.notifyChanges(ctx, f, uri, what.id)
		})
	}
	g.sessions[session] = true
}

// unsubscribe ends a subscription.
func (s *server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	s.resources.mu.Lock()
	defer s.resources.mu.Unlock()
	s.resources.removeWatch(req.Params.URI, req.Session)
	return nil
}

// removeSession ends all subscriptions of a session.
func (r *resources) removeSession(session *sdk.ServerSession) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, session)
	for uri := range maps.Clone(r.watched) {
		r.removeWatch(uri, session)
	}
}

// removeWatch ends a session's subscription. The caller holds mu.
func (r *resources) removeWatch(uri string, session *sdk.ServerSession) {
	g := r.watched[uri]
	if g == nil {
		return
	}
	delete(g.sessions, session)
	if len(g.sessions) == 0 {
		g.cancel()
		delete(r.watched, uri)
	}
}

// notifyChanges sends notifications of new output until ctx ends or the process is deleted. It
// connects as the first subscriber, but with a connection of its own, because that agent may
// disconnect earlier.
func (s *server) notifyChanges(ctx context.Context, f *toolkit.Agent, uri, id string) {
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
			_ = sleep.For(ctx, toolkit.MaxWatchPause)
			continue
		case since >= 0 && (out.End > since || out.Stderr != nil && out.Stderr.End > stderr):
			_ = s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
		// Start the next wait where this one ended, so that output during the pause is not missed.
		since = out.End
		if out.Stderr != nil {
			stderr = out.Stderr.End
		}
		_ = sleep.For(ctx, notifyInterval)
	}
}

// applyEvent updates the list of resources and schedules a notification if it changed. Every
// agent's watch delivers the same events; the first delivery counts.
func (s *server) applyEvent(e api.Event) {
	r := &s.resources
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.updateList(e) || r.notifyPending {
		return
	}
	r.notifyPending = true
	wait := max(0, time.Until(r.notified.Add(notifyInterval)))
	s.tasks.Go(func() {
		_ = sleep.For(s.ctx, wait)
		r.mu.Lock()
		// Reset before notifying, so that an event during the notification schedules another.
		r.notifyPending, r.notified = false, time.Now()
		r.mu.Unlock()
		if s.ctx.Err() == nil {
			s.addTemplate()
		}
	})
}

// updateList applies an event and reports whether the list has changed. The caller holds mu.
func (r *resources) updateList(e api.Event) bool {
	switch e.Type {
	case api.EventSnapshot:
		listed := make(map[string]string, len(e.Processes))
		for _, p := range e.Processes {
			if !isTransient(p) {
				listed[p.ID] = p.Name
			}
		}
		changed := r.hasSnapshot && !maps.Equal(listed, r.listed)
		r.listed, r.hasSnapshot = listed, true
		return changed
	case api.EventProcess:
		name, known := r.listed[e.Process.ID]
		if r.listed == nil || known && name == e.Process.Name || isTransient(*e.Process) {
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
