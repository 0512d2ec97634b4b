package screen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// replyTimeout is how long Bubble Tea may take to read the terminal's replies when it is far behind.
const replyTimeout = 100 * time.Millisecond

// A Reader reads the terminal and gives what it reads to an Input, on one goroutine. Bubble Tea
// reads only the terminal's replies, from a pipe: its own reader would pass each key between
// goroutines.
type Reader struct {
	input *Input
	file  *os.File // the terminal
	// Fail is called on the reading goroutine when the terminal cannot be read any more.
	Fail func(error)
	// Guard runs the loop of the reading goroutine, and handles a panic in it.
	Guard func(loop func())

	replies, toReplies *os.File
	waiting            *os.File // readable whenever the terminal is
	stopping           atomic.Bool
	done               chan struct{} // closed when the loop has returned; nil before Start and after Stop
}

// NewReader returns a reader of a terminal that is not started.
func NewReader(file *os.File, input *Input) (*Reader, error) {
	waiting, err := watchFile(file)
	if err != nil {
		return nil, fmt.Errorf("read terminal: %w", err)
	}
	replies, toReplies, err := os.Pipe()
	if err != nil {
		waiting.Close()
		return nil, fmt.Errorf("read terminal: make pipe: %w", err)
	}
	return &Reader{
		input: input, file: file, Fail: func(error) {}, Guard: func(loop func()) { loop() },
		replies: replies, toReplies: toReplies, waiting: waiting,
	}, nil
}

// watchFile returns an epoll instance that is readable whenever a file is. The runtime can wait for
// it, although the file is in blocking mode, which other programs share: a system call that blocks
// would delay other goroutines by up to 10 ms.
func watchFile(file *os.File) (*os.File, error) {
	watch, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	fd := int(file.Fd())
	err = unix.EpollCtl(watch, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
	if err == nil {
		err = unix.SetNonblock(watch, true)
	}
	if err != nil {
		unix.Close(watch)
		return nil, err
	}
	return os.NewFile(uintptr(watch), "epoll"), nil
}

// Replies returns the pipe with the terminal's replies, which Close closes.
func (r *Reader) Replies() *os.File { return r.replies }

// Start starts reading.
func (r *Reader) Start() {
	done := make(chan struct{})
	r.done = done
	r.stopping.Store(false)
	go func() {
		defer close(done)
		r.Guard(r.readLoop)
	}()
}

// Stop stops reading and returns once nothing is being read any more: the rest is for whoever reads
// the terminal next.
func (r *Reader) Stop() {
	if r.done == nil {
		return
	}
	r.stopping.Store(true)
	_ = r.waiting.SetReadDeadline(time.Now()) // fails only after Close
	<-r.done
	r.done = nil
}

// Close stops reading and releases the pipes.
func (r *Reader) Close() {
	r.Stop()
	r.waiting.Close()
	r.replies.Close()
	r.toReplies.Close()
}

// readLoop reads until Stop is called or the terminal hangs up. It waits only briefly for the rest of
// an unfinished sequence, whose start nobody else can use.
func (r *Reader) readLoop() {
	buffer := make([]byte, 16<<10)
	fd := int(r.file.Fd())
	for {
		r.passReplies()
		var end time.Time
		if r.input.isUnfinished() {
			end = time.Now().Add(r.input.unfinishedWait())
		}
		ready, err := r.awaitInput(end)
		switch {
		case err != nil:
			r.Fail(fmt.Errorf("read terminal: %w", err))
			return
		case !ready && !end.IsZero():
			r.input.flush()
			continue
		case !ready:
			return
		}
		n, err := unix.Read(fd, buffer)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err == nil && n == 0: // it has hung up
			r.Fail(fmt.Errorf("read terminal: %w", io.EOF))
			return
		case err != nil:
			r.Fail(fmt.Errorf("read terminal: %w", err))
			return
		default:
			r.input.Feed(buffer[:n])
		}
	}
}

// awaitInput waits for input until end or, if that is zero, until Stop is called.
func (r *Reader) awaitInput(end time.Time) (ready bool, err error) {
	conn, err := r.waiting.SyscallConn()
	if err != nil {
		return false, err
	}
	isReady := func(watch uintptr) bool {
		var events [1]unix.EpollEvent
		n, _ := unix.EpollWait(int(watch), events[:], 0)
		ready = n > 0
		return ready
	}
	for {
		// The deadline is set before stopping is checked. In the other order, it could replace the
		// deadline that Stop has set meanwhile.
		if err := r.waiting.SetReadDeadline(end); err != nil {
			return false, err
		}
		if end.IsZero() && r.stopping.Load() {
			return false, nil
		}
		err := conn.Read(isReady)
		switch {
		case ready:
			return true, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return false, err
		case !time.Now().Before(end): // otherwise Stop has set another deadline
			return false, nil
		}
	}
}

// passReplies passes the terminal's replies on to Bubble Tea.
func (r *Reader) passReplies() {
	if p := r.input.takeReplies(); len(p) > 0 {
		_ = r.toReplies.SetWriteDeadline(time.Now().Add(replyTimeout))
		_, _ = r.toReplies.Write(p) // only a terminal that floods its replies loses some
	}
}
