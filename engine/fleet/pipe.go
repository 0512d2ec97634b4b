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
	"tandem/engine/panics"
)

// A Pipe is a connection through the hub: bytes in both directions, in order. Who
// reads asks for blocks, and who writes sends no more than was asked for, so that a
// slow reader leaves nothing at the hub.
//
// A message is a kind, a number that counts the messages of its direction, and what
// the kind says. One that is missing ends the pipe.
type Pipe struct {
	conn *conn
	to   string // subject
	sub  *nats.Subscription
	peer string // for people

	sending sync.Mutex // of what goes out: its numbers have to be in order
	sent    uint32
	said    time.Time // when something went out last

	mu       sync.Mutex
	changed  chan struct{} // is closed, and another one made, with each change
	got      [][]byte      // not read yet
	waiting  int           // bytes of it
	heard    uint32
	heardAt  time.Time
	owed     int // bytes that were read and not asked for again
	allowed  int // bytes that may be sent
	hello    []byte
	from     string // subject of the hello
	err      error  // for readers, behind what is in got; for writers at once
	closed   bool
	readBy   deadline
	writeBy  deadline
	watching *time.Timer
}

// Kinds of messages.
const (
	kindHello = 'h' // the first from the machine: what it is
	kindData  = 'd'
	kindAsk   = 'a' // so many bytes more may come
	kindAlive = 'k'
	kindEnd   = 'e' // nothing more comes; with an api.Error if that is why
)

const (
	// window is how much may be on the way to a reader.
	window = 256 << 10
	// block bounds a message.
	block = 32 << 10
	// aliveStep is how long a pipe may say nothing, aliveMost after how long of that the
	// other end is gone.
	aliveStep, aliveMost = 4 * time.Second, 12 * time.Second

	headSize = 5
)

// errGone says that the other end is not there.
var errGone = errors.New("it stopped sending")

// newPipe subscribes to what comes; nothing is sent yet.
func (l *conn) newPipe(from, to, peer string) (*Pipe, error) {
	p := &Pipe{conn: l, to: to, peer: peer, changed: make(chan struct{}), allowed: window, heardAt: time.Now(), said: time.Now()}
	if err := l.keep(p); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.watching = time.AfterFunc(aliveStep, panics.Logged(l.log, "fleet: pipe", p.watch))
	p.mu.Unlock()
	sub, err := l.subscribe(from, "", p.receive)
	if err != nil {
		p.fail(err)
		return nil, err
	}
	_ = sub.SetPendingLimits(-1, -1) // the window is the limit
	p.mu.Lock()
	p.sub = sub
	over := p.closed
	p.mu.Unlock()
	if over {
		_ = sub.Unsubscribe()
	}
	return p, nil
}

// send sends a message.
func (p *Pipe) send(kind byte, body []byte) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	if p.to == "" {
		return nil // nobody has answered yet
	}
	message := make([]byte, headSize, headSize+len(body))
	message[0] = kind
	binary.BigEndian.PutUint32(message[1:], p.sent)
	p.sent++
	p.said = time.Now()
	return p.conn.nats.Publish(p.to, append(message, body...))
}

// receive takes what comes. It never blocks.
func (p *Pipe) receive(m *nats.Msg) {
	if len(m.Data) < headSize {
		return
	}
	kind, number, body := m.Data[0], binary.BigEndian.Uint32(m.Data[1:]), m.Data[headSize:]
	p.mu.Lock()
	defer p.mu.Unlock()
	if number != p.heard {
		p.endWith(errors.New("messages were lost"))
		return
	}
	p.heard++
	p.heardAt = time.Now()
	switch kind {
	case kindHello:
		p.hello, p.from = body, m.Subject
	case kindData:
		if p.waiting += len(body); p.waiting > window {
			p.endWith(errors.New("more data arrived than requested"))
			return
		}
		p.got = append(p.got, body)
	case kindAsk:
		if len(body) == 4 {
			p.allowed += int(binary.BigEndian.Uint32(body))
		}
	case kindEnd:
		p.endWith(endOf(body))
		return
	}
	p.tell()
}

// endOf is why the other end has closed.
func endOf(body []byte) error {
	var e api.Error
	if len(body) == 0 || json.Unmarshal(body, &e) != nil || e.Message == "" {
		return io.EOF
	}
	return &e
}

// tell wakes who waits. The lock is held.
func (p *Pipe) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// endWith says why nothing more comes or goes. The lock is held.
func (p *Pipe) endWith(err error) {
	if p.err == nil {
		p.err = err
		p.tell()
	}
}

// fail ends a pipe without a word to the other end.
func (p *Pipe) fail(err error) {
	p.mu.Lock()
	p.endWith(err)
	p.mu.Unlock()
	p.leave()
}

// watch says that this end is there, and sees whether the other one is.
func (p *Pipe) watch() {
	p.mu.Lock()
	silent, over := time.Since(p.heardAt), p.closed
	p.mu.Unlock()
	p.sending.Lock()
	quiet := time.Since(p.said)
	p.sending.Unlock()
	switch {
	case over:
		return
	case silent > aliveMost:
		p.fail(errGone)
		return
	case quiet >= aliveStep/2:
		_ = p.send(kindAlive, nil) // a connection that is lost ends the pipe by itself
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.watching.Reset(aliveStep)
	}
}

// leave gives up what a pipe holds.
func (p *Pipe) leave() {
	p.mu.Lock()
	p.closed = true
	sub := p.sub
	if p.watching != nil {
		p.watching.Stop()
	}
	p.readBy.stop()
	p.writeBy.stop()
	p.tell()
	p.mu.Unlock()
	p.conn.forget(p)
	if sub != nil {
		_ = sub.Unsubscribe()
	}
}

// greeting waits for what the other end says first, and tells on which subject it did.
func (p *Pipe) greeting(ctx context.Context) (hello []byte, from string, err error) {
	for {
		p.mu.Lock()
		hello, from, err, changed := p.hello, p.from, p.err, p.changed
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

// settle says where a pipe leads that was opened to whoever answers.
func (p *Pipe) settle(to, peer string) {
	p.sending.Lock()
	defer p.sending.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to, p.peer = to, peer
}

// Read reads, and asks for more once it has read a good part of what it asked for.
func (p *Pipe) Read(b []byte) (int, error) {
	for {
		p.mu.Lock()
		switch {
		case p.closed && p.err == nil:
			p.mu.Unlock()
			return 0, net.ErrClosed
		case p.readBy.over():
			p.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case len(p.got) > 0:
			n := copy(b, p.got[0])
			if p.got[0] = p.got[0][n:]; len(p.got[0]) == 0 {
				p.got[0] = nil
				p.got = p.got[1:]
			}
			p.waiting -= n
			p.owed += n
			ask := 0
			if p.owed >= window/4 {
				ask, p.owed = p.owed, 0
			}
			p.mu.Unlock()
			if ask > 0 {
				_ = p.send(kindAsk, binary.BigEndian.AppendUint32(nil, uint32(ask))) // what it fails for ends the pipe
			}
			return n, nil
		case p.err != nil:
			err := p.err
			p.mu.Unlock()
			return 0, p.named(err)
		case len(b) == 0:
			p.mu.Unlock()
			return 0, nil
		}
		changed := p.changed
		p.mu.Unlock()
		<-changed
	}
}

// named says of an error of the way whose it is; ends and refusals stay as they are.
func (p *Pipe) named(err error) error {
	var refused *api.Error
	if errors.Is(err, io.EOF) || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("%s: %w", p.peer, err)
}

// Write sends as much as the other end has asked for, and waits for it to ask for more.
func (p *Pipe) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		part, err := p.room(min(len(b), block))
		if err != nil {
			return n, err
		}
		if err := p.send(kindData, b[:part]); err != nil {
			return n, p.named(err)
		}
		n += part
		b = b[part:]
	}
	return n, nil
}

// room takes part of what may be sent.
func (p *Pipe) room(want int) (int, error) {
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
			return 0, p.named(err)
		case p.writeBy.over():
			p.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case p.allowed > 0:
			part := min(want, p.allowed)
			p.allowed -= part
			p.mu.Unlock()
			return part, nil
		}
		changed := p.changed
		p.mu.Unlock()
		<-changed
	}
}

// Close ends the pipe, and tells the other end.
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
		body, _ = json.Marshal(why) // texts
	}
	_ = p.send(kindEnd, body) // one that is lost is noticed there by the silence
	p.leave()
	return nil
}

// SetDeadline and the two others are those of a net.Conn.
func (p *Pipe) SetDeadline(t time.Time) error {
	_ = p.SetReadDeadline(t)
	return p.SetWriteDeadline(t)
}

func (p *Pipe) SetReadDeadline(t time.Time) error  { return p.setDeadline(&p.readBy, t) }
func (p *Pipe) SetWriteDeadline(t time.Time) error { return p.setDeadline(&p.writeBy, t) }

func (p *Pipe) setDeadline(d *deadline, t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return net.ErrClosed
	}
	d.set(t, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.tell()
	})
	p.tell()
	return nil
}

// A deadline is when waiting ends.
type deadline struct {
	at    time.Time // zero: never
	timer *time.Timer
}

// set calls wake then.
func (d *deadline) set(at time.Time, wake func()) {
	d.stop()
	d.at = at
	if left := time.Until(at); !at.IsZero() && left > 0 {
		d.timer = time.AfterFunc(left, wake)
	}
}

func (d *deadline) over() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

// An address of a pipe is who is at the other end.
type address string

func (a address) Network() string { return "fleet" }
func (a address) String() string  { return string(a) }

func (p *Pipe) LocalAddr() net.Addr  { return address(p.conn.user.Name) }
func (p *Pipe) RemoteAddr() net.Addr { return address(p.peer) }
