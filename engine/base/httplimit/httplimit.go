// Package httplimit limits what unauthenticated clients of an HTTP server can hold open: connections,
// and requests whose body does not arrive. Access control belongs to the servers.
package httplimit

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits common to all servers.
const (
	HeaderTime     = 10 * time.Second // until a request's header has arrived
	MaxHeader      = 64 << 10         // bytes
	IdleTime       = 2 * time.Minute  // for a connection without a request
	BodyTime       = time.Minute      // until a request's body has arrived
	MaxConnections = 256              // further ones wait
)

// A limitedListener limits the number of open connections.
type limitedListener struct {
	net.Listener
	free   chan struct{} // holds one value for each open connection
	closed chan struct{}
	once   sync.Once
}

// LimitConnections returns a listener with at most n connections open at a time.
func LimitConnections(inner net.Listener, n int) net.Listener {
	return &limitedListener{Listener: inner, free: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept implements net.Listener. It waits while n connections are open.
func (l *limitedListener) Accept() (net.Conn, error) {
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
	return &countedConn{Conn: c, release: sync.OnceFunc(func() { <-l.free })}, nil
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// A countedConn makes room for another connection when it is closed.
type countedConn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// LimitBody sets time limits for reading the body of r: total for all of it, and idle for each
// pause, unless idle is 0. The limits matter for rejected requests too, because the server reads
// their bodies to the end. Answering may take hours once the body has arrived.
func LimitBody(w http.ResponseWriter, r *http.Request, total, idle time.Duration) {
	// A ResponseController reaches through wrappers to the connection's deadline.
	control, end := http.NewResponseController(w), time.Now().Add(total)
	b := &limitedBody{r.Body, control, end, idle}
	if r.Body == nil || r.Body == http.NoBody || b.extendDeadline() != nil {
		return
	}
	r.Body = b
}

// A limitedBody has read deadlines, removed at its end.
type limitedBody struct {
	io.ReadCloser
	control *http.ResponseController
	end     time.Time
	idle    time.Duration
}

func (b *limitedBody) extendDeadline() error {
	until := b.end
	if pause := time.Now().Add(b.idle); b.idle > 0 && pause.Before(until) {
		until = pause
	}
	return b.control.SetReadDeadline(until)
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		_ = b.control.SetReadDeadline(time.Time{}) // setting it worked before
	case err == nil && n > 0:
		_ = b.extendDeadline()
	}
	return n, err
}
