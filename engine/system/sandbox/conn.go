package sandbox

import (
	"bufio"
	"net"
	"sync"
)

// A conn is a client's connection with a peekable start.
type conn struct {
	net.Conn
	reader *bufio.Reader
	end    func() error
}

func newConn(p *Proxy, accepted net.Conn) *conn {
	c := &conn{Conn: accepted, reader: bufio.NewReader(accepted)}
	c.end = sync.OnceValue(func() error {
		defer p.removeConn(c)
		return accepted.Close()
	})
	return c
}

func (c *conn) Read(b []byte) (int, error) { return c.reader.Read(b) }

// Close may be called more than once.
func (c *conn) Close() error { return c.end() }

// CloseWrite signals the end of data to the client.
func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

// closeWrite closes one direction of a connection, or all of it if it has no directions.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// A handoff is a listener that receives its connections from deliver.
type handoff struct {
	address net.Addr
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newHandoff(address net.Addr) *handoff {
	return &handoff{address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// deliver passes c to Accept, and reports false if the listener is closed.
func (h *handoff) deliver(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.closed:
		return false
	}
}

func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *handoff) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

func (h *handoff) Addr() net.Addr { return h.address }
