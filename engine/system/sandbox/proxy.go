package sandbox

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"tandem/engine/base/panics"
	"tandem/engine/base/sleep"
)

// ProxyOptions configure a Proxy. The zero value is usable.
type ProxyOptions struct {
	Port int // on 127.0.0.1; 0: any

	MaxConnections int           // concurrently, default 1024
	MaxPerGrant    int           // concurrently for one process, default 256
	Handshake      time.Duration // from connection to request, default 10 s
	DialTimeout    time.Duration // for look-up and connection, default 30 s
	Idle           time.Duration // until a silent tunnel is closed, default 1 h

	Log *slog.Logger // for panics; nil: none

	// Resolve and Dial replace the system's resolver and dialer.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

func (o ProxyOptions) withDefaults() ProxyOptions {
	defaultTo(&o.MaxConnections, 1024)
	defaultTo(&o.MaxPerGrant, 256)
	defaultTo(&o.Handshake, 10*time.Second)
	defaultTo(&o.DialTimeout, 30*time.Second)
	defaultTo(&o.Idle, time.Hour)
	if o.Resolve == nil {
		o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	return o
}

func defaultTo[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// A Proxy connects confined processes to the hosts allowed by their profiles: as an HTTP proxy with
// CONNECT (RFC 9110 sections 7.6 and 9.3.6) and as a SOCKS 5 proxy (RFC 1928, RFC 1929) on the same
// port of 127.0.0.1. A client is identified by user and password, so that no process can use
// another's grant.
type Proxy struct {
	o        ProxyOptions
	listener net.Listener
	server   *http.Server
	handoff  *handoff // passes HTTP connections to server
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
	slots    chan struct{}

	mu     sync.Mutex
	closed bool
	grants map[string]*grant // by user
	open   map[*conn]struct{}
}

// NewProxy starts a proxy, which serves until Close.
func NewProxy(o ProxyOptions) (*Proxy, error) {
	o = o.withDefaults()
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return nil, fmt.Errorf("start sandbox proxy: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Proxy{
		o: o, listener: listener, ctx: ctx, cancel: cancel,
		handoff: newHandoff(listener.Addr()),
		slots:   make(chan struct{}, o.MaxConnections),
		grants:  map[string]*grant{},
		open:    map[*conn]struct{}{},
	}
	p.server = &http.Server{
		Handler:           http.HandlerFunc(p.serveHTTP),
		ReadHeaderTimeout: o.Handshake,
		IdleTimeout:       o.Handshake * 6,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // clients' mistakes are not worth logging
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed || state == http.StateHijacked {
				p.running.Done() // serveConn has called Add for the connection
			}
		},
	}
	p.running.Go(func() { p.server.Serve(p.handoff) })
	p.running.Go(panics.Restarted(ctx, o.Log, "sandbox proxy", p.acceptLoop))
	return p, nil
}

// Port returns the TCP port of the proxy.
func (p *Proxy) Port() int {
	return p.listener.Addr().(*net.TCPAddr).Port
}

// Close closes all connections and waits until everything has stopped.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	open := p.open
	p.open = map[*conn]struct{}{}
	grants := p.grants
	p.grants = map[string]*grant{}
	p.mu.Unlock()

	p.cancel()
	p.listener.Close()
	p.handoff.Close()
	p.server.Close()
	// Outside the lock, because closing a connection takes it.
	for c := range open {
		c.Close()
	}
	p.running.Wait()
	for _, g := range grants {
		g.transport.CloseIdleConnections()
	}
}

func (p *Proxy) acceptLoop() {
	for {
		accepted, err := p.listener.Accept()
		if p.ctx.Err() != nil {
			if err == nil {
				accepted.Close()
			}
			return
		}
		if err != nil {
			// Usually out of descriptors: other connections have to close first.
			if sleep.For(p.ctx, 50*time.Millisecond) != nil {
				return
			}
			continue
		}
		if c := p.admitConn(accepted); c != nil {
			p.running.Go(func() {
				if panics.Log(p.o.Log, "connection of a sandbox", func() { p.serveConn(c) }) {
					c.Close()
				}
			})
		}
	}
}

// admitConn counts a connection; nil if there are too many.
func (p *Proxy) admitConn(accepted net.Conn) *conn {
	select {
	case p.slots <- struct{}{}:
	default:
		accepted.Close()
		return nil
	}
	c := newConn(p, accepted)
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.open[c] = struct{}{}
	}
	p.mu.Unlock()
	if closed {
		c.Close()
		return nil
	}
	return c
}

func (p *Proxy) removeConn(c *conn) {
	p.mu.Lock()
	delete(p.open, c)
	p.mu.Unlock()
	<-p.slots
}

// serveConn tells the protocols apart by the first byte: SOCKS begins with its version, HTTP with a
// letter.
func (p *Proxy) serveConn(c *conn) {
	c.SetDeadline(time.Now().Add(p.o.Handshake))
	first, err := c.reader.Peek(1)
	switch {
	case err != nil:
		c.Close()
	case first[0] == socksVersion:
		defer c.Close()
		p.serveSOCKS(c)
	default:
		c.SetDeadline(time.Time{})
		p.running.Add(1) // until the server closes it or a handler takes it over
		if !p.handoff.deliver(c) {
			p.running.Done()
			c.Close()
		}
	}
}
