package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// HandleOpen serves engine.open. f connects to the engine of another machine, and returns its
// version and protocols. After that, bytes are forwarded unchanged. A connection opened to this
// engine itself is served like any other, with the given Origin.
func (m *Mux) HandleOpen(f func(ctx context.Context, o api.OpenOptions) (io.ReadWriteCloser, api.Info, error)) {
	entry, _ := api.Find(wire.OpenName)
	m.addRoute(wire.OpenName, http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
		var o api.OpenOptions
		var opened connection
		m.serve(w, r, &call{
			Entry: entry, effect: entry.Effect, in: &o,
			read: func(_ http.ResponseWriter, r *http.Request) (wrong *api.Error) {
				if o, wrong = wire.ParseOpen(r.URL.Query()); wrong == nil && !strings.EqualFold(r.Header.Get("Upgrade"), wire.OpenProtocol) {
					wrong = api.Errorf(api.CodeInvalid, "call %s: the request does not ask for an upgrade to %s", wire.OpenName, wire.OpenProtocol)
				}
				return wrong
			},
			handle: func(ctx context.Context) (any, error) {
				opened = connection{peer: api.CallerOf(ctx).Peer, process: api.PeerProcessOf(ctx)}
				if o.Machine == "" {
					opened.origin = api.Origin{From: o.Origin, Agent: o.Agent, ReadOnly: o.ReadOnly, By: o.By}
					return nil, m.resolveOrigin(&opened.origin)
				}
				var err error
				opened.far, opened.info, err = f(ctx, o)
				return nil, err
			},
			answer: func(_ any, failure *api.Error) {
				if failure != nil {
					writeError(w, failure)
					return
				}
				m.takeOver(w, opened)
			},
		})
	})
}

// A connection is a connection opened by a request of engine.open. It leads to another machine
// (far), or to this engine with an origin.
type connection struct {
	far  io.ReadWriteCloser
	info api.Info

	origin  api.Origin
	peer    api.Peer
	process api.PeerProcess
}

// takeOver answers the request, and takes its connection over from the HTTP server.
func (m *Mux) takeOver(w http.ResponseWriter, c connection) {
	near, err := upgradeConn(w, c.info)
	switch {
	case c.far == nil && err == nil:
		m.opened.putConn(&originConn{near, c.origin, c.peer, c.process})
	case err == nil:
		m.opened.joinConns(near, c.far)
	case c.far != nil:
		c.far.Close()
	}
}

// resolveOrigin prepares the limits for an agent on another machine. Both its bounds there, with
// the paths of this machine, and this machine's sandbox apply. It drops missing writable paths,
// because a sandbox cannot be enforced for them.
func (m *Mux) resolveOrigin(origin *api.Origin) (err error) {
	if origin.By == nil {
		return nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return api.Errorf(api.CodeForbidden, "receive an agent from %s: %v", origin.From, err)
	}
	by := *origin.By // a copy: the caller keeps its bounds unresolved
	if by.Owner == "" {
		return api.Errorf(api.CodeInvalid, "receive an agent from %s: it has no owner", origin.From)
	}
	by.Bounds = by.Bounds.ExpandHome(home)
	if s := by.Bounds.Sandbox; s != nil {
		s.Filesystem.AllowWrite = slices.DeleteFunc(s.Filesystem.AllowWrite, func(path string) bool {
			_, err := os.Stat(path)
			return err != nil
		})
	}
	if origin.By = &by; m.Sandbox != nil {
		if origin.Sandbox, err = m.Sandbox(); err != nil {
			return api.Errorf(api.CodeForbidden, "receive an agent from %s: %v", origin.From, err)
		}
	}
	return nil
}

// Receive serves a connection from another machine that did not come through the socket. It blocks
// until Serve has started.
func (m *Mux) Receive(c net.Conn, origin api.Origin) error {
	if err := m.resolveOrigin(&origin); err != nil {
		return err
	}
	<-m.serving
	m.opened.putConn(&originConn{c, origin, api.Peer{}, &peerProcess{elsewhere: true}})
	return nil
}

// upgradeConn answers an upgrade request and takes its connection over from the HTTP server.
func upgradeConn(w http.ResponseWriter, info api.Info) (net.Conn, error) {
	wire.SetInfo(w.Header(), info)
	conn, ahead, err := switchProtocol(w, wire.OpenProtocol)
	if err != nil {
		return nil, err
	}
	return &bufferedConn{conn, io.MultiReader(ahead, conn)}, nil
}

// switchProtocol switches a connection to another protocol. ahead has the bytes that the HTTP
// server has read ahead.
func switchProtocol(w http.ResponseWriter, protocol string) (conn net.Conn, ahead io.Reader, err error) {
	w.Header().Set("Connection", "Upgrade")
	w.Header().Set("Upgrade", protocol)
	w.WriteHeader(http.StatusSwitchingProtocols)
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return conn, io.LimitReader(buffered.Reader, int64(buffered.Reader.Buffered())), nil
}

// A bufferedConn first returns the bytes that the HTTP server has read ahead.
type bufferedConn struct {
	net.Conn
	r io.Reader
}

func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// An originConn is a connection with an Origin. The peer is the bridge.
type originConn struct {
	net.Conn
	origin  api.Origin
	peer    api.Peer
	process api.PeerProcess
}

// opened holds the connections that engine.open has taken from the HTTP server. Those to this
// engine return to the server through the methods of net.Listener. Closing opened closes the
// others.
type opened struct {
	conns chan net.Conn
	done  chan struct{}

	mu     sync.Mutex
	joined map[io.Closer]struct{} // nil after the server has stopped
	both   sync.WaitGroup
}

func newOpened() *opened {
	return &opened{conns: make(chan net.Conn), done: make(chan struct{}), joined: map[io.Closer]struct{}{}}
}

func (o *opened) putConn(c net.Conn) {
	select {
	case o.conns <- c:
	case <-o.done:
		c.Close()
	}
}

// joinConns copies bytes between two connections, until one of them ends or the server stops.
func (o *opened) joinConns(near, far io.ReadWriteCloser) {
	hangup := func() { near.Close(); far.Close() }
	o.mu.Lock()
	if o.joined == nil {
		o.mu.Unlock()
		hangup()
		return
	}
	o.joined[near], o.joined[far] = struct{}{}, struct{}{}
	pass := func(to, from io.ReadWriteCloser) {
		_, _ = io.Copy(to, from) // an error is the end of one of them
		hangup()
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.joined, from)
	}
	// Start the copies under the lock. Otherwise Serve, which waits for them after Close, could
	// miss them.
	o.both.Go(func() { pass(near, far) })
	o.both.Go(func() { pass(far, near) })
	o.mu.Unlock()
}

// Accept, Close and Addr implement net.Listener.
func (o *opened) Accept() (net.Conn, error) {
	select {
	case c := <-o.conns:
		return c, nil
	case <-o.done:
		return nil, net.ErrClosed
	}
}

func (o *opened) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.joined == nil {
		return errors.New("closed already")
	}
	close(o.done)
	for c := range o.joined {
		c.Close()
	}
	o.joined = nil
	return nil
}

func (o *opened) Addr() net.Addr { return &net.UnixAddr{Name: wire.OpenName, Net: "unix"} }
