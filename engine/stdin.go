package engine

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// makeInput makes the FIFO that is a process's standard input and gives its
// path; empty for a process that reads nothing. The child keeps it open in both
// directions, so that it outlives every process of ours.
func (h *host) makeInput(r store.Record) (string, error) {
	if !r.Stdin {
		return "", nil
	}
	path := h.store.InputPath(r.ID)
	if err := syscall.Mkfifo(path, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return path, nil
}

// endIdleInputs ends the sessions of agents that have no terminal but a
// standard input, and were neither written to nor have printed since a time.
func (h *host) endIdleInputs(ctx context.Context, since time.Time) {
	var recs []store.Record
	err := h.control.Visit(ctx, func(e supervise.Entry) {
		if r := e.Rec; r.Stdin && r.Transient && supervise.OfAgent(r) && r.Lease != string(api.LeaseForever) && e.State == api.StateRunning {
			recs = append(recs, r)
		}
	})
	if err != nil {
		return // the engine ends
	}
	for _, r := range recs {
		if !h.usedSince(r, since) {
			h.log.Info("end idle session", "id", r.ID)
			h.control.End(r.ID)
		}
	}
}

// usedSince reports whether a process was started, was written to or has printed
// since a time; its FIFO and its log tell.
func (h *host) usedSince(r store.Record, since time.Time) bool {
	if r.StartedAt.After(since) {
		return true
	}
	for _, path := range []string{h.store.LogPath(r), h.store.ErrorLogPath(r), h.store.InputPath(r.ID)} {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(since) {
			return true
		}
	}
	return false
}
