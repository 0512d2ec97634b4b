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
)

// ErrLost is what calls on a Client give once its connection is gone: the
// keeper died or cut it, or the Client was closed.
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

// A Client is the engine's connection to the keeper. Safe for concurrent use.
type Client struct {
	link     *link
	pid      int
	succeeds bool
	exits    *exitQueue
	timeout  time.Duration // of Dial and Ready

	mu      sync.Mutex // guards what follows
	lastID  uint64
	waiting map[uint64]chan<- reply // nil once the connection is gone
}

// A reply is the keeper's answer to one request.
type reply struct {
	message
	fds []int
	bad error // it came and was not understood
}

// A Dialer connects to keepers. The zero value is ready for use.
type Dialer struct {
	Timeout time.Duration // how long a keeper may take to answer Dial and Ready; default 10 s
}

// Dial is Dialer.Dial with the default timeout.
func Dial(ctx context.Context, socket string) (*Client, error) {
	return Dialer{}.Dial(ctx, socket)
}

// Dial connects to a keeper and announces this process as the engine: when it
// dies, the keeper starts another one. Only one process is announced at a time:
// while another one lives, Dial fails; from the same process, the newer
// connection replaces the older. The error is ErrVersion if the keeper is of a release
// that cannot be talked to.
func (d Dialer) Dial(ctx context.Context, socket string) (*Client, error) {
	conn, err := connect(ctx, socket)
	if err != nil {
		return nil, err
	}
	c := &Client{link: newLink(conn), exits: newExitQueue(), waiting: map[uint64]chan<- reply{}, timeout: cmp.Or(d.Timeout, 10*time.Second)}
	go c.read()
	r, err := c.callSoon(ctx, message{Op: opHello})
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("announce engine to keeper: %w", err)
	}
	c.pid, c.succeeds = r.PID, r.Succeeds
	return c, nil
}

// connect opens the socket and checks that it is a keeper of our own user.
func connect(ctx context.Context, socket string) (*net.UnixConn, error) {
	short, done, err := shortPath(socket)
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

// PID is the keeper's.
func (c *Client) PID() int { return c.pid }

// Succeeds reports whether the keeper understands Succeed.
func (c *Client) Succeeds() bool { return c.succeeds }

// Ready tells the keeper that clients can connect to the engine now.
func (c *Client) Ready() error {
	_, err := c.callSoon(context.Background(), message{Op: opReady})
	return err
}

// callSoon is call for what a keeper answers at once.
func (c *Client) callSoon(ctx context.Context, m message) (reply, error) {
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := c.call(bounded, m)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("the keeper has not answered within %v: %w", c.timeout, err)
	}
	return r, err
}

// Start starts a child and gives its identity and, for a terminal, the PTY
// master, non-blocking and ready for deadlines. An exit may be reported before
// Start returns. When ctx ends first the child may have been started all the
// same; List tells.
func (c *Client) Start(ctx context.Context, s Spec) (Child, *os.File, error) {
	r, err := c.call(ctx, message{Op: opStart, Spec: &s})
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

// List tells all children, those that ended and were not forgotten included.
func (c *Client) List(ctx context.Context) ([]Child, error) {
	r, err := c.call(ctx, message{Op: opList})
	closeFDs(r.fds)
	return r.Children, err
}

// Master gives another duplicate of a child's PTY master.
func (c *Client) Master(ctx context.Context, id string) (*os.File, error) {
	r, err := c.call(ctx, message{Op: opMaster, ChildID: id})
	if err != nil {
		return nil, err
	}
	if len(r.fds) != 1 {
		closeFDs(r.fds)
		return nil, fmt.Errorf("get terminal of %q: reply of the keeper is incomplete", id)
	}
	return fileOf(r.fds[0], "pty of "+id)
}

// Adopt hands a child of an earlier keeper, and its PTY master if it has one,
// to this keeper; dir is where its exit.json goes, and logs is what it writes. The exit of a child that
// ended in between is reported like any other, as unknown if nobody can tell.
func (c *Client) Adopt(ctx context.Context, child Child, dir string, logs Logs, master *os.File) error {
	m := message{Op: opAdopt, Child: &child, Dir: dir, Logs: logs.Paths, LogLimit: logs.Limit}
	if master == nil {
		_, err := c.call(ctx, m)
		return err
	}
	return c.callWithFile(ctx, m, master)
}

// Forget drops an ended child and closes the keeper's PTY master of it.
func (c *Client) Forget(ctx context.Context, id string) error {
	_, err := c.call(ctx, message{Op: opForget, ChildID: id})
	return err
}

// Replace makes executable the engine's program, ends this engine (SIGTERM,
// after 5 s SIGKILL) and starts the new one; if that dies before it is ready,
// the old program is started again. The caller is expected to exit.
func (c *Client) Replace(ctx context.Context, executable *os.File) error {
	return c.callWithFile(ctx, message{Op: opReplace}, executable)
}

// Succeed makes the process pid, which already runs executable, the engine in place of the
// caller, which must then exit. If pid exits before it is ready, the keeper starts the old
// program again.
func (c *Client) Succeed(ctx context.Context, executable *os.File, pid int) error {
	return c.callWithFile(ctx, message{Op: opReplace, PID: pid}, executable)
}

// Pause tells the keeper not to start an engine when this one exits, until a
// client asks; a keeper that holds no children ends then.
func (c *Client) Pause(ctx context.Context) error {
	_, err := c.call(ctx, message{Op: opPause})
	return err
}

// Exits delivers children that have ended, after exit.json was written where they are
// not transient. It is closed when the connection to the keeper is lost. An exit that nobody received
// is in List.
func (c *Client) Exits() <-chan Child { return c.exits.out }

// Close ends the connection.
func (c *Client) Close() error {
	c.exits.abandon()
	return c.link.conn.Close()
}

// call sends a request and waits for its reply.
func (c *Client) call(ctx context.Context, m message, fds ...int) (reply, error) {
	answer := make(chan reply, 1)
	id, err := c.expect(answer)
	if err != nil {
		closeFDs(fds)
		return reply{}, err
	}
	m.ID = id
	p, err := encode(m, fds...)
	if err != nil {
		c.unexpect(id)
		return reply{}, fmt.Errorf("ask the keeper to %s: %w", m.Op, err)
	}
	if err := c.link.send(p); err != nil {
		c.unexpect(id)
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
			return reply{}, errors.New(r.Error)
		}
		return r, nil
	case <-ctx.Done():
		c.unexpect(id)
		discard(answer)
		return reply{}, ctx.Err()
	}
}

// callWithFile sends a duplicate of f along with a request.
func (c *Client) callWithFile(ctx context.Context, m message, f *os.File) error {
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
	_, err = c.call(ctx, m, fd)
	return err
}

// expect registers for the reply to a new request id.
func (c *Client) expect(answer chan<- reply) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		return 0, ErrLost
	}
	c.lastID++
	c.waiting[c.lastID] = answer
	return c.lastID, nil
}

func (c *Client) unexpect(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// discard closes what came with a reply that nobody waits for any more. After
// unexpect the reply is either there or never comes.
func discard(answer <-chan reply) {
	select {
	case r := <-answer:
		closeFDs(r.fds)
	default:
	}
}

// read dispatches what the keeper sends until the connection ends.
func (c *Client) read() {
	for {
		m, fds, err := c.link.receive()
		var bad *badMessage
		switch {
		case errors.As(err, &bad):
			c.answer(reply{message: message{ID: bad.id}, bad: bad.ofReply(c.link)})
		case err != nil:
			c.lost()
			return
		case m.Op == opReply:
			c.answer(reply{message: m, fds: fds})
		case m.Op == opExit && m.Child != nil:
			closeFDs(fds)
			c.exits.add(*m.Child)
		default: // an event of a newer keeper
			closeFDs(fds)
		}
	}
}

func (c *Client) answer(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer, ok := c.waiting[r.ID]
	if !ok {
		closeFDs(r.fds)
		return
	}
	delete(c.waiting, r.ID)
	answer <- r // has room for the one reply
}

// lost ends every call and the stream of exits.
func (c *Client) lost() {
	c.link.conn.Close()
	c.mu.Lock()
	for _, answer := range c.waiting {
		close(answer)
	}
	c.waiting = nil
	c.mu.Unlock()
	c.exits.finish()
}

// An exitQueue stands between the connection's reader and whoever receives
// exits, so that a receiver that waits for a reply at that moment holds up
// nothing. It grows by at most one entry a child.
type exitQueue struct {
	out       chan Child
	abandoned chan struct{} // closed by abandon
	once      sync.Once

	mu       sync.Mutex // guards what follows
	pending  []Child
	finished bool
	wake     chan struct{} // has room for one
}

// newExitQueue starts a goroutine that ends some time after finish: once all was
// delivered or the queue was abandoned.
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

// finish closes out behind what is pending.
func (q *exitQueue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	q.signal()
}

// abandon says that nobody needs to receive any more.
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
		batch, finished := q.take()
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

func (q *exitQueue) take() (batch []Child, finished bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch, q.pending = q.pending, nil
	return batch, q.finished
}
