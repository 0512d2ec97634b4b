package engine

import (
	"context"
	"os"

	"tandem/engine/api"
	"tandem/engine/record/scrub"
)

// Text is overwritten while no engine serves: the present one stops, overwrites it, and executes its
// program again. So no part of the engine needs to forget text that it has in memory, and an engine
// that starts after a crash in the middle only has to finish the list of places first.

// requestScrub returns what a query finds, and restarts the engine to overwrite it. If nothing is
// found, it does neither.
func (e *engine) requestScrub(ctx context.Context, q scrub.Query) (*scrub.Result, error) {
	found, err := scrub.Find(ctx, e.o.DataDir, q, nil)
	if err != nil || found.Plan.IsEmpty() {
		return found, err
	}
	own, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	defer own.Close()
	done, err := e.requestUpgradeAfter(ctx, own, func() {
		now, err := scrub.Find(context.Background(), e.o.DataDir, q, found)
		if err == nil {
			err = now.Plan.Run(e.o.DataDir)
		}
		if err != nil {
			e.log.Error("scrub", "error", err)
		}
	})
	if err == nil && !done {
		err = api.Errorf(api.CodeUnavailable, "scrub: this keeper cannot restart the engine in place").
			WithHint("a new keeper starts after `tandem shutdown --all`")
	}
	return found, err
}
