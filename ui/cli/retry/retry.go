// Package retry calls an engine that may crash or be replaced meanwhile: what
// changes nothing is asked again, and of what was started the next engine is
// asked what came of it.
package retry

import (
	"context"
	"errors"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
)

const (
	// returnLimit is how long an engine that is gone may take to come back.
	returnLimit = 15 * time.Second
	// activateAfter is when one that its keeper did not start again is started.
	activateAfter = 500 * time.Millisecond
	// returnPoll is how often it is looked for.
	returnPoll = 20 * time.Millisecond
)

// A Conn is a connection for verbs that look on for long: it outlives the
// engine it was made to.
type Conn struct {
	connect func(context.Context) (*client.Client, error)
	client  *client.Client
}

// Connect connects, and connects again when the engine is gone for long: connect
// starts one if need be. The result has to be closed.
func Connect(ctx context.Context, connect func(context.Context) (*client.Client, error)) (*Conn, error) {
	client, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{connect, client}, nil
}

// Close ends the connection.
func (c *Conn) Close() { c.client.Close() }

// Once calls an operation that changes something, and never twice. When it fails
// with api.CodeUnavailable, nobody knows whether it was done.
func Once[In, Out any](ctx context.Context, c *Conn, op api.Operation[In, Out], in In) (Out, error) {
	return op.Call(ctx, c.client, in)
}

// Call calls an operation that changes nothing, again when the engine was
// replaced or crashed meanwhile.
func Call[In, Out any](ctx context.Context, c *Conn, op api.Operation[In, Out], in In) (Out, error) {
	var lost time.Time
	for {
		out, err := op.Call(ctx, c.client, in)
		if !errors.Is(err, api.CodeUnavailable) {
			return out, err
		}
		if lost.IsZero() {
			lost = time.Now()
		}
		if time.Since(lost) > returnLimit {
			return out, err
		}
		if err := c.await(ctx, time.Since(lost)); err != nil {
			return out, err
		}
	}
}

// await lets some time go by, and starts the engine when it has been gone for
// too long.
func (c *Conn) await(ctx context.Context, gone time.Duration) error {
	if err := Pause(ctx, returnPoll); err != nil {
		return err
	}
	if gone < activateAfter {
		return nil
	}
	client, err := c.connect(ctx)
	if errors.Is(err, api.CodeUnavailable) {
		return nil
	}
	if err != nil {
		return err
	}
	c.client.Close()
	c.client = client
	return nil
}

// Pause waits, or says that ctx has ended.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitCall is the longest that one call of Until lasts.
const waitCall = 50 * time.Second

// Until makes a call that waits for at most so many milliseconds, again and
// again, until it is done or the timeout is over. A timeout of 0 is none.
func Until[Out any](timeout time.Duration, wait func(ms int) (out Out, done bool, err error)) (Out, error) {
	deadline := time.Now().Add(timeout)
	for {
		left := waitCall
		if timeout > 0 {
			left = min(left, time.Until(deadline))
		}
		out, done, err := wait(max(int(left.Milliseconds()), 1))
		if err != nil || done || timeout > 0 && !time.Now().Before(deadline) {
			return out, err
		}
	}
}

// Wait asks until a condition holds, none can any more as the process has
// ended, or it is too late; then Met is empty. A timeout of 0 is none.
func Wait(ctx context.Context, c *Conn, in api.ProcessWaitInput, timeout time.Duration) (api.ProcessWaitOutput, error) {
	return Until(timeout, func(ms int) (out api.ProcessWaitOutput, done bool, err error) {
		in.TimeoutMS = ms
		out, err = Call(ctx, c, api.ProcessWait, in)
		return out, out.Met != "" || out.Process.State.Ended(), err
	})
}
