package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"tandem/engine/base/sleep"
	"tandem/engine/control/launch"
	"tandem/engine/control/supervise"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// A keeper that has run out of descriptors may refuse a child or fail to send a terminal it holds.
// The child keeps running while the engine retries, but its session has no screen until then.

// A pendingCall is a failed call to the keeper about a live child.
type pendingCall struct {
	child  keeper.Child
	orphan bool // retry Adopt rather than Master
	keeper int  // PID of the keeper holding the terminal
}

const (
	// regainPause is the time before the first retry; it doubles up to maxRegainPause.
	regainPause    = 20 * time.Millisecond
	maxRegainPause = 10 * time.Second
)

// A regainer retries failed calls to the keeper.
type regainer struct {
	host  *host
	added chan struct{} // holds one signal for run

	mu      sync.Mutex
	pending []pendingCall
}

func newRegainer(h *host) *regainer { return &regainer{host: h, added: make(chan struct{}, 1)} }

// add queues a call for run.
func (r *regainer) add(w pendingCall) {
	r.mu.Lock()
	r.pending = append(r.pending, w)
	r.mu.Unlock()
	select {
	case r.added <- struct{}{}:
	default:
	}
}

// addOrphan queues a child refused by a keeper.
func (r *regainer) addOrphan(c keeper.Child) { r.add(pendingCall{child: c, orphan: true}) }

// run retries the queued calls, each until it succeeds or the child exits. It returns when ctx
// ends.
func (r *regainer) run(ctx context.Context) {
	for {
		select {
		case <-r.added:
		case <-ctx.Done():
			return
		}
		for pause := regainPause; r.retryAll(ctx, pause); {
			pause = min(2*pause, maxRegainPause)
		}
	}
}

// retryAll makes one attempt for each queued call after a pause and reports whether any remain.
func (r *regainer) retryAll(ctx context.Context, pause time.Duration) bool {
	if sleep.For(ctx, pause) != nil {
		return false
	}
	client, err := r.host.link.Await(ctx)
	if err != nil {
		return true
	}
	r.mu.Lock()
	queued := r.pending
	r.pending = nil
	r.mu.Unlock()
	queued = slices.DeleteFunc(queued, func(w pendingCall) bool {
		err := r.attempt(ctx, client, w)
		if err != nil && ctx.Err() == nil {
			r.host.log.Warn("retry keeper call", "id", w.child.ID, "error", err)
		}
		return err == nil
	})
	// Calls may have been added meanwhile.
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = append(queued, r.pending...)
	return len(r.pending) > 0
}

// attempt makes one attempt. A nil error means the child needs no further one.
func (r *regainer) attempt(ctx context.Context, client launch.Keeper, m pendingCall) error {
	h, terminals := r.host, supervise.Terminals{Of: r.host.control}
	if m.orphan {
		for _, c := range h.listHandovers(ctx) {
			if c.Child.ID == m.child.ID && c.Child.PID == m.child.PID {
				return client.Adopt(ctx, c.Child, c.Dir, c.Logs, c.Master)
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
	used, err := terminals.Regain(ctx, m.child, func(rec store.Record) supervise.Session { return h.adoptSession(rec, m.child, master) })
	if !used {
		master.Close()
	}
	return err
}
