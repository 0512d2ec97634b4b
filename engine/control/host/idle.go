package host

import (
	"context"
	"os"
	"time"

	"tandem/engine/api"
	"tandem/engine/control/supervise"
	"tandem/persist/store"
)

// idleCheckInterval is the maximum time between two checks for idle sessions.
const idleCheckInterval = time.Minute

// StopIdle stops agents' sessions that have not been used for as long as limit. It returns when ctx
// ends.
func (h *Host) StopIdle(ctx context.Context, limit time.Duration) {
	if limit <= 0 {
		return
	}
	tick := time.NewTicker(min(idleCheckInterval, limit))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			since := time.Now().Add(-limit)
			h.Control.StopIdleSessions(since)
			h.stopIdleInputs(ctx, since)
		}
	}
}

// stopIdleInputs stops agents' processes that read input from a pipe and have been idle: since the
// given time nobody has written to them and they have printed nothing.
func (h *Host) stopIdleInputs(ctx context.Context, since time.Time) {
	var recs []store.Record
	err := h.Control.Visit(ctx, func(p supervise.Entry) {
		if r := p.Rec; r.Stdin && r.Transient && supervise.IsFromAgent(r) && r.Lease != string(api.LeaseForever) && p.State == api.StateRunning {
			recs = append(recs, r)
		}
	})
	if err != nil {
		return // the engine is exiting
	}
	for _, r := range recs {
		if !wasUsedSince(h.store, r, since) {
			h.log.Info("end idle session", "id", r.ID)
			h.Control.RequestStop(r.ID)
		}
	}
}

// wasUsedSince reports whether a process was started, written to or printed anything since a time.
// It looks at the modification times of its FIFO and logs.
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
