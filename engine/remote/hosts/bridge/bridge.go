// Package bridge is the remote end of a link: it connects streams on its standard input and output
// to the engine of its machine.
package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/xtaci/smux"

	"tandem/engine/api"
	"tandem/engine/remote/hosts/transport"
)

// Options configures a bridge.
type Options struct {
	ReadOnly bool
	// Info returns the engine's information, and starts the engine if needed.
	Info func(context.Context) (api.Info, error)
	// Open connects to the engine on behalf of a client on another machine.
	Open func(context.Context, api.OpenOptions) (net.Conn, error)
}

// Serve runs the bridge until its input ends. It first writes a greeting, or the reason why there
// is no engine. Nothing else may be written to conn.
func Serve(ctx context.Context, o Options, conn transport.Pipes) error {
	var hello transport.Hello
	info, err := o.Info(ctx)
	if err != nil {
		e := api.AsError(err)
		hello.Error, hello.Hint = e.Message, e.Hint
		return errors.Join(err, hello.Write(conn))
	}
	hello.Version, hello.Protocol, hello.OldestProtocol, hello.Agents = info.Version, info.Protocol, info.OldestProtocol, true
	if err := hello.Write(conn); err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	session, err := smux.Server(conn, transport.Frames())
	if err != nil {
		return err
	}
	defer session.Close()
	stop := context.AfterFunc(ctx, func() { session.Close() })
	defer stop()
	var open sync.WaitGroup
	defer open.Wait()
	for {
		stream, err := session.AcceptStream()
		if err != nil {
			return nil // the other end has disconnected
		}
		open.Go(func() { o.serveStream(ctx, stream) })
	}
}

// serveStream connects one stream to the engine. If that fails, it sends the error as the response to
// the stream's first request.
func (o Options) serveStream(ctx context.Context, stream *smux.Stream) {
	defer stream.Close()
	p, err := transport.ReadPreface(stream)
	if err != nil {
		return
	}
	to := api.OpenOptions{Origin: p.Origin, Agent: p.Agent, By: p.By, ReadOnly: o.ReadOnly}
	conn, err := o.Open(ctx, to)
	// The engine was stopped, or is being replaced: start it and retry once.
	if errors.Is(err, api.CodeUnavailable) {
		if _, err = o.Info(ctx); err == nil {
			conn, err = o.Open(ctx, to)
		}
	}
	if err != nil {
		writeError(stream, api.AsError(err))
		return
	}
	transport.Join(conn, stream)
}

// writeError answers the first request of a stream with an error.
func writeError(w io.Writer, e *api.Error) {
	body, err := json.Marshal(e)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(w, "HTTP/1.1 %d -\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", e.Code.Status(), len(body), body)
}
