package cli

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

// A patient is a connection for verbs that look on for long: it outlives the
// engine it was made to.
type patient struct {
	app    *app
	client *client.Client
}

// patiently connects. The result has to be closed.
func (a *app) patiently(ctx context.Context) (*patient, error) {
	client, err := a.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &patient{a, client}, nil
}

func (p *patient) close() { p.client.Close() }

// ask calls an operation that changes nothing, again when the engine was
// replaced or crashed meanwhile.
func ask[In, Out any](ctx context.Context, p *patient, op api.Operation[In, Out], in In) (Out, error) {
	var lost time.Time
	for {
		out, err := op.Call(ctx, p.client, in)
		if !errors.Is(err, api.CodeUnavailable) {
			return out, err
		}
		if lost.IsZero() {
			lost = time.Now()
		}
		if time.Since(lost) > returnLimit {
			return out, err
		}
		if err := p.await(ctx, time.Since(lost)); err != nil {
			return out, err
		}
	}
}

// await lets some time go by, and starts the engine when it has been gone for
// too long.
func (p *patient) await(ctx context.Context, gone time.Duration) error {
	if err := pause(ctx, returnPoll); err != nil {
		return err
	}
	if gone < activateAfter {
		return nil
	}
	client, err := p.app.Connect(ctx)
	if errors.Is(err, api.CodeUnavailable) {
		return nil
	}
	if err != nil {
		return err
	}
	p.client.Close()
	p.client = client
	return nil
}

// pause waits, or says that ctx has ended.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
