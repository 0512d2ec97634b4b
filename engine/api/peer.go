package api

import (
	"context"
	"net"
)

// A Peer is the process that made a connection to the engine's socket, as it
// was then. The zero value is a connection of another kind.
type Peer struct {
	PID int
	UID int
}

type peerKey struct{}

// withPeer notes who has made a connection.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if unix, ok := c.(*net.UnixConn); ok {
		if peer, err := peerOfConn(unix); err == nil {
			return context.WithValue(ctx, peerKey{}, peer)
		}
	}
	return ctx
}

func peerOf(ctx context.Context) Peer {
	p, _ := ctx.Value(peerKey{}).(Peer)
	return p
}
