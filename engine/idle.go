package engine

import (
	"context"
	"time"
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
			h.control.EndIdle(since)
			h.endIdleInputs(ctx, since)
		}
	}
}
