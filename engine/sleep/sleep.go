// Package sleep pauses a goroutine for a time that a context can cut short.
package sleep

import (
	"context"
	"time"
)

// For returns after d, or with the error of ctx once that is done.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
