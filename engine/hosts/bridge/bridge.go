// Package bridge is the far end of a link: it joins the standard input and output
// that a command gives it to the engine of its machine, a connection a stream.
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
	"tandem/engine/hosts/transport"
)

// Options are what a bridge works with.
type Options struct {
	ReadOnly bool
	// Info reaches the engine, starting it if need be.
	Info func(context.Context) (api.Info, error)
	// Open connects to the engine as somebody elsewhere.
	Open func(context.Context, api.OpenOptions) (net.Conn, error)
}

// Serve is the bridge until its input ends. It says on its output who it is, or
// why there is no engine; nothing else may be written there.
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
			return nil // the other end has gone
		}
		open.Go(func() { o.serve(ctx, stream) })
	}
}

// serve joins one stream to the engine. Who cannot be is told so in place of the
// engine's answer to the first request.
func (o Options) serve(ctx context.Context, stream *smux.Stream) {
	defer stream.Close()
	p, err := transport.ReadPreface(stream)
	if err != nil {
		return
	}
	to := api.OpenOptions{Origin: p.Origin, Agent: p.Agent, By: p.By, ReadOnly: o.ReadOnly}
	conn, err := o.Open(ctx, to)
	if errors.Is(err, api.CodeUnavailable) { // it was stopped, or is being replaced
		if _, err = o.Info(ctx); err == nil {
			conn, err = o.Open(ctx, to)
		}
	}
	if err != nil {
		refuse(stream, api.AsError(err))
		return
	}
	transport.Join(conn, stream)
}

// refuse answers the first request of a stream with an error.
func refuse(w io.Writer, e *api.Error) {
	body, err := json.Marshal(e)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(w, "HTTP/1.1 %d -\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", e.Code.Status(), len(body), body)
}
