package server

import (
	"context"
	"errors"
	"time"

	"tandem/engine/api"
)

// A Visit is a call of a person of the fleet.
type Visit struct {
	Operation string
	In        any // points to the input
	Took      time.Duration
	Err       error
}

// visited tells of a call of a person of the fleet that may have changed something, or
// was refused. What agents do is told by the server that they are clients of.
func (m *Mux) visited(ctx context.Context, name string, effect api.Effect, in any, began time.Time, err error) {
	c := CallerOf(ctx)
	if m.Visited == nil || c.Origin.Person == "" || c.Agent() || effect == api.Read && !errors.Is(err, api.CodeForbidden) {
		return
	}
	m.Visited(ctx, Visit{name, in, time.Since(began), err})
}
