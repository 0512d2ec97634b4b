package engine

import (
	"context"
	"os"
	"time"

	"tandem/engine/api"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// idleLook is the most time between looks for idle sessions.
const idleLook = time.Minute

// expireIdle ends sessions of agents that nobody uses any more, until ctx ends.
func (e *engine) expireIdle(ctx context.Context) {
	if e.o.IdleExpiry <= 0 {
		return
	}
	tick := time.NewTicker(min(idleLook, e.o.IdleExpiry))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			since := time.Now().Add(-e.o.IdleExpiry)
			e.host.control.StopIdleSessions(since)
			e.endIdleInputs(ctx, since)
		}
	}
}

// endIdleInputs ends the sessions of agents that have no terminal but a
// standard input, and were neither written to nor have printed since a time.
func (e *engine) endIdleInputs(ctx context.Context, since time.Time) {
	var recs []store.Record
	err := e.host.control.Visit(ctx, func(p supervise.Entry) {
		if r := p.Rec; r.Stdin && r.Transient && supervise.IsFromAgent(r) && r.Lease != string(api.LeaseForever) && p.State == api.StateRunning {
			recs = append(recs, r)
		}
	})
	if err != nil {
		return // the engine ends
	}
	for _, r := range recs {
		if !usedSince(e.host.store, r, since) {
			e.log.Info("end idle session", "id", r.ID)
			e.host.control.RequestStop(r.ID)
		}
	}
}

// usedSince reports whether a process was started, was written to or has printed
// since a time; its FIFO and its log tell.
func usedSince(data *store.Store, r store.Record, since time.Time) bool {
	if r.StartedAt.After(since) {
		return true
	}
	for _, path := range []string{data.LogPath(r), data.ErrorLogPath(r), data.InputPath(r.ID)} {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(since) {
			return true
		}
	}
	return false
}
