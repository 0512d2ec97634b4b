package conn

import (
	"context"
	"iter"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/engine/api/qualify"
	"tandem/engine/api/userfiles"
	"tandem/panes"
)

// A Client is an engine reached through a client of its API.
type Client struct {
	caller
	userfiles.Files
}

// NewClient returns the engine of a client.
func NewClient(c *client.Client) Client {
	return Client{caller{c}, userfiles.Files{Engine: caller{c}, Machines: true}}
}

// A caller calls operations, also those of Files.
type caller struct{ *client.Client }

// Do calls an operation. If the engine dies during the call, Do retries a change when that
// is safe, and fails a read: panes read again after they reconnect.
func (c caller) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	if effect == api.Read {
		return c.Client.Do(ctx, name, effect, in, out)
	}
	conn := retry.Conn{Client: c.Client, Hasty: true}
	return conn.Do(ctx, name, effect, in, out)
}

// Attach attaches to a session. A session on another machine gets its own connection to that
// machine, and the engine here only copies the bytes.
func (c Client) Attach(ctx context.Context, o api.AttachOptions) (panes.Attachment, error) {
	machine, id := api.MachineOf(o.ID)
	if machine == "" {
		a, err := c.Client.Attach(ctx, o)
		if err != nil {
			return nil, err
		}
		return a, nil
	}
	far, err := c.Client.OnMachine(ctx, machine)
	if err != nil {
		return nil, err
	}
	defer far.Close() // the attachment has its connection
	o.ID = id
	a, err := far.Attach(ctx, o)
	if err != nil {
		return nil, err
	}
	return attachment{a, machine}, nil
}

// An attachment receives the output of a session on another machine.
type attachment struct {
	*client.Attachment
	machine string
}

// Receive returns the next output. It adds the machine's name to the ids in it.
func (a attachment) Receive() (api.Output, error) {
	out, err := a.Attachment.Receive()
	out.Ended = qualify.Process(a.machine, out.Ended)
	return out, err
}

// Watch streams the events of all machines.
func (c Client) Watch(ctx context.Context) iter.Seq2[api.Event, error] {
	return c.Client.WatchFor(ctx, api.WatchInput{Machines: true})
}
