package api

import (
	"context"
	"iter"
)

// A Client talks to one engine. It is safe for concurrent use.
type Client struct{}

// ConnectOptions say which engine to talk to, and as whom.
type ConnectOptions struct {
	DataDir string // see DataDir
	Version string // this program's version; a newer one than the engine's replaces the engine
	Name    string // who this is, for the engine's log: "dashboard", "cli", …
}

// Connect reaches a running engine; it starts none. Without one it fails with
// CodeUnavailable.
func Connect(ctx context.Context, o ConnectOptions) (*Client, error) { panic("not written") }

// Activate reaches the engine of a data folder and starts keeper and engine
// first if they are not running. An engine of an older version is asked to
// step down in favour of this program; its sessions go on.
func Activate(ctx context.Context, o ConnectOptions) (*Client, error) { panic("not written") }

// Call runs an operation on the engine behind c.
func (o Operation[In, Out]) Call(ctx context.Context, c *Client, in In) (Out, error) {
	panic("not written")
}

// Watch streams events, a snapshot first, until ctx ends or the engine goes;
// the last pair then carries the error. A reader that falls far behind is cut.
func (c *Client) Watch(ctx context.Context) iter.Seq2[Event, error] { panic("not written") }

// Attach opens a viewer on a session.
func (c *Client) Attach(ctx context.Context, o AttachOptions) (*Attachment, error) {
	panic("not written")
}

// An Attachment is a client's end of session.attach.
type Attachment struct{}

// Send queues input in order and never blocks. It fails when the attachment is
// closed or more than 16 MiB wait to be sent.
func (a *Attachment) Send(in Input) error { panic("not written") }

// Receive waits for the next message; its error is final. Only one goroutine
// may receive.
func (a *Attachment) Receive() (Output, error) { panic("not written") }

// Close ends the attachment; a Receive that waits returns. The session goes on.
func (a *Attachment) Close() error { panic("not written") }
