package engine

import (
	"context"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// idleLook is the most time between looks for idle sessions.
const idleLook = time.Minute

// expireIdle ends sessions of agents that nobody uses any more, until ctx ends.
func (h *host) expireIdle(ctx context.Context) {
	if h.o.IdleExpiry <= 0 {
		return
	}
	tick := time.NewTicker(min(idleLook, h.o.IdleExpiry))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			since := time.Now().Add(-h.o.IdleExpiry)
			h.control.box.Post(func() { h.control.endIdle(since) })
			h.endIdleInputs(ctx, since)
		}
	}
}

// ofAgent reports whether an agent has started what a record is of.
func ofAgent(r store.Record) bool {
	return r.Owner != "" || strings.HasPrefix(r.Actor, "agent:")
}

// endIdle ends the sessions of agents that were not used since a time and that
// nobody watches and no person has the keyboard of. One that is looked after goes on, and so does one that its
// agent has asked to be kept for ever.
func (c *control) endIdle(since time.Time) {
	for _, p := range c.procs {
		if !p.rec.TTY || !ofAgent(p.rec) || p.rec.Lease == string(api.LeaseForever) ||
			p.rec.Restart.Policy != "" || p.state() != api.StateRunning || p.live == nil {
			continue
		}
		f := p.live.Facts()
		if f.Viewers > 0 || p.rec.Keyboard != "" || f.Active.After(since) {
			continue
		}
		c.log.Info("end idle session", "id", p.rec.ID, "since", f.Active)
		c.notice(p.rec.Name + ": ended, as its agent had not used it for a while")
		c.handle(p.rec.ID, event{kind: evStop})
	}
}
