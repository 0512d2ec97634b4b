package engine

import (
	"context"
	"os"
	"time"

	"tandem/engine/api"
	"tandem/engine/control/supervise"
	"tandem/persist/store"
)

// idleCheckInterval is the maximum time between checks for idle sessions.
const idleCheckInterval = time.Minute

// expireIdle stops agents' unused sessions until ctx ends.
func (e *engine) expireIdle(ctx context.Context) {
	if e.o.IdleExpiry <= 0 {
		return
	}
	tick := time.NewTicker(min(idleCheckInterval, e.o.IdleExpiry))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			since := time.Now().Add(-e.o.IdleExpiry)
			e.host.control.StopIdleSessions(since)
			e.stopIdleInputs(ctx, since)
		}
	}
}

// stopIdleInputs stops agents' processes with a standard input and no terminal that have neither
// been written to nor printed anything since the given time.
func (e *engine) stopIdleInputs(ctx context.Context, since time.Time) {
	var recs []store.Record
	err := e.host.control.Visit(ctx, func(p supervise.Entry) {
		if r := p.Rec; r.Stdin && r.Transient && supervise.IsFromAgent(r) && r.Lease != string(api.LeaseForever) && p.State == api.StateRunning {
			recs = append(recs, r)
		}
	})
	if err != nil {
		return // the engine is exiting
	}
	for _, r := range recs {
		if !wasUsedSince(e.host.store, r, since) {
			e.log.Info("end idle session", "id", r.ID)
			e.host.control.RequestStop(r.ID)
		}
	}
}

// wasUsedSince reports whether a process was started or written to, or has printed, since a time.
// The times of its FIFO and logs show it.
func wasUsedSince(data *store.Store, r store.Record, since time.Time) bool {
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
