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
	a := &Attachment{client: c, conn: conn, passing: passing, out: newOutbox()}
	if taken := resp.Header.Values(wire.TakenHeader); o.Input != "" && len(taken) > 0 {
		a.out.keeps = true
		a.taken, err = strconv.ParseUint(taken[0], 10, 64)
		a.known = err == nil
	}
	go a.write()
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
	out     *outbox
	passing *wire.Passing // of the terminal and the master; nil unless they are to be
	in      []byte        // Receive's buffer
	final   error         // what Receive goes on to return

	taken uint64 // messages of its input that had arrived when it was opened
	known bool   // taken is known: an attachment before it had sent some
}

// Send queues input in order and never blocks. It fails when the attachment is
// closed or more than 16 MiB wait to be sent; then nothing of in was queued.
// Sizes that follow each other without other input in between become one.
func (a *Attachment) Send(in api.Input) error { return a.out.add(in) }

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
		return errLost
	}
	dup, err := unix.FcntlInt(uintptr(terminal), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return fmt.Errorf("hand over terminal: %w", err)
	}
	a.passing.Give(os.NewFile(uintptr(dup), "terminal"))
	return a.Send(api.Input{Hand: &api.Hand{NoClipboard: noClipboard}})
}

// Inherit queues what from, an attachment to the same session that was lost,
// could not deliver: keys that were typed before anybody noticed. If both have named their
// input, and the engine still knows of it, that is exactly what has not arrived. Call it
// before the first Send. unsure is how many bytes of text may be lost: they were sent to an
// engine that has exited, and it is unknown whether the program got them.
func (a *Attachment) Inherit(from *Attachment) (unsure int64) {
	from.out.abort()
	<-from.out.done
	if a.known {
		a.out.resume(a.taken, from.out.since(a.taken))
		return 0
	}
	a.out.prepend(from.out.undelivered())
	return from.out.unsure()
}

// DiscardText drops text that waits because the program in the session does not read, and
// returns its size in bytes. Call it before sending ctrl+c, which then does not wait.
func (a *Attachment) DiscardText() int64 { return a.out.discardText() }

// write is the writer goroutine: it ends when the outbox is closed and empty,
// or when the connection fails.
func (a *Attachment) write() {
	defer close(a.out.done)
	for {
		batch := a.out.take()
		if batch == nil {
			return
		}
		for i, msg := range batch {
			if a.conn.Write(context.Background(), websocket.MessageBinary, msg) != nil {
				a.out.giveBack(batch[i:])
				return
			}
			a.out.sent(msg)
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
		a.out.abort()
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
			if a.out.closedByUser() {
				return api.Output{}, net.ErrClosed
			}
			return api.Output{}, a.client.lost(context.Background(), wire.AttachName, err)
		}
		a.in = wire.Reusable(msg)
		if out, err = wire.DecodeOutput(msg); err == nil && out.Accepted != nil {
			a.out.accepted(*out.Accepted)
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
	a.out.close()
	timer := time.AfterFunc(closeGrace, func() {
		a.out.abort()
		a.conn.CloseNow()
	})
	defer timer.Stop()
	<-a.out.done
	a.conn.CloseNow()
	return nil
}
