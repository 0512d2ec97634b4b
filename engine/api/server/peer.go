package server

import (
	"context"
	"errors"
	"fmt"
	"net"

	"tandem/engine/api"
	"tandem/engine/base/unixsocket"

	"golang.org/x/sys/unix"
)

type (
	peerKey   struct{}
	originKey struct{}
)

// withPeer returns a context for the requests of a connection, with the process at its other end.
func (m *Mux) withPeer(ctx context.Context, c net.Conn) context.Context {
	if far, ok := c.(*originConn); ok {
		ctx = context.WithValue(context.WithValue(ctx, peerKey{}, far.peer), originKey{}, far.origin)
		return api.WithPeerProcess(ctx, far.process)
	}
	if unix, ok := c.(*net.UnixConn); ok {
		if pid, uid, err := unixsocket.PeerOf(unix); err == nil {
			ctx = context.WithValue(ctx, peerKey{}, api.Peer{PID: pid, UID: uid})
			return api.WithPeerProcess(ctx, m.holdPeer(unix, pid))
		}
	}
	return ctx
}

func originOf(ctx context.Context) api.Origin {
	o, _ := ctx.Value(originKey{}).(api.Origin)
	return o
}

func peerOf(ctx context.Context) api.Peer {
	p, _ := ctx.Value(peerKey{}).(api.Peer)
	return p
}

// A peerProcess is an api.PeerProcess. The socket itself refers to the process: a pidfd can be read
// from it at any time (SO_PEERPIDFD, since Linux 6.5), so no descriptor is needed for each
// connection. On older kernels, the process is identified by its start time.
type peerProcess struct {
	conn  *net.UnixConn
	old   bool   // the kernel has no SO_PEERPIDFD
	start uint64 // start time in clock ticks since boot; 0 if it had already exited

	elsewhere bool
}

func (p *peerProcess) Elsewhere() bool { return p.elsewhere }

func (m *Mux) holdPeer(c *net.UnixConn, pid int) *peerProcess {
	// Read the start time now, because later the PID may belong to another process.
	p := &peerProcess{conn: c}
	fd, err := unixsocket.OpenPeer(c)
	if err == nil {
		unix.Close(fd)
	}
	if p.old = errors.Is(err, unix.ENOPROTOOPT); p.old && m.StartTime != nil {
		p.start, _ = m.StartTime(pid)
	}
	return p
}

func (p *peerProcess) Check(start uint64) error {
	gone := errors.New("the program that connected has exited")
	if p.old {
		if p.start == 0 || p.start != start {
			return gone
		}
		return nil
	}
	fd, err := unixsocket.OpenPeer(p.conn)
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.EINVAL): // exited and reaped
		return gone
	case err != nil:
		return fmt.Errorf("the kernel does not report who connected: %v", err)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return fmt.Errorf("the kernel does not report whether the connected program is running: %v", err)
		case n > 0:
			return gone
		default:
			return nil
		}
	}
}
