package server

import (
	"context"
	"errors"
	"time"

	"tandem/engine/api"
)

// A Visit is a call by a person of the fleet.
type Visit struct {
	Operation string
	In        any // pointer to the input
	Took      time.Duration
	Err       error
}

// reportVisit calls m.Visited for a write or a rejected call by a person of the fleet. Calls of
// agents are reported by the agent's own server.
func (m *Mux) reportVisit(ctx context.Context, name string, effect api.Effect, in any, began time.Time, err error) {
	c := CallerOf(ctx)
	if m.Visited == nil || c.Origin.Person == "" || c.Agent() || effect == api.Read && !errors.Is(err, api.CodeForbidden) {
		return
	}
	m.Visited(ctx, Visit{name, in, time.Since(began), err})
}
