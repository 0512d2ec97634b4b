package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/engine/api/wire"
)

// closeGrace is how long Close waits for the engine to take what was sent.
const closeGrace = 500 * time.Millisecond

// Attach opens a viewer on a session. ctx bounds the opening only; the
// attachment lives until Close, the session's end or the engine's.
func (c *Client) Attach(ctx context.Context, o api.AttachOptions) (*Attachment, error) {
	if c.machine == "" { // what this machine's engine was sent has arrived, or the engine has gone
		o.Input = ""
	}
	transport := c.http.Transport
	var passing *wire.Passing
	if o.Direct = o.Direct && c.machine == ""; o.Direct {
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
	conn, resp, err := websocket.Dial(ctx, baseURL+wire.AttachName+"?"+wire.AttachQuery(o), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: refusals{transport}},
		HTTPHeader: c.header,
	})
	if err != nil {
		var refused *api.Error
		if ctx.Err() == nil && errors.As(err, &refused) {
			return nil, refused
		}
		return nil, c.lost(ctx, wire.AttachName, err)
	}
	conn.SetReadLimit(wire.MaxOutputMessage)
	a := &Attachment{client: c, conn: conn, passing: passing}
	if taken := resp.Header.Values(wire.TakenHeader); o.Input != "" && len(taken) > 0 {
		a.arrived.Counts = true
		a.arrived.Taken, err = strconv.ParseUint(taken[0], 10, 64)
		a.arrived.Known = err == nil
	}
	a.SendFrom(new(outbox.Outbox))
	return a, nil
}

// refusals turns an answer that opens no attachment into the error it carries;
// the websocket package would only show the first 1024 bytes of it.
type refusals struct{ http.RoundTripper }

func (t refusals) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		return nil, err
	}
	return nil, wire.DecodeError(wire.AttachName, resp.StatusCode, body)
}

// An Attachment is a client's end of session.attach.
type Attachment struct {
	client  *Client
	conn    *websocket.Conn
	passing *wire.Passing  // of the terminal and the master; nil unless they are to be
	in      []byte         // Receive's buffer
	final   error          // what Receive goes on to return
	arrived outbox.Arrived // of its input, when it was opened

	out     *outbox.Sender
	written chan struct{} // closed when the goroutine that writes what out takes has ended
}

// SendFrom makes the attachment send what is queued in o, and in front of it the messages in first.
// Call it before the first Send or Receive, when the last attachment that sent from o is closed.
// unsure is how many bytes of text may be lost; see Outbox.Connect. An attachment opens with
// an outbox of its own.
func (a *Attachment) SendFrom(o *outbox.Outbox, first ...api.Input) (unsure int64) {
	if a.out != nil {
		a.out.Lose()
		<-a.written
	}
	wake := make(chan struct{}, 1)
	a.written = make(chan struct{})
	a.out, unsure = o.Connect(func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}, a.arrived, first...)
	go a.write(a.out, wake, a.written)
	return unsure
}

// Send is Outbox.Send, but fails when the attachment is closed or lost.
func (a *Attachment) Send(in api.Input) error { return a.out.Send(in) }

// Passed is the descriptor that came last, if it was not taken yet: the master with an
// offer. It is the caller's. May be nil.
func (a *Attachment) Passed() *os.File {
	if a.passing == nil {
		return nil
	}
	return a.passing.Taken()
}

// Hand hands over a terminal, by a descriptor that stays the caller's.
func (a *Attachment) Hand(terminal int, noClipboard bool) error {
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

// write is the writer goroutine: it ends when out is closed and has sent everything,
// or when the connection fails.
func (a *Attachment) write(out *outbox.Sender, wake <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	for {
		batch, over := out.Take()
		if over {
			return
		}
		for i, msg := range batch {
			if a.conn.Write(context.Background(), websocket.MessageBinary, msg) != nil {
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

// Receive waits for the next message; its error is final: io.EOF after
// Output.Ended, net.ErrClosed after Close, else an *Error. Only one goroutine
// may receive.
func (a *Attachment) Receive() (api.Output, error) {
	if a.final != nil {
		return api.Output{}, a.final
	}
	out, err := a.receive()
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

func (a *Attachment) receive() (api.Output, error) {
	var out api.Output
	err := wire.ErrUnknownKind
	for errors.Is(err, wire.ErrUnknownKind) {
		var msg []byte
		if msg, err = wire.ReadMessage(a.conn, a.in); err != nil {
			if a.out.Closed() {
				return api.Output{}, net.ErrClosed
			}
			return api.Output{}, a.client.lost(context.Background(), wire.AttachName, err)
		}
		a.in = wire.Reusable(msg)
		if out, err = wire.DecodeOutput(msg); err == nil && out.Accepted != nil {
			a.out.Accepted(*out.Accepted)
			err = wire.ErrUnknownKind // the caller has no use for it
		}
	}
	var sent *api.Error
	if err != nil && !errors.As(err, &sent) {
		err = api.Errorf(api.CodeInternal, "call %s: %v", wire.AttachName, err)
	}
	return out, err
}

// Close ends the attachment; a Receive that waits returns. Input that was sent
// before is still delivered, unless the engine does not take it within half a
// second. The session goes on.
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
