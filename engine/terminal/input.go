package terminal

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"tandem/engine/api"

	"golang.org/x/sys/unix"
)

const (
	// inputLimit is how much input may wait for a program that does not read
	// before those who send more have to wait.
	inputLimit = 256 << 10
	// replyLimit bounds the same for what the emulator answers; beyond it
	// answers are dropped, because the screen must never wait.
	replyLimit = 64 << 10
	// writeRetry bounds how long a wake-up that the kernel did not give, as it
	// may happen with PTYs, can hold up input.
	writeRetry = 100 * time.Millisecond
)

// An input takes what is typed into a session. Each message is written whole
// and in order of arrival. What the PTY takes at once is written by the caller;
// a goroutine that lives as long as something is left writes the rest.
type input struct {
	master *os.File
	conn   syscall.RawConn

	mu      sync.Mutex
	pending []byte
	closed  bool
	drained chan struct{} // closed when pending has become small; nil if nobody waits
	writer  sync.WaitGroup
}

func newInput(master *os.File) *input {
	in := &input{master: master, closed: master == nil}
	if master != nil {
		conn, err := master.SyscallConn()
		in.conn, in.closed = conn, err != nil
	}
	return in
}

// write queues p behind what waits, and blocks first while that is too much.
func (in *input) write(ctx context.Context, p []byte) error {
	for {
		wait, err := in.push(p, inputLimit)
		if wait == nil {
			return err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reply queues p, or drops it when too much waits. It never blocks.
func (in *input) reply(p []byte) {
	in.push(p, replyLimit)
}

// push queues p unless limit bytes wait already; then it gives a channel to
// wait on.
func (in *input) push(p []byte, limit int) (wait <-chan struct{}, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.closed:
		return nil, api.Errorf(api.CodeEnded, "type into session: it has ended")
	case len(in.pending) >= limit:
		if in.drained == nil {
			in.drained = make(chan struct{})
		}
		return in.drained, nil
	case len(in.pending) > 0:
		in.pending = append(in.pending, p...)
		return nil, nil
	}
	n, err := in.tryWrite(p)
	if err != nil {
		return nil, api.Errorf(api.CodeEnded, "type into session: %v", err)
	}
	if n < len(p) {
		in.pending = append(in.pending, p[n:]...)
		in.writer.Go(in.drain)
	}
	return nil, nil
}

// tryWrite writes what the PTY takes without waiting.
func (in *input) tryWrite(p []byte) (written int, err error) {
	controlErr := in.conn.Control(func(fd uintptr) {
		for written < len(p) && err == nil {
			var n int
			n, err = unix.Write(int(fd), p[written:])
			written += max(n, 0)
			if err == unix.EINTR {
				err = nil
			}
		}
	})
	if err == unix.EAGAIN {
		err = nil
	}
	return written, errors.Join(controlErr, err)
}

// idle reports whether nothing waits to be written.
func (in *input) idle() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return !in.closed && len(in.pending) == 0
}

// drain writes what waits until nothing does.
func (in *input) drain() {
	for {
		in.mu.Lock()
		if len(in.pending) == 0 || in.closed {
			in.pending = nil
			in.wake()
			in.mu.Unlock()
			return
		}
		piece := in.pending[:min(len(in.pending), 16<<10)]
		in.mu.Unlock()

		in.master.SetWriteDeadline(time.Now().Add(writeRetry))
		n, err := in.master.Write(piece)

		in.mu.Lock()
		in.pending = in.pending[n:]
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			in.pending = nil // nothing has the terminal open
		}
		if len(in.pending) < inputLimit/2 {
			in.wake()
		}
		in.mu.Unlock()
	}
}

func (in *input) wake() {
	if in.drained != nil {
		close(in.drained)
		in.drained = nil
	}
}

// close drops what waits and refuses more.
func (in *input) close() {
	in.mu.Lock()
	in.closed = true
	in.wake()
	in.mu.Unlock()
	if in.master != nil {
		in.master.SetWriteDeadline(time.Unix(1, 0))
	}
	in.writer.Wait()
}
