package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"tandem/engine/api"
)

// listen opens the address. Without a host it is the loopback interface: the
// network is not let in by leaving something out, and not in the clear by
// naming an address alone.
func (h HTTPOptions) listen(ctx context.Context) (net.Listener, error) {
	host, port, err := net.SplitHostPort(h.Addr)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "listen on %q: not a host:port", h.Addr).WithHint("for example 127.0.0.1:7777")
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "listen on %s: %v", h.Addr, errors.Unwrap(err))
	}
	// What a name stands for is known by now.
	if bound, ok := l.Addr().(*net.TCPAddr); ok && bound.IP.IsLoopback() {
		return l, nil
	}
	if !h.Insecure {
		l.Close()
		return nil, api.Errorf(api.CodeForbidden, "serve agents at http://%s: tokens and output would cross the network unencrypted", h.Addr).
			WithHint("listen on 127.0.0.1 and put a proxy with TLS or an SSH tunnel in front, or say --insecure")
	}
	fmt.Fprintf(h.Tell, "tandem: warning: no TLS at http://%s: anyone on the network can read tokens and output\n", h.Addr)
	return l, nil
}

// A limited listener has no more than a number of connections open at a time.
type limited struct {
	net.Listener
	free   chan struct{} // a place each
	closed chan struct{}
	once   sync.Once
}

func atMost(inner net.Listener, n int) net.Listener {
	return &limited{Listener: inner, free: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept implements net.Listener. It waits while all places are taken.
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
	return &placed{Conn: c, leave: sync.OnceFunc(func() { <-l.free })}, nil
}

// Close implements net.Listener.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// A placed connection gives its place back when it is closed.
type placed struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (p *placed) Close() error {
	defer p.leave()
	return p.Conn.Close()
}

// limit bounds how long a request may take to arrive, also one that is refused,
// which the server reads to its end. Once it is here, answering it may take hours.
func (w *web) limit(rw http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(rw)
	if r.Body == nil || r.Body == http.NoBody || control.SetReadDeadline(time.Now().Add(w.bodyTime)) != nil {
		return
	}
	r.Body = &arriving{r.Body, control}
}

// arriving is the body of a request with a time limit, which is lifted at its
// end.
type arriving struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read implements io.Reader.
func (a *arriving) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = a.control.SetReadDeadline(time.Time{}) // it could be set
	}
	return n, err
}
