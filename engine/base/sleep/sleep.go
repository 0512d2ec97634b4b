// Package sleep pauses a goroutine until a time has passed or a context is done.
package sleep

import (
	"context"
	"time"
)

// For returns nil after d, or the error of ctx if it is done earlier.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
