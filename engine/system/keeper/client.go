package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/base/unixsocket"
)

// ErrLost is returned by all calls once the connection is closed, by the keeper or by the Client.
var ErrLost = errors.New("connection to the keeper is lost")

// IsGone reports whether err means that the keeper has exited or does not listen.
func IsGone(err error) bool {
	for _, gone := range []error{ErrLost, unix.ECONNREFUSED, unix.ENOENT, unix.ENOTDIR, unix.ECONNRESET, unix.EPIPE} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// A Client is the engine's connection to the keeper. It is safe for concurrent use.
type Client struct {
	link     *link
	pid      int
	upgrades bool
	exits    *exitQueue
	timeout  time.Duration // bounds Dial and Ready

	mu      sync.Mutex // guards what follows
	lastID  uint64
	waiting map[uint64]chan<- reply // nil once the connection is gone
}

// A reply is the keeper's response to a request.
type reply struct {
	message
	fds []int
	bad error // the reply could not be decoded
}

// A Dialer connects to keepers. The zero value is ready to use.
type Dialer struct {
	Timeout time.Duration // maximum time for the keeper to answer Dial and Ready; default 10 s
}

// Dial calls Dialer.Dial with the default timeout.
func Dial(ctx context.Context, socket string) (*Client, error) {
	return Dialer{}.Dial(ctx, socket)
}

// Dial connects to a keeper and announces this process as the engine. When the engine dies, the
// keeper starts another. Dial fails while another process is the announced engine; a newer
// connection of the same process replaces its older one. Dial returns ErrVersion if the keeper is
// from an incompatible release.
func (d Dialer) Dial(ctx context.Context, socket string) (*Client, error) {
	conn, err := dialSocket(ctx, socket)
	if err != nil {
		return nil, err
	}
	c := &Client{link: newLink(conn), exits: newExitQueue(), waiting: map[uint64]chan<- reply{}, timeout: cmp.Or(d.Timeout, 10*time.Second)}
	go c.readLoop()
	r, err := c.roundTripSoon(ctx, message{Op: opHello})
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("announce engine to keeper: %w", err)
	}
	c.pid, c.upgrades = r.PID, r.Upgrades || r.Succeeds
	return c, nil
}

// dialSocket opens the socket and checks that the keeper runs as this user.
func dialSocket(ctx context.Context, socket string) (*net.UnixConn, error) {
	short, done, err := unixsocket.ShortPath(socket)
	if err != nil {
		return nil, fmt.Errorf("connect to keeper: %w", err)
	}
	defer done()
	conn, err := new(net.Dialer).DialContext(ctx, "unixpacket", short)
	if err != nil {
		return nil, fmt.Errorf("connect to keeper: %w", err)
	}
	unixConn := conn.(*net.UnixConn)
	p, err := peerOf(unixConn)
	closeFD(p.pidfd)
	if err == nil && p.uid != os.Geteuid() {
		err = fmt.Errorf("connect to keeper: socket %s belongs to a process of user %d", socket, p.uid)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return unixConn, nil
}

// PID returns the keeper's pid.
func (c *Client) PID() int { return c.pid }

// Upgrades reports whether the keeper supports Upgrade.
func (c *Client) Upgrades() bool { return c.upgrades }

// Ready informs the keeper that clients can connect to the engine.
func (c *Client) Ready() error {
	_, err := c.roundTripSoon(context.Background(), message{Op: opReady})
	return err
}

// roundTripSoon is roundTrip with a timeout, for requests that the keeper answers at once.
func (c *Client) roundTripSoon(ctx context.Context, m message) (reply, error) {
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := c.roundTrip(bounded, m)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("the keeper has not answered within %v: %w", c.timeout, err)
	}
	return r, err
}

// Start starts a child. It returns the child's identity and, for a terminal, a non-blocking PTY
// master that supports deadlines. The child's exit may be delivered before Start returns. If ctx
// ends first, the child may have been started anyway; List shows it.
func (c *Client) Start(ctx context.Context, s Spec) (Child, *os.File, error) {
	r, err := c.roundTrip(ctx, message{Op: opStart, Spec: &s})
	if err != nil {
		return Child{}, nil, err
	}
	if r.Child == nil || s.TTY != (len(r.fds) == 1) {
		closeFDs(r.fds)
		return Child{}, nil, fmt.Errorf("start %q: reply of the keeper is incomplete", s.ID)
	}
	if !s.TTY {
		return *r.Child, nil, nil
	}
	master, err := fileOf(r.fds[0], "pty of "+s.ID)
	return *r.Child, master, err
}

// List returns all children, including exited ones that were not forgotten.
func (c *Client) List(ctx context.Context) ([]Child, error) {
	r, err := c.roundTrip(ctx, message{Op: opList})
	closeFDs(r.fds)
	return r.Children, err
}

// Master returns a new duplicate of a child's PTY master.
func (c *Client) Master(ctx context.Context, id string) (*os.File, error) {
	r, err := c.roundTrip(ctx, message{Op: opMaster, ChildID: id})
	if err != nil {
		return nil, err
	}
	if len(r.fds) != 1 {
		closeFDs(r.fds)
		return nil, fmt.Errorf("get terminal of %q: reply of the keeper is incomplete", id)
	}
	return fileOf(r.fds[0], "pty of "+id)
}

// Adopt passes a child of an earlier keeper, and its PTY master if it has one, to this keeper. dir
// is the directory for its exit.json, logs are the files it writes. If the child has exited
// meanwhile, its exit is delivered like any other; it is unknown if the status is unavailable.
func (c *Client) Adopt(ctx context.Context, child Child, dir string, logs Logs, master *os.File) error {
	m := message{Op: opAdopt, Child: &child, Dir: dir, Logs: logs.Paths, LogLimit: logs.Limit}
	if master == nil {
		_, err := c.roundTrip(ctx, m)
		return err
	}
	return c.roundTripWithFile(ctx, m, master)
}

// Forget removes an exited child and closes the keeper's PTY master for it.
func (c *Client) Forget(ctx context.Context, id string) error {
	_, err := c.roundTrip(ctx, message{Op: opForget, ChildID: id})
	return err
}

// Replace replaces the engine's program by the open file executable. The keeper stops this engine
// (SIGTERM, after 5 s SIGKILL) and starts the new one. If that exits before it is ready, the keeper
// starts the old program again. The caller should exit.
func (c *Client) Replace(ctx context.Context, executable *os.File) error {
	return c.roundTripWithFile(ctx, message{Op: opReplace}, executable)
}

// Upgrade announces that this process is about to execute another program, which then dials the
// keeper. Clients wait until the new program is ready. If the process exits before that, the keeper
// starts the old program again.
func (c *Client) Upgrade(ctx context.Context, executable *os.File) error {
	return c.roundTripWithFile(ctx, message{Op: opReplace, PID: os.Getpid()}, executable)
}

// Pause makes the keeper start no further engine until a client asks for one. Without children,
// the keeper then exits when the engine does.
func (c *Client) Pause(ctx context.Context) error {
	_, err := c.roundTrip(ctx, message{Op: opPause})
	return err
}

// Exits delivers the exits of children, after exit.json was written unless the child is transient.
// It is closed when the connection is lost. List includes exits that were not received.
func (c *Client) Exits() <-chan Child { return c.exits.out }

func (c *Client) Close() error {
	c.exits.abandon()
	return c.link.conn.Close()
}

// roundTrip sends a request and waits for the reply. It owns fds.
func (c *Client) roundTrip(ctx context.Context, m message, fds ...int) (reply, error) {
	answer := make(chan reply, 1)
	id, err := c.register(answer)
	if err != nil {
		closeFDs(fds)
		return reply{}, err
	}
	m.ID = id
	p, err := encode(m, fds...)
	if err != nil {
		c.unregister(id)
		return reply{}, fmt.Errorf("ask the keeper to %s: %w", m.Op, err)
	}
	if err := c.link.send(p); err != nil {
		c.unregister(id)
		if IsGone(err) || errors.Is(err, net.ErrClosed) {
			err = fmt.Errorf("%w: %v", ErrLost, err)
		}
		return reply{}, fmt.Errorf("ask the keeper to %s: %w", m.Op, err)
	}
	select {
	case r, ok := <-answer:
		if !ok {
			return reply{}, ErrLost
		}
		if r.bad != nil {
			return reply{}, r.bad
		}
		if r.Error != "" {
			closeFDs(r.fds)
			return reply{}, replyError(r.message)
		}
		return r, nil
	case <-ctx.Done():
		c.unregister(id)
		discard(answer)
		return reply{}, ctx.Err()
	}
}

// roundTripWithFile sends a request with a duplicate of f.
func (c *Client) roundTripWithFile(ctx context.Context, m message, f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("hand %s to the keeper: %w", f.Name(), err)
	}
	fd := -1
	var dupErr error
	err = raw.Control(func(own uintptr) { fd, dupErr = dupFD(int(own)) })
	if err = errors.Join(err, dupErr); err != nil {
		return fmt.Errorf("hand %s to the keeper: %w", f.Name(), err)
	}
	_, err = c.roundTrip(ctx, m, fd)
	return err
}

// register allocates the id of a new request, whose reply will be sent to replies.
func (c *Client) register(replies chan<- reply) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		return 0, ErrLost
	}
	c.lastID++
	c.waiting[c.lastID] = replies
	return c.lastID, nil
}

func (c *Client) unregister(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// discard closes the descriptors of a reply no caller waits for. It must follow unregister, after
// which no further reply can arrive.
func discard(answer <-chan reply) {
	select {
	case r := <-answer:
		closeFDs(r.fds)
	default:
	}
}

// readLoop dispatches messages from the keeper until the connection ends.
func (c *Client) readLoop() {
	for {
		m, fds, err := c.link.receive()
		var bad *badMessage
		switch {
		case errors.As(err, &bad):
			c.deliverReply(reply{message: message{ID: bad.id}, bad: bad.replyError(c.link)})
		case err != nil:
			c.failAll()
			return
		case m.Op == opReply:
			c.deliverReply(reply{message: m, fds: fds})
		case m.Op == opExit && m.Child != nil:
			closeFDs(fds)
			c.exits.add(*m.Child)
		default: // an event of a newer keeper
			closeFDs(fds)
		}
	}
}

func (c *Client) deliverReply(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer, ok := c.waiting[r.ID]
	if !ok {
		closeFDs(r.fds)
		return
	}
	delete(c.waiting, r.ID)
	answer <- r // buffered, so it does not block
}

// failAll fails all pending calls and ends the stream of exits.
func (c *Client) failAll() {
	c.link.conn.Close()
	c.mu.Lock()
	// Closing a channel makes its call return ErrLost.
	for _, answer := range c.waiting {
		close(answer)
	}
	c.waiting = nil
	c.mu.Unlock()
	c.exits.finish()
}

// An exitQueue decouples the connection's reader from the receiver of exits, which may itself be
// waiting for a reply. It holds at most one entry per child.
type exitQueue struct {
	out       chan Child
	abandoned chan struct{} // closed by abandon
	once      sync.Once

	mu       sync.Mutex // guards what follows
	pending  []Child
	finished bool
	wake     chan struct{} // buffered, capacity 1
}

// newExitQueue starts a goroutine that runs until the queue is abandoned, or finished and empty.
func newExitQueue() *exitQueue {
	q := &exitQueue{out: make(chan Child), abandoned: make(chan struct{}), wake: make(chan struct{}, 1)}
	go q.deliver()
	return q
}

func (q *exitQueue) add(c Child) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = append(q.pending, c)
	q.signal()
}

// finish closes the channel out once all pending exits are delivered.
func (q *exitQueue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	q.signal()
}

// abandon stops the delivery; no receiver is left.
func (q *exitQueue) abandon() { q.once.Do(func() { close(q.abandoned) }) }

func (q *exitQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *exitQueue) deliver() {
	defer close(q.out)
	for {
		batch, finished := q.takePending()
		for _, c := range batch {
			select {
			case q.out <- c:
			case <-q.abandoned:
				return
			}
		}
		if finished {
			return
		}
		select {
		case <-q.wake:
		case <-q.abandoned:
			return
		}
	}
}

func (q *exitQueue) takePending() (batch []Child, finished bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch, q.pending = q.pending, nil
	return batch, q.finished
}
