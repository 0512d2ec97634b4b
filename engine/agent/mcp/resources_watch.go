package mcp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/base/sleep"
)

// notifyInterval is the minimum time between notifications of one resource.
const notifyInterval = time.Second

// resources tracks the subscriptions of agents, and the sessions and processes in the list of
// resources that agents were told of last.
type resources struct {
	mu            sync.Mutex
	subscriptions map[subscription]context.CancelFunc
	listed        map[string]string // id to name; nil before the first snapshot
}

type subscription struct {
	session *sdk.ServerSession
	uri     string
}

// subscribe starts to notify a session of a resource's changes, until it unsubscribes or ends.
func (s *server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	what, ok := parseResource(req.Params.URI)
	if !ok {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	who := identifyCaller(req)
	f, err := s.agentOf(ctx, who)
	if err != nil {
		return err
	}
	if _, err := api.ProcessGet.Call(withRead(ctx, what.tool()), f.Engine, api.IDInput{ID: what.id}); err != nil {
		return resourceError(err, req.Params.URI)
	}
	s.watchResource(subscription{req.Session, req.Params.URI}, who, what.id)
	return nil
}

// unsubscribe ends a subscription.
func (s *server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	s.resources.endSubscription(subscription{req.Session, req.Params.URI})
	return nil
}

// watchResource starts a subscription unless it exists.
func (s *server) watchResource(of subscription, who caller, id string) {
	r := &s.resources
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.subscriptions[of] != nil {
		return
	}
	if r.subscriptions == nil {
		r.subscriptions = map[subscription]context.CancelFunc{}
	}
	ctx, cancel := context.WithCancel(s.ctx)
	r.subscriptions[of] = cancel
	s.tasks.Go(func() {
		defer r.endSubscription(of)
		s.notifyChanges(ctx, of, who, id)
	})
}

func (r *resources) endSubscription(of subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel := r.subscriptions[of]; cancel != nil {
		cancel()
		delete(r.subscriptions, of)
	}
}

// notifyChanges sends notifications of new output until ctx or the session ends or the process is
// deleted.
func (s *server) notifyChanges(ctx context.Context, of subscription, who caller, id string) {
	since, stderr := int64(-1), int64(0)
	for ctx.Err() == nil && slices.Contains(slices.Collect(s.sdk.Sessions()), of.session) {
		in := api.ProcessLogInput{ID: id, Stream: "both", Since: &since, Max: 1 << 20}
		if since >= 0 {
			in.WaitMS, in.SinceStderr = 50_000, &stderr
		}
		var out api.ProcessLogOutput
		f, err := s.agentOf(ctx, who)
		if err == nil {
			out, err = api.ProcessLog.Call(ctx, f.Engine, in)
		}
		switch {
		case errors.Is(err, api.CodeNotFound):
			return
		case err != nil:
			_ = sleep.For(ctx, toolkit.MaxWatchPause)
			continue
		case since >= 0 && (out.End > since || out.Stderr != nil && out.Stderr.End > stderr):
			_ = s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: of.uri})
		}
		// Start the next wait where this one ended, so that output during the pause is not missed.
		since = out.End
		if out.Stderr != nil {
			stderr = out.Stderr.End
		}
		_ = sleep.For(ctx, notifyInterval)
	}
}

// applyEvent updates the list of resources, and announces a change. Every agent's watch delivers
// the same events; the first delivery counts.
func (s *server) applyEvent(e api.Event) {
	if s.resources.updateList(e) {
		s.addResources()
	}
}

// updateList applies an event and reports whether the list has changed.
func (r *resources) updateList(e api.Event) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case e.Type == api.EventSnapshot:
		before := r.listed
		r.listed = make(map[string]string, len(e.Processes))
		for _, p := range e.Processes {
			if !isTransient(p) {
				r.listed[p.ID] = p.Name
			}
		}
		return before != nil && !maps.Equal(before, r.listed)
	case r.listed == nil:
		return false
	case e.Type == api.EventProcess && !isTransient(*e.Process):
		name, known := r.listed[e.Process.ID]
		r.listed[e.Process.ID] = e.Process.Name
		return !known || name != e.Process.Name
	case e.Type == api.EventRemoved:
		_, known := r.listed[e.ID]
		delete(r.listed, e.ID)
		return known
	}
	return false
}
