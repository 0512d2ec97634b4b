package engine

import (
	"context"
	"slices"
	"time"

	"tandem/engine/keeper"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// A keeper that is out of descriptors, or whose connection was lost, may hold a terminal
// all the same. Its session keeps running without a screen while the engine asks again.

// A missing is a child that lives and that the keeper could not serve at the start.
type missing struct {
	child  keeper.Child
	rec    store.Record
	orphan bool // the keeper was to adopt it; else it was asked for its terminal
	keeper int  // pid of the keeper that holds the terminal
}

const (
	// regainRetry is the time between attempts at first; it doubles up to regainRetryMost.
	regainRetry     = 20 * time.Millisecond
	regainRetryMost = 10 * time.Second
)

// A search asks for what is missing.
type search struct {
	host    *host
	missing []missing
}

// run asks again until nothing is missing, or ctx ends.
func (s *search) run(ctx context.Context) {
	for wait := regainRetry; len(s.missing) > 0; wait = min(2*wait, regainRetryMost) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		client, err := s.host.link.get(ctx)
		if err != nil {
			continue
		}
		s.missing = slices.DeleteFunc(s.missing, func(m missing) bool {
			err := s.ask(ctx, client, m)
			if err != nil && ctx.Err() == nil {
				s.host.log.Warn("ask keeper again", "id", m.child.ID, "error", err)
			}
			return err == nil
		})
	}
}

// ask makes one attempt. Without an error nothing is left to do.
func (s *search) ask(ctx context.Context, client keeperClient, m missing) error {
	h, terminals := s.host, supervise.Terminals{Of: s.host.control}
	if m.orphan {
		return client.Adopt(ctx, m.child, h.store.Dir(m.rec.ID), h.logsOf(m.rec), nil)
	}
	lacks, err := terminals.Lacks(ctx, m.child)
	if err != nil || !lacks {
		return err
	}
	if client.PID() != m.keeper { // its terminals were closed with it
		terminals.Abandon(m.child)
		return nil
	}
	master, err := client.Master(ctx, m.child.ID)
	if err != nil {
		return err
	}
	used, err := terminals.Regain(ctx, m.child, func(r store.Record) supervise.Session { return h.adoptSession(r, m.child, master) })
	if !used {
		master.Close()
	}
	return err
}
