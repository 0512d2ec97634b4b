// Package conditions waits for the first of several conditions. Callers define the conditions and
// how to wait for each.
package conditions

import (
	"context"

	"tandem/engine/base/panics"
)

// A Condition is one of the alternatives that First waits for.
type Condition[F any] struct {
	// Look waits until the condition is met and returns its result. holds is false if the condition
	// can no longer be met, or ctx has ended.
	Look func(ctx context.Context) (found F, holds bool)
	// Outlives is set if output printed before the process exited may still meet the condition.
	// Look must then return without waiting for more.
	Outlives bool
}

// First returns the result of the first condition that is met. ok is false if ctx ends first or no
// condition can be met any more. The caller closes exited once the process that the conditions are
// about has exited. First returns only after every Look has returned.
func First[F any](ctx context.Context, exited <-chan struct{}, all []Condition[F]) (found F, ok bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		found  F
		holds  bool
		caught *panics.Caught
	}
	results := make(chan result, len(all))
	untilOver, end := context.WithCancel(ctx)
	defer end()
	for _, c := range all {
		until := ctx
		if !c.Outlives {
			until = untilOver
		}
		go func() {
			var s result
			s.caught = panics.Catch(func() { s.found, s.holds = c.Look(until) })
			results <- s
		}()
	}
	for left := len(all); left > 0; {
		select {
		case s := <-results:
			left--
			s.caught.Raise()
			if s.holds && !ok {
				// The others end now; later results are dropped.
				found, ok = s.found, true
				cancel()
			}
		case <-exited:
			exited = nil
			end()
		}
	}
	return found, ok
}
