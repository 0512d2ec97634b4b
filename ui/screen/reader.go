package screen

import (
	"fmt"
	"os"
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
	// Fail is called on the goroutine when the terminal cannot be read any more.
	Fail func(error)
	// Guard runs the goroutine's loop and handles a panic in it.
	Guard func(loop func())

	replies, toReplies  *os.File
	wakeRead, wakeWrite int           // a pipe that makes the loop return
	done                chan struct{} // closed when the loop has returned; nil before Start and after Stop
}

// NewReader returns a reader of a terminal that is not started.
func NewReader(file *os.File, input *Input) (*Reader, error) {
	var wake [2]int
	if err := unix.Pipe2(wake[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("read terminal: make pipe: %w", err)
	}
	replies, toReplies, err := os.Pipe()
	if err != nil {
		unix.Close(wake[0])
		unix.Close(wake[1])
		return nil, fmt.Errorf("read terminal: make pipe: %w", err)
	}
	return &Reader{
		input: input, file: file, Fail: func(error) {}, Guard: func(loop func()) { loop() },
		replies: replies, toReplies: toReplies, wakeRead: wake[0], wakeWrite: wake[1],
	}, nil
}

// Replies returns the pipe with the terminal's replies, which Close closes.
func (r *Reader) Replies() *os.File { return r.replies }

// Start starts reading.
func (r *Reader) Start() {
	done := make(chan struct{})
	r.done = done
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
	_, _ = unix.Write(r.wakeWrite, []byte{0}) // fails only if it is already awake
	<-r.done
	r.done = nil
	_, _ = unix.Read(r.wakeRead, make([]byte, 8))
}

// Close stops reading and releases the pipes.
func (r *Reader) Close() {
	r.Stop()
	r.replies.Close()
	r.toReplies.Close()
	unix.Close(r.wakeRead)
	unix.Close(r.wakeWrite)
}

// readLoop reads until Stop is called or the terminal hangs up.
func (r *Reader) readLoop() {
	buffer := make([]byte, 16<<10)
	fd := int(r.file.Fd())
	for {
		r.passReplies()
		ready, err := r.awaitInput(fd)
		switch {
		case err != nil:
			r.Fail(fmt.Errorf("read terminal: %w", err))
			return
		case !ready && r.input.isUnfinished():
			r.input.flush()
			continue
		case !ready:
			return
		}
		n, err := unix.Read(fd, buffer)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err != nil:
			r.Fail(fmt.Errorf("read terminal: %w", err))
			return
		case n == 0:
			return
		default:
			r.input.Feed(buffer[:n])
		}
	}
}

// awaitInput waits for input, and reports false if Stop was called. It waits only briefly for the
// rest of an unfinished sequence, whose start nobody else can use.
func (r *Reader) awaitInput(fd int) (ready bool, err error) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(r.wakeRead), Events: unix.POLLIN}}
	timeout := -1
	var end time.Time
	if r.input.isUnfinished() {
		fds, end = fds[:1], time.Now().Add(r.input.unfinishedWait())
	}
	for {
		if !end.IsZero() {
			timeout = int(max(time.Until(end), 0).Milliseconds())
		}
		_, err := unix.Poll(fds, timeout)
		// The Go runtime's own signals interrupt the call.
		if err != unix.EINTR {
			return fds[0].Revents != 0 && (len(fds) == 1 || fds[1].Revents == 0), err
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
