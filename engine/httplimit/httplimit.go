// Package httplimit bounds what clients of an HTTP server of ours can hold open before anything is known of them:
// connections, and bodies of requests that do not arrive. Who may ask for what is the servers' own.
package httplimit

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// What the servers have in common.
const (
	HeaderTime     = 10 * time.Second // for a request's header to arrive
	MaxHeader      = 64 << 10         // bytes
	IdleTime       = 2 * time.Minute  // a connection may be without a request
	BodyTime       = time.Minute      // for a request's body to arrive
	MaxConnections = 256              // others wait
)

// A limited listener has no more than a number of connections open at a time.
type limited struct {
	net.Listener
	free   chan struct{} // one for each connection
	closed chan struct{}
	once   sync.Once
}

// Connections returns a listener with at most n connections open at a time.
func Connections(inner net.Listener, n int) net.Listener {
	return &limited{Listener: inner, free: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept implements net.Listener. It waits while n connections are open.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &counted{Conn: c, leave: sync.OnceFunc(func() { <-l.free })}, nil
}

// Close implements net.Listener.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// A counted connection makes room for another one when it is closed.
type counted struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// Body bounds how long the body of r may take to arrive, also of a request that is refused, which
// the server reads to its end. idle bounds a pause in it; zero: only total counts. Once it is
// here, answering may take hours.
func Body(w http.ResponseWriter, r *http.Request, total, idle time.Duration) {
	control, end := http.NewResponseController(w), time.Now().Add(total)
	b := &body{r.Body, control, end, idle}
	if r.Body == nil || r.Body == http.NoBody || b.wait() != nil {
		return
	}
	r.Body = b
}

// A body has time limits, which are lifted at its end.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	end     time.Time
	idle    time.Duration
}

func (b *body) wait() error {
	until := b.end
	if pause := time.Now().Add(b.idle); b.idle > 0 && pause.Before(until) {
		until = pause
	}
	return b.control.SetReadDeadline(until)
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		_ = b.control.SetReadDeadline(time.Time{}) // it could be set
	case err == nil && n > 0:
		_ = b.wait()
	}
	return n, err
}
