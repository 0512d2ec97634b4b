package copy

import (
	"context"
	"errors"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
)

// A rereader is an engine that repeats a read over a new link if one is lost.
type rereader struct{ api.Engine }

// Do implements api.Engine.
func (r rereader) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	call := func() error { return r.Engine.Do(ctx, name, effect, in, out) }
	if effect == api.Read {
		return retryLost(ctx, call)
	}
	return call()
}

// The time between attempts to reach a machine doubles from firstWait to maxWait.
const firstWait, maxWait = 50 * time.Millisecond, 2 * time.Second

// retryLost calls do again while links are lost, unless the machine is offline.
func retryLost(ctx context.Context, do func() error) (err error) {
	for wait := firstWait; wait <= maxWait; wait *= 2 {
		if err = do(); !errors.Is(err, api.CodeUnavailable) || errors.Is(err, api.ReasonMachineOffline) {
			return err
		}
		_ = sleep.For(ctx, wait)
	}
	return err
}
