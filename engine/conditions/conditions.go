// Package conditions waits for several conditions at the same time, until the first one
// holds. What a condition is and how it is looked for, its callers say.
package conditions

import (
	"context"

	"tandem/engine/panics"
)

// A Condition is one of those that are waited for.
type Condition[F any] struct {
	// Look waits until the condition holds, and tells what was found; holds is false if it
	// never will, or ctx has ended.
	Look func(ctx context.Context) (found F, holds bool)
	// Outlives says that it can still hold once what is waited for is over, in what it has
	// printed, and that Look ends by itself then.
	Outlives bool
}

// First is what was found of the first condition that holds; ok is false if ctx ends before
// that, or none can hold any more. Closing over says that what is waited for is over. All
// looks have ended when it returns.
func First[F any](ctx context.Context, over <-chan struct{}, all []Condition[F]) (found F, ok bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type sighting struct {
		found  F
		holds  bool
		caught *panics.Caught
	}
	seen := make(chan sighting, len(all))
	lasting, end := context.WithCancel(ctx)
	defer end()
	for _, c := range all {
		until := ctx
		if !c.Outlives {
			until = lasting
		}
		go func() {
			var s sighting
			s.caught = panics.Catch(func() { s.found, s.holds = c.Look(until) })
			seen <- s
		}()
	}
	for left := len(all); left > 0; {
		select {
		case s := <-seen:
			left--
			s.caught.Raise()
			if s.holds && !ok {
				found, ok = s.found, true
				cancel()
			}
		case <-over:
			over = nil
			end()
		}
	}
	return found, ok
}
