package fleet

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"tandem/engine/api"
	"tandem/engine/base/panics"
)

// A Pipe is a connection through the hub that carries bytes in both directions, in order. The
// reader grants credit and the writer sends no more than that, so that a slow reader leaves nothing
// queued at the hub.
//
// A message consists of a kind, a sequence number of its direction, and a body. A missing message
// ends the pipe.
type Pipe struct {
	conn *conn
	to   string // subject for messages to the other end
	sub  *nats.Subscription
	peer string // name of the other end in error messages

	sendMu   sync.Mutex // guards the outgoing direction: numbers must be sent in order
	nextSent uint32
	lastSent time.Time // time of the last message sent

	mu            sync.Mutex
	changed       chan struct{} // closed and replaced with each change
	queue         [][]byte      // not read yet
	queued        int           // bytes in queue
	nextReceived  uint32        // sequence number of the next message
	lastReceived  time.Time
	consumed      int // bytes read for which no credit was granted yet
	credit        int // bytes that may be sent
	hello         []byte
	helloSubject  string // subject of the hello
	err           error  // for readers after the queue, for writers at once
	closed        bool
	readDeadline  deadline
	writeDeadline deadline
	aliveTimer    *time.Timer
}

// Kinds of messages.
const (
	kindHello  = 'h' // first message of the machine: its description
	kindData   = 'd'
	kindCredit = 'a' // grants this many more bytes
	kindAlive  = 'k'
	kindEnd    = 'e' // end of the direction; with an api.Error as the reason
)

const (
	// window is how many bytes may be in flight to a reader.
	window = 256 << 10
	// maxBlock limits the size of a message.
	maxBlock = 32 << 10
	// aliveInterval is the longest silence of a pipe's end, aliveTimeout the silence after which
	// the other end counts as gone.
	aliveInterval, aliveTimeout = 4 * time.Second, 12 * time.Second

	headSize = 5
)

// errSilent is the error of a pipe whose other end has gone silent.
var errSilent = errors.New("it stopped sending")

// newPipe subscribes to the subject from. It sends nothing yet.
func (l *conn) newPipe(from, to, peer string) (*Pipe, error) {
	p := &Pipe{conn: l, to: to, peer: peer, changed: make(chan struct{}), credit: window, lastReceived: time.Now(), lastSent: time.Now()}
	if err := l.addPipe(p); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.aliveTimer = time.AfterFunc(aliveInterval, panics.Logged(l.log, "fleet: pipe", p.checkAlive))
	p.mu.Unlock()
	sub, err := l.subscribe(from, "", p.receiveMessage)
	if err != nil {
		p.failWith(err)
		return nil, err
	}
	_ = sub.SetPendingLimits(-1, -1) // limited by window
	p.mu.Lock()
	p.sub = sub
	// The pipe may have failed before sub was stored.
	over := p.closed
	p.mu.Unlock()
	if over {
		_ = sub.Unsubscribe()
	}
	return p, nil
}

// sendMessage sends a message.
func (p *Pipe) sendMessage(kind byte, body []byte) error {
	p.sendMu.Lock()
	defer p.sendMu.Unlock()
	if p.to == "" {
		return nil // OpenAny: no machine has answered yet
	}
	message := make([]byte, headSize, headSize+len(body))
	message[0] = kind
	binary.BigEndian.PutUint32(message[1:], p.nextSent)
	p.nextSent++
	p.lastSent = time.Now()
	return p.conn.nats.Publish(p.to, append(message, body...))
}

// receiveMessage processes a message. It never blocks.
func (p *Pipe) receiveMessage(m *nats.Msg) {
	if len(m.Data) < headSize {
		return
	}
	kind, number, body := m.Data[0], binary.BigEndian.Uint32(m.Data[1:]), m.Data[headSize:]
	p.mu.Lock()
	defer p.mu.Unlock()
	if number != p.nextReceived {
		p.setError(errors.New("messages were lost"))
		return
	}
	p.nextReceived++
	p.lastReceived = time.Now()
	switch kind {
	case kindHello:
		p.hello, p.helloSubject = body, m.Subject
	case kindData:
		if p.queued += len(body); p.queued > window {
			p.setError(errors.New("more data arrived than requested"))
			return
		}
		p.queue = append(p.queue, body)
	case kindCredit:
		if len(body) == 4 {
			p.credit += int(binary.BigEndian.Uint32(body))
		}
	case kindEnd:
		p.setError(closeReason(body))
		return
	}
	p.wakeWaiters()
}

// closeReason decodes why the other end closed.
func closeReason(body []byte) error {
	var e api.Error
	if len(body) == 0 || json.Unmarshal(body, &e) != nil || e.Code == "" {
		return io.EOF
	}
	return &e
}

// wakeWaiters wakes everything waiting for a change. p.mu is held.
func (p *Pipe) wakeWaiters() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// setError records why the pipe has ended. p.mu is held.
func (p *Pipe) setError(err error) {
	if p.err == nil {
		p.err = err
		p.wakeWaiters()
	}
}

// failWith ends a pipe without notifying the other end.
func (p *Pipe) failWith(err error) {
	p.mu.Lock()
	p.setError(err)
	p.mu.Unlock()
	p.release()
}

// checkAlive sends a sign of life if necessary and checks for one from the other end.
func (p *Pipe) checkAlive() {
	p.mu.Lock()
	silent, over := time.Since(p.lastReceived), p.closed
	p.mu.Unlock()
	p.sendMu.Lock()
	quiet := time.Since(p.lastSent)
	p.sendMu.Unlock()
	switch {
	case over:
		return
	case silent > aliveTimeout:
		p.failWith(errSilent)
		return
	case quiet >= aliveInterval/2:
		_ = p.sendMessage(kindAlive, nil) // if the connection is lost, the pipe fails anyway
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.aliveTimer.Reset(aliveInterval)
	}
}

// release frees the pipe's resources.
func (p *Pipe) release() {
	p.mu.Lock()
	p.closed = true
	sub := p.sub
	if p.aliveTimer != nil {
		p.aliveTimer.Stop()
	}
	p.readDeadline.stopTimer()
	p.writeDeadline.stopTimer()
	p.wakeWaiters()
	p.mu.Unlock()
	p.conn.removePipe(p)
	if sub != nil {
		_ = sub.Unsubscribe()
	}
}

// waitHello waits for the machine's hello and returns the subject on which it arrived.
func (p *Pipe) waitHello(ctx context.Context) (hello []byte, from string, err error) {
	for {
		p.mu.Lock()
		hello, from, err, changed := p.hello, p.helloSubject, p.err, p.changed
		p.mu.Unlock()
		switch {
		case hello != nil:
			return hello, from, nil
		case err != nil:
			return nil, "", err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, "", errors.New("it does not answer")
		}
	}
}

// setPeer sets the peer of a pipe once a machine has answered.
func (p *Pipe) setPeer(to, peer string) {
	p.sendMu.Lock()
	defer p.sendMu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to, p.peer = to, peer
}

// Read reads from the pipe. It grants new credit after a quarter of the window, to save messages.
func (p *Pipe) Read(b []byte) (int, error) {
	for {
		p.mu.Lock()
		switch {
		case p.closed && p.err == nil:
			p.mu.Unlock()
			return 0, net.ErrClosed
		case p.readDeadline.isOver():
			p.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case len(p.queue) > 0:
			n := copy(b, p.queue[0])
			if p.queue[0] = p.queue[0][n:]; len(p.queue[0]) == 0 {
				p.queue[0] = nil
				p.queue = p.queue[1:]
			}
			p.queued -= n
			p.consumed += n
			ask := 0
			if p.consumed >= window/4 {
				ask, p.consumed = p.consumed, 0
			}
			p.mu.Unlock()
			if ask > 0 {
				_ = p.sendMessage(kindCredit, binary.BigEndian.AppendUint32(nil, uint32(ask))) // if it fails, the pipe ends
			}
			return n, nil
		case p.err != nil:
			err := p.err
			p.mu.Unlock()
			return 0, p.withPeer(err)
		case len(b) == 0:
			p.mu.Unlock()
			return 0, nil
		}
		changed := p.changed
		p.mu.Unlock()
		<-changed
	}
}

// withPeer adds the peer to an error of the connection. io.EOF and API errors are returned
// unchanged.
func (p *Pipe) withPeer(err error) error {
	var refused *api.Error
	if errors.Is(err, io.EOF) || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("%s: %w", p.peer, err)
}

// Write sends within the credit and blocks until the other end grants more.
func (p *Pipe) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		part, err := p.takeCredit(min(len(b), maxBlock))
		if err != nil {
			return n, err
		}
		if err := p.sendMessage(kindData, b[:part]); err != nil {
			return n, p.withPeer(err)
		}
		n += part
		b = b[part:]
	}
	return n, nil
}

// takeCredit waits until there is credit, and takes at most want bytes of it.
func (p *Pipe) takeCredit(want int) (int, error) {
	for {
		p.mu.Lock()
		switch {
		case p.closed && p.err == nil:
			p.mu.Unlock()
			return 0, net.ErrClosed
		case p.err != nil:
			err := p.err
			p.mu.Unlock()
			if errors.Is(err, io.EOF) {
				err = io.ErrClosedPipe
			}
			return 0, p.withPeer(err)
		case p.writeDeadline.isOver():
			p.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case p.credit > 0:
			part := min(want, p.credit)
			p.credit -= part
			p.mu.Unlock()
			return part, nil
		}
		changed := p.changed
		p.mu.Unlock()
		<-changed
	}
}

// Close ends the pipe and notifies the other end.
func (p *Pipe) Close() error { return p.closeWith(nil) }

func (p *Pipe) closeWith(why *api.Error) error {
	p.mu.Lock()
	over := p.closed
	p.mu.Unlock()
	if over {
		return nil
	}
	var body []byte
	if why != nil {
		body, _ = json.Marshal(why) // plain texts: cannot fail
	}
	_ = p.sendMessage(kindEnd, body) // if it is lost, the other end times out
	p.release()
	return nil
}

// SetDeadline sets the read and the write deadline. It implements net.Conn, as do SetReadDeadline
// and SetWriteDeadline.
func (p *Pipe) SetDeadline(t time.Time) error {
	_ = p.SetReadDeadline(t)
	return p.SetWriteDeadline(t)
}

func (p *Pipe) SetReadDeadline(t time.Time) error  { return p.setDeadline(&p.readDeadline, t) }
func (p *Pipe) SetWriteDeadline(t time.Time) error { return p.setDeadline(&p.writeDeadline, t) }

func (p *Pipe) setDeadline(d *deadline, t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return net.ErrClosed
	}
	d.setTime(t, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.wakeWaiters()
	})
	p.wakeWaiters()
	return nil
}

// A deadline is a time at which waiting ends.
type deadline struct {
	at    time.Time // zero: none
	timer *time.Timer
}

// setTime sets the deadline; wake is called when it expires.
func (d *deadline) setTime(at time.Time, wake func()) {
	d.stopTimer()
	d.at = at
	if left := time.Until(at); !at.IsZero() && left > 0 {
		d.timer = time.AfterFunc(left, wake)
	}
}

func (d *deadline) isOver() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) stopTimer() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

// An address is the name of a pipe's end, as a net.Addr.
type address string

func (a address) Network() string { return "fleet" }
func (a address) String() string  { return string(a) }

func (p *Pipe) LocalAddr() net.Addr  { return address(p.conn.user.Name) }
func (p *Pipe) RemoteAddr() net.Addr { return address(p.peer) }
