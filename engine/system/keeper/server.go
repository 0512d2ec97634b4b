package keeper

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// A server accepts connections. It calls handle for each message and gone for each closed
// connection, on the keeper's loop.
type server struct {
	uid    int // user whose processes may connect
	do     func(func()) bool
	handle func(*session, message, []int)
	gone   func(*session)
}

// A session is one accepted connection.
type session struct {
	link   *link
	peer   peer
	outbox *outbox
}

// serve accepts connections until the listener is closed. It retries a failing accept (too few
// descriptors), because the keeper must stay reachable.
func (s *server) serve(ctx context.Context, listener *net.UnixListener) {
	for {
		conn, err := listener.AcceptUnix()
		switch {
		case err == nil:
			s.openSession(conn)
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		default:
			select {
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
}

func (s *server) openSession(conn *net.UnixConn) {
	p, err := peerOf(conn)
	if err == nil {
		err = p.checkUID(s.uid)
	}
	sess := &session{link: newLink(conn), peer: p, outbox: newOutbox()}
	go sess.writeLoop()
	if err != nil {
		sess.send(message{Op: opReply, Error: err.Error()})
		sess.outbox.close()
		closeFD(p.pidfd)
		return
	}
	go s.readLoop(sess)
}

// readLoop passes messages to the loop until the connection ends. It passes one at a time, so a flood
// of requests delays only its sender.
func (s *server) readLoop(sess *session) {
	for {
		m, fds, err := sess.link.receive()
		var bad *badMessage
		switch {
		case errors.As(err, &bad):
			sess.send(message{Op: opReply, ID: bad.id, Error: bad.why})
		case err != nil:
			s.do(func() { s.gone(sess) })
			sess.outbox.close()
			closeFD(sess.peer.pidfd)
			return
		case !s.do(func() { s.handle(sess, m, fds) }):
			closeFDs(fds)
		}
	}
}

// send queues a message; it owns fds. If the queue is full, it closes the connection: the peer
// lists the children after reconnecting.
func (s *session) send(m message, fds ...int) {
	p, err := encode(m, fds...)
	if err != nil {
		// Report the error instead, so that the caller does not wait.
		p, err = encode(message{Op: m.Op, ID: m.ID, Error: err.Error()})
	}
	if err != nil || !s.outbox.add(p) {
		p.close()
		s.disconnect()
	}
}

// reply answers the request id; err may be nil.
func (s *session) reply(id uint64, err error) {
	m := message{Op: opReply, ID: id}
	if err != nil {
		m.Error = err.Error()
	}
	var failed reasonError
	if errors.As(err, &failed) {
		m.Reason = failed.reason
	}
	s.send(m)
}

// disconnect closes the connection. The reader then calls gone.
func (s *session) disconnect() { s.link.conn.Close() }

// writeLoop sends queued messages until the outbox is closed and empty.
func (s *session) writeLoop() {
	defer s.disconnect()
	for {
		p, ok := s.outbox.next()
		if !ok {
			return
		}
		if err := s.link.send(p); err != nil {
			s.outbox.close()
		}
	}
}

// An outbox is the bounded queue between the loop, which must not block, and a connection's
// writer.
type outbox struct {
	mu     sync.Mutex // guards what follows
	filled sync.Cond
	queue  []packet
	closed bool
}

const maxQueued = 16384 // packets; more than a keeper has children

func newOutbox() *outbox {
	o := &outbox{}
	o.filled.L = &o.mu
	return o
}

func (o *outbox) add(p packet) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || len(o.queue) >= maxQueued {
		return false
	}
	o.queue = append(o.queue, p)
	o.filled.Signal()
	return true
}

func (o *outbox) next() (packet, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.closed {
		o.filled.Wait()
	}
	if len(o.queue) == 0 {
		return packet{}, false
	}
	p := o.queue[0]
	o.queue = o.queue[1:]
	return p, true
}

// close makes next return false once the queue is empty.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.filled.Signal()
}
