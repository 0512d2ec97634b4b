package server

import (
	"context"
	"net"

	"tandem/engine/api/wire"
)

type peerKey struct{}

// withPeer notes who has made a connection.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if far, ok := c.(*originConn); ok {
		return context.WithValue(context.WithValue(ctx, peerKey{}, far.peer), originKey{}, far.origin)
	}
	if unix, ok := c.(*net.UnixConn); ok {
		if peer, err := wire.PeerOfConn(unix); err == nil {
			return context.WithValue(ctx, peerKey{}, peer)
		}
	}
	return ctx
}

type originKey struct{}

func originOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

func peerOf(ctx context.Context) wire.Peer {
	p, _ := ctx.Value(peerKey{}).(wire.Peer)
	return p
}
