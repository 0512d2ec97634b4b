package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"tandem/engine/keeper"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// A keeper that is out of descriptors, or whose connection was lost, may hold a terminal
// all the same. Its session keeps running without a screen while the engine asks again.

// A missing is a child that lives and that the keeper could not serve.
type missing struct {
	child  keeper.Child
	orphan bool // the keeper was to adopt it; otherwise it was asked for its terminal
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
	added   chan struct{} // of 1
	mu      sync.Mutex
	missing []missing
}

func newSearch(h *host) *search { return &search{host: h, added: make(chan struct{}, 1)} }

// add has run ask for something, at once and then again until it is there.
func (s *search) add(m missing) {
	s.mu.Lock()
	s.missing = append(s.missing, m)
	s.mu.Unlock()
	select {
	case s.added <- struct{}{}:
	default:
	}
}

// adopt has the keeper asked again to adopt a child.
func (s *search) adopt(c keeper.Child) { s.add(missing{child: c, orphan: true}) }

// run asks for what is added until nothing of it is missing, and ends with ctx.
func (s *search) run(ctx context.Context) {
	for {
		select {
		case <-s.added:
		case <-ctx.Done():
			return
		}
		for wait := regainRetry; s.again(ctx, wait); {
			wait = min(2*wait, regainRetryMost)
		}
	}
}

// again asks once more after a pause, and reports whether something is missing still.
func (s *search) again(ctx context.Context, pause time.Duration) bool {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return false
	}
	client, err := s.host.link.get(ctx)
	if err != nil {
		return true
	}
	s.mu.Lock()
	asked := s.missing
	s.missing = nil
	s.mu.Unlock()
	asked = slices.DeleteFunc(asked, func(m missing) bool {
		err := s.ask(ctx, client, m)
		if err != nil && ctx.Err() == nil {
			s.host.log.Warn("ask keeper again", "id", m.child.ID, "error", err)
		}
		return err == nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing = append(asked, s.missing...)
	return len(s.missing) > 0
}

// ask makes one attempt. Without an error nothing is left to do.
func (s *search) ask(ctx context.Context, client keeperClient, m missing) error {
	h, terminals := s.host, supervise.Terminals{Of: s.host.control}
	if m.orphan {
		for _, c := range h.handovers(ctx) {
			if c.child.ID == m.child.ID && c.child.PID == m.child.PID {
				return client.Adopt(ctx, c.child, c.dir, c.logs, c.master)
			}
		}
		return nil // it exited
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
