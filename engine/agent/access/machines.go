package access

import (
	"context"

	"tandem/engine/api"
)

// MayReachMachines reports whether this engine carries out the caller's calls on other machines. It
// does so for the user's programs on this machine. An agent needs a connection that is bound to its
// bounds, see bindToBounds. A caller from another machine cannot reach a third one through this
// one.
func (g *Guard) MayReachMachines(ctx context.Context) bool {
	c := api.CallerOf(ctx)
	return !c.Agent() && c.Origin == api.Origin{}
}
