package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/engine/api/wire"
)

// closeGrace is how long Close waits for the engine to accept queued input.
const closeGrace = 500 * time.Millisecond

// Attach connects a viewer to a session. ctx only limits the time for that. The attachment lasts
// until Close, or until the session or the engine exits.
func (c *Client) Attach(ctx context.Context, o api.AttachOptions) (*Attachment, error) {
	transport := c.http.Transport
	var passing *wire.Passing
	o.Direct, o.Master = o.Direct && c.machine == "", o.Master && c.machine == ""
	if o.Direct || o.Master {
		transport = &http.Transport{DisableCompression: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := c.dialOwn(ctx)
			if err != nil {
				return nil, err
			}
			passing = wire.NewPassing(conn.(*net.UnixConn))
			passing.Expect()
			return passing, nil
		}}
	}
	conn, header, err := c.openMessages(ctx, &http.Client{Transport: refusals{transport}}, o)
	if err != nil {
		var refused *api.Error
		if ctx.Err() == nil && errors.As(err, &refused) {
			return nil, refused
		}
		return nil, c.lostError(ctx, wire.AttachName, err)
	}
	a := &Attachment{client: c, conn: conn, passing: passing}
	a.arrived = wire.InputStateOf(header)
	if c.machine == "" && !a.arrived.Reports {
		a.arrived = api.InputState{} // an older engine counts other messages, too
	}
	a.SendFrom(new(outbox.Outbox))
	return a, nil
}

// openMessages opens the connection of an attachment. It is a WebSocket if the engine is on another
// machine, or too old for messages without one.
func (c *Client) openMessages(ctx context.Context, via *http.Client, o api.AttachOptions) (wire.MessageConn, http.Header, error) {
	path := wire.AttachName + "?" + wire.AttachQuery(o)
	if c.machine == "" {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, baseURL+path, nil)
		if err != nil {
			return nil, nil, err
		}
		req.Header = c.header.Clone()
		req.Header.Set("Connection", "Upgrade")
		req.Header.Set("Upgrade", wire.MessageProtocol)
		resp, err := via.Do(req)
		if err == nil {
			conn := resp.Body.(io.ReadWriteCloser) // as net/http promises of an upgraded connection
			return wire.NewFramed(conn, conn, wire.MaxOutputMessage), resp.Header, nil
		}
		if !errors.Is(err, errNeedsWebSocket) {
			return nil, nil, err
		}
	}
	conn, resp, err := websocket.Dial(ctx, baseURL+path, &websocket.DialOptions{HTTPClient: via, HTTPHeader: c.header})
	if err != nil {
		return nil, nil, err
	}
	return wire.NewWebSocket(conn, wire.MaxOutputMessage), resp.Header, nil
}

// errNeedsWebSocket is returned if the engine only supports WebSockets.
var errNeedsWebSocket = errors.New("the engine requires a WebSocket")

// refusals is a RoundTripper that returns the error in a response that does not upgrade the
// connection. The websocket package would truncate it to 1024 bytes.
type refusals struct{ http.RoundTripper }

func (t refusals) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusUpgradeRequired {
		return nil, errNeedsWebSocket
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		return nil, err
	}
	return nil, wire.DecodeError(wire.AttachName, resp.StatusCode, body)
}

// An Attachment is a client's end of session.attach.
type Attachment struct {
	client  *Client
	conn    wire.MessageConn
	passing *wire.Passing  // passes descriptors of the terminal and the master; nil if not direct
	in      []byte         // Receive's buffer
	final   error          // repeated by every later Receive
	arrived api.InputState // of input before this connection

	out     *outbox.Sender
	written chan struct{} // closed when the writer goroutine has returned
}

// SendFrom makes the attachment send the messages in initial, and then those queued in o, which
// replaces its own new outbox. Call it before the first Send or Receive, after closing the previous
// attachment that sent from o. loss is the input that may have been lost with that one.
func (a *Attachment) SendFrom(o *outbox.Outbox, initial ...api.Input) (loss outbox.Loss) {
	if a.out != nil {
		a.out.Lose()
		<-a.written
	}
	// One slot is enough, because a wake-up makes the writer take the whole queue.
	wake := make(chan struct{}, 1)
	a.written = make(chan struct{})
	a.out, loss = o.Connect(func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}, a.arrived, initial...)
	go a.writeLoop(a.out, wake, a.written)
	return loss
}

// Send queues a message like Outbox.Send, but returns an error if the attachment is closed or lost.
// It does not block.
func (a *Attachment) Send(in api.Input) error { return a.out.Send(in) }

// TakePassed returns the last descriptor received, such as the PTY master that came with an offer,
// or nil. The caller owns the file. A second call returns nil.
func (a *Attachment) TakePassed() *os.File {
	if a.passing == nil {
		return nil
	}
	return a.passing.TakeFile()
}

// HandOver hands a terminal over to the engine. The caller keeps its own descriptor.
func (a *Attachment) HandOver(terminal int, noClipboard bool) error {
	if a.passing == nil {
		return outbox.ErrLost
	}
	dup, err := unix.FcntlInt(uintptr(terminal), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return fmt.Errorf("hand over terminal: %w", err)
	}
	a.passing.Give(os.NewFile(uintptr(dup), "terminal"))
	return a.Send(api.Input{Hand: &api.Hand{NoClipboard: noClipboard}})
}

// writeLoop runs on the writer goroutine. It returns when out is closed and everything is sent, or
// when the connection fails.
func (a *Attachment) writeLoop(out *outbox.Sender, wake <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	for {
		batch, over := out.Take()
		if over {
			return
		}
		for i, msg := range batch {
			if a.conn.Write(msg) != nil {
				// The engine may not have received these messages, so the next connection sends
				// them again.
				out.Return(batch[i:])
				return
			}
			out.Sent(msg)
		}
		if len(batch) == 0 {
			<-wake
		}
	}
}

// Receive waits for the next message. Its error is final: io.EOF after Output.Ended, net.ErrClosed
// after Close, and otherwise an *api.Error. Only one goroutine may call Receive.
func (a *Attachment) Receive() (api.Output, error) {
	if a.final != nil {
		return api.Output{}, a.final
	}
	out, err := a.receiveMessage()
	switch {
	case err != nil:
		a.final = err
		a.out.Lose()
		a.conn.CloseNow()
	case out.Ended != nil:
		a.final = io.EOF
	}
	return out, err
}

func (a *Attachment) receiveMessage() (api.Output, error) {
	var out api.Output
	err := wire.ErrUnknownKind
	for errors.Is(err, wire.ErrUnknownKind) {
		var msg []byte
		if msg, err = a.conn.Read(a.in); err != nil {
			if a.out.Closed() {
				return api.Output{}, net.ErrClosed
			}
			return api.Output{}, a.client.lostError(context.Background(), wire.AttachName, err)
		}
		a.in = wire.Reusable(msg)
		switch out, err = wire.DecodeOutput(msg); {
		case err == nil && out.Accepted != nil:
			a.out.Accepted(*out.Accepted)
			err = wire.ErrUnknownKind // only the outbox uses it: read on
		case err == nil && out.Master != nil && out.Master.Lent:
			out.Master.File = a.TakePassed()
			out.Master.Lent, out.Master.Refused = out.Master.File != nil, out.Master.File == nil
		}
	}
	var sent *api.Error
	if err != nil && !errors.As(err, &sent) {
		err = api.Errorf(api.CodeInternal, "call %s: %v", wire.AttachName, err)
	}
	return out, err
}

// Close closes the attachment, and makes a blocked Receive return. It first waits up to half a
// second until queued input is delivered. The session keeps running.
func (a *Attachment) Close() error {
	a.out.Close()
	timer := time.AfterFunc(closeGrace, func() {
		a.out.Lose()
		a.conn.CloseNow()
	})
	defer timer.Stop()
	<-a.written
	a.conn.CloseNow()
	return nil
}
