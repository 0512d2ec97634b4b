package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"tandem/engine/keeper"
	"tandem/engine/sleep"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// A keeper that is out of descriptors may refuse a child or fail to send a terminal that it
// holds. The child keeps running, a session without its screen, while the engine retries.

// wanted is a living child that the keeper could not serve.
type wanted struct {
	child  keeper.Child
	orphan bool // retry Adopt; otherwise retry Master
	keeper int  // pid of the keeper that holds the terminal
}

const (
	// regainPause is the time before the first retry; it doubles up to maxRegainPause.
	regainPause    = 20 * time.Millisecond
	maxRegainPause = 10 * time.Second
)

// A regainer retries calls that the keeper failed.
type regainer struct {
	host  *host
	added chan struct{} // holds one signal for run

	mu     sync.Mutex
	wanted []wanted
}

func newRegainer(h *host) *regainer { return &regainer{host: h, added: make(chan struct{}, 1)} }

// add queues a child for run.
func (r *regainer) add(w wanted) {
	r.mu.Lock()
	r.wanted = append(r.wanted, w)
	r.mu.Unlock()
	select {
	case r.added <- struct{}{}:
	default:
	}
}

// adopt queues a child that a keeper refused to adopt.
func (r *regainer) adopt(c keeper.Child) { r.add(wanted{child: c, orphan: true}) }

// run retries queued children, each until it succeeds or the child exits. It returns when ctx
// ends.
func (r *regainer) run(ctx context.Context) {
	for {
		select {
		case <-r.added:
		case <-ctx.Done():
			return
		}
		for pause := regainPause; r.retry(ctx, pause); {
			pause = min(2*pause, maxRegainPause)
		}
	}
}

// retry makes one attempt for each queued child after a pause and reports whether any remain.
func (r *regainer) retry(ctx context.Context, pause time.Duration) bool {
	if sleep.For(ctx, pause) != nil {
		return false
	}
	client, err := r.host.link.get(ctx)
	if err != nil {
		return true
	}
	r.mu.Lock()
	queued := r.wanted
	r.wanted = nil
	r.mu.Unlock()
	queued = slices.DeleteFunc(queued, func(w wanted) bool {
		err := r.ask(ctx, client, w)
		if err != nil && ctx.Err() == nil {
			r.host.log.Warn("retry keeper call", "id", w.child.ID, "error", err)
		}
		return err == nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wanted = append(queued, r.wanted...)
	return len(r.wanted) > 0
}

// ask makes one attempt. A nil error means that the child needs no further attempt.
func (r *regainer) ask(ctx context.Context, client keeperClient, m wanted) error {
	h, terminals := r.host, supervise.Terminals{Of: r.host.control}
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
	used, err := terminals.Regain(ctx, m.child, func(rec store.Record) supervise.Session { return h.adoptSession(rec, m.child, master) })
	if !used {
		master.Close()
	}
	return err
}
