package conn

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/panes"
)

// attachment is one behind an API client.
type attachment struct{ *client.Attachment }

func (a attachment) Inherit(from panes.Attachment) {
	if lost, ok := from.(attachment); ok {
		a.Attachment.Inherit(lost.Attachment)
	}
}

// Client is the engine behind a client of its API.
type Client struct{ *client.Client }

// Do carries out an operation. One that changes something is repeated if the engine
// dies during the call and that is safe. One that reads fails: the panes read again
// once they are connected.
func (c Client) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	if effect == api.Read {
		return c.Client.Do(ctx, name, effect, in, out)
	}
	again := retry.Conn{Client: c.Client, Hasty: true}
	return again.Do(ctx, name, effect, in, out)
}

// Attach shows a session.
func (c Client) Attach(ctx context.Context, o api.AttachOptions) (panes.Attachment, error) {
	a, err := c.Client.Attach(ctx, o)
	if err != nil {
		return nil, err
	}
	return attachment{a}, nil
}

// Reach is a client of another machine's engine, through this one.
func (c Client) Reach(ctx context.Context, machine string) (panes.Engine, error) {
	far, err := c.Client.OnMachine(ctx, machine)
	if err != nil {
		return nil, err
	}
	return Client{far}, nil
}
