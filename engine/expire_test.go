package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/control/host"
	"tandem/engine/session/terminal"
	"tandem/persist/store"
)

func TestIdleSessionsOfAgentsExpire(t *testing.T) {
	t.Parallel()
	withLoop(t, func(r *loop) {
		h := &host.Host{Control: r.c}
		ctx, cancel := context.WithCancel(r.Context())
		done := make(chan struct{})
		go func() { h.StopIdle(ctx, 30*time.Minute); close(done) }()
		defer func() { cancel(); <-done }()
		begun := time.Now()
		var all []string
		for id, change := range map[string]func(rec *store.Record, shows *terminal.Facts){
			"agents":  func(rec *store.Record, _ *terminal.Facts) { rec.Actor = "agent:a/1" },
			"owned":   func(rec *store.Record, _ *terminal.Facts) { rec.Owner = "a-1" },
			"persons": func(*store.Record, *terminal.Facts) {},
			"forever": func(rec *store.Record, _ *terminal.Facts) { rec.Owner, rec.Lease = "a-1", string(api.LeaseForever) },
			"watched": func(rec *store.Record, shows *terminal.Facts) { rec.Owner, shows.Viewers = "a-1", 1 },
			"used": func(rec *store.Record, shows *terminal.Facts) {
				rec.Owner, shows.Active = "a-1", begun.Add(20*time.Minute)
			},
		} {
			rec, s := record(id), &idleSession{facts: terminal.Facts{Active: begun}}
			change(&rec, &s.facts)
			r.sessions[id] = s
			r.startRunning(rec)
			all = append(all, id)
		}
		want := func(after time.Duration, ended ...string) {
			time.Sleep(time.Until(begun.Add(after)))
			for _, id := range all {
				p := r.view(id)
				if over := p.State != api.StateRunning; over != slices.Contains(ended, p.ID) {
					t.Errorf("after %v %s is %s", after, p.ID, p.State)
				}
			}
		}
		want(29 * time.Minute)
		want(32*time.Minute, "agents", "owned")
		want(52*time.Minute, "agents", "owned", "used")
	})
}
