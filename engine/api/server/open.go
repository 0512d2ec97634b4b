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

// HandleOpen serves engine.open. f connects to the engine of another machine,
// and tells its version and protocols; what is sent from then on goes there as it
// is. A connection that is opened to this engine itself is served like any
// other, as one from where it says it comes.
func (m *Mux) HandleOpen(f func(ctx context.Context, o api.OpenOptions) (io.ReadWriteCloser, api.Info, error)) {
	m.add(wire.OpenName, http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
		ctx, wrong := m.withCaller(r)
		var o api.OpenOptions
		if wrong == nil {
			o, wrong = wire.ParseOpen(r.URL.Query())
		}
		if wrong == nil && !strings.EqualFold(r.Header.Get("Upgrade"), wire.OpenProtocol) {
			wrong = api.Errorf(api.CodeInvalid, "call %s: the request does not ask for an upgrade to %s", wire.OpenName, wire.OpenProtocol)
		}
		if wrong != nil {
			writeError(w, wrong)
			return
		}
		var far io.ReadWriteCloser
		var info api.Info
		origin := Origin{From: o.Origin, Agent: o.Agent, ReadOnly: o.ReadOnly, By: o.By}
		err := m.guard(wire.OpenName, func() (err error) {
			if err = m.allow(ctx, wire.OpenName, api.Read, &o); err != nil {
				return err
			}
			if o.Machine == "" {
				return m.receive(&origin)
			}
			far, info, err = f(ctx, o)
			return err
		})
		if err != nil {
			writeError(w, handlerError(err))
			return
		}
		near, err := upgrade(w, info)
		switch {
		case far == nil && err == nil:
			m.opened.put(&originConn{near, origin, CallerOf(ctx).Peer, PeerProcessOf(ctx)})
		case err == nil:
			m.opened.join(near, far)
		case far != nil:
			far.Close()
		}
	})
}

// receive has an agent from another machine held to what it is held to there, with the
// paths of this machine, and to what agents are held to here. What may be written must
// be there for a sandbox to be enforced: of what is not, nothing may.
func (m *Mux) receive(origin *Origin) (err error) {
	if origin.By == nil {
		return nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return api.Errorf(api.CodeForbidden, "receive an agent from %s: %v", origin.From, err)
	}
	by := *origin.By
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

// Receive serves a connection from another machine that did not come through the socket,
// once Serve runs.
func (m *Mux) Receive(c net.Conn, origin Origin) error {
	if err := m.receive(&origin); err != nil {
		return err
	}
	<-m.serving
	m.opened.put(&originConn{c, origin, wire.Peer{}, &PeerProcess{elsewhere: true}})
	return nil
}

// upgrade takes a connection from the HTTP server.
func upgrade(w http.ResponseWriter, info api.Info) (net.Conn, error) {
	w.Header().Set("Connection", "Upgrade")
	w.Header().Set("Upgrade", wire.OpenProtocol)
	wire.SetInfo(w.Header(), info)
	w.WriteHeader(http.StatusSwitchingProtocols)
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	return &bufferedConn{conn, buffered.Reader}, nil
}

// A bufferedConn reads first what was read of it before.
type bufferedConn struct {
	net.Conn
	r io.Reader
}

func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// An Origin is where the requests of a connection come from that a bridge has
// made for another machine.
type Origin struct {
	From     string        // "user@host"; "" for a connection of this machine's own
	Agent    string        // what of an agent's there they come from; "" if nothing
	ReadOnly bool          // they may only read
	By       *api.FarAgent // the agent whose they all are; nil for a person's
	Sandbox  *api.Sandbox  // what this machine's configuration holds that agent to; nil for nothing

	Person string        // whose key of the fleet they are signed with; "" if they came another way
	Role   api.FleetRole // what that person may do
}

// An originConn is a connection with an origin. The peer is the bridge.
type originConn struct {
	net.Conn
	origin  Origin
	peer    wire.Peer
	process *PeerProcess
}

// opened are the connections that engine.open has taken from the server: those
// to this engine are given back to it as a listener, the others end with it.
type opened struct {
	conns chan net.Conn
	done  chan struct{}

	mu     sync.Mutex
	joined map[io.Closer]struct{} // nil when the server has ended
	both   sync.WaitGroup
}

func newOpened() *opened {
	return &opened{conns: make(chan net.Conn), done: make(chan struct{}), joined: map[io.Closer]struct{}{}}
}

func (o *opened) put(c net.Conn) {
	select {
	case o.conns <- c:
	case <-o.done:
		c.Close()
	}
}

// join passes bytes between two connections until either ends, or the server.
func (o *opened) join(near, far io.ReadWriteCloser) {
	hangup := func() { near.Close(); far.Close() }
	o.mu.Lock()
	if o.joined == nil {
		o.mu.Unlock()
		hangup()
		return
	}
	o.joined[near], o.joined[far] = struct{}{}, struct{}{}
	pass := func(to, from io.ReadWriteCloser) {
		_, _ = io.Copy(to, from) // that one of them ends is how it ends
		hangup()
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.joined, from)
	}
	o.both.Go(func() { pass(near, far) })
	o.both.Go(func() { pass(far, near) })
	o.mu.Unlock()
}

// Accept, Close and Addr make a net.Listener of it.
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
