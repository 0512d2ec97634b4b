package terminal

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/pty"

	"golang.org/x/sys/unix"
)

const (
	// maxPendingInput is how much input may wait for a program that does not read, before callers
	// block.
	maxPendingInput = 256 << 10
	// maxReplies bounds the pending replies of the emulator; more are dropped, because the screen
	// must never block.
	maxReplies = 64 << 10
	// writeRetry bounds the delay of input if the kernel misses a wake-up, as happens with PTYs.
	writeRetry = 100 * time.Millisecond
	// maxPiece is how many bytes are written at a time; no message can be queued meanwhile.
	maxPiece = 16 << 10
)

// An input writes the input of a session. Each message is written whole and in order of arrival.
// The caller writes as much as the PTY accepts at once; a goroutine that runs while anything is
// left writes the rest.
type input struct {
	master *os.File
	conn   syscall.RawConn

	mu      sync.Mutex
	pending []*message // drainPending runs until it is empty
	waiting int        // bytes in pending
	closed  bool
	moved   chan struct{} // closed when pending shrinks or the input is closed; nil if no caller waits
	writer  sync.WaitGroup
}

// A message is input that the PTY has not accepted completely.
type message struct {
	rest      []byte
	cancelled bool   // the rest must not or cannot be written
	discarded bool   // it was cancelled by an interrupt
	done      func() // called once nothing of the message is pending; may be nil
}

func (m *message) finish() {
	if m.done != nil {
		m.done()
		m.done = nil
	}
}

func newInput(master *os.File) *input {
	in := &input{master: master, closed: master == nil}
	if master != nil {
		conn, err := master.SyscallConn()
		in.conn, in.closed = conn, err != nil
	}
	return in
}

// write queues p, after blocking while too much is pending. done, if not nil, is called when
// nothing of p is pending, also after an error.
func (in *input) write(ctx context.Context, p []byte, done func()) error {
	m := &message{rest: p, done: done}
	err := in.queue(ctx, m)
	if err != nil {
		m.finish()
	}
	return err
}

// writeThrough queues p like write and waits until the PTY has accepted it. If ctx ends first, the
// rest of p is dropped. It returns how many bytes of p were written.
func (in *input) writeThrough(ctx context.Context, p []byte) (written int, err error) {
	m := &message{rest: p}
	err = in.queue(ctx, m)
	switch {
	case err != nil && ctx.Err() != nil:
		return 0, nil
	case err != nil:
		return 0, err
	}
	for {
		in.mu.Lock()
		left, ended, discarded, moved := len(m.rest), m.cancelled || in.closed, m.discarded, in.awaitMove()
		in.mu.Unlock()
		switch {
		case left == 0:
			return len(p), nil
		case discarded:
			return len(p) - left, api.Errorf(api.CodeConflict, "type into session: an interrupt discarded the rest")
		case ended:
			return len(p) - left, errInputEnded()
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return len(p) - in.dropMessage(m), nil
		}
	}
}

// queue queues m. It blocks while maxPendingInput bytes are pending.
func (in *input) queue(ctx context.Context, m *message) error {
	for {
		wait, err := in.push(m, maxPendingInput)
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

// reply queues p, or drops it if too much is pending. It never blocks.
func (in *input) reply(p []byte) {
	in.push(&message{rest: p}, maxReplies)
}

// push queues m. If limit bytes are pending, it returns a channel to wait on instead.
func (in *input) push(m *message, limit int) (wait <-chan struct{}, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.closed:
		return nil, errInputEnded()
	case in.waiting >= limit:
		return in.awaitMove(), nil
	}
	n := 0
	if len(in.pending) == 0 {
		// Fast path: most programs read their input at once, so that no goroutine is needed.
		if n, err = in.tryWrite(m.rest); err != nil {
			return nil, api.Errorf(api.CodeEnded, "type into session: %v", err)
		}
	}
	m.rest = slices.Clone(m.rest[n:])
	if len(m.rest) == 0 {
		m.finish()
		return nil, nil
	}
	in.pending = append(in.pending, m)
	in.waiting += len(m.rest)
	if len(in.pending) == 1 {
		in.writer.Go(in.drainPending)
	}
	return nil, nil
}

func errInputEnded() error { return api.Errorf(api.CodeEnded, "type into session: the session exited") }

// whenIdle calls done once nothing of the input so far is pending; done must not block.
func (in *input) whenIdle(done func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.pending) == 0 {
		done()
		return
	}
	in.pending = append(in.pending, &message{done: done})
}

// dropMessage cancels a message and returns how many bytes the PTY had not accepted.
func (in *input) dropMessage(m *message) (left int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.cancelMessage(m)
	return len(m.rest)
}

// discardPending drops pending input, and input that the terminal holds for a program that does not
// read.
func (in *input) discardPending() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.pending) == 0 {
		return
	}
	for _, m := range in.pending {
		m.discarded = true
		in.cancelMessage(m)
	}
	// Fails only if the session has ended.
	_ = pty.DiscardInput(in.master)
}

// cancelMessage makes drainPending skip the rest of a message.
func (in *input) cancelMessage(m *message) {
	if !m.cancelled {
		m.cancelled = true
		in.waiting -= len(m.rest)
		in.wake()
		m.finish()
	}
}

// awaitMove returns a channel that is closed when pending shrinks or the input is closed.
func (in *input) awaitMove() <-chan struct{} {
	if in.moved == nil {
		in.moved = make(chan struct{})
	}
	return in.moved
}

// tryWrite writes as much as the PTY accepts without blocking.
func (in *input) tryWrite(p []byte) (written int, err error) {
	controlErr := in.conn.Control(func(fd uintptr) { written, err = writeSome(int(fd), p) })
	return written, errors.Join(controlErr, err)
}

// writeSome writes as much of p as fd accepts without blocking.
func writeSome(fd int, p []byte) (written int, err error) {
	for written < len(p) && err == nil {
		var n int
		n, err = unix.Write(fd, p[written:])
		written += max(n, 0)
		if err == unix.EINTR {
			err = nil
		}
	}
	if err == unix.EAGAIN {
		err = nil
	}
	return written, err
}

// isIdle reports whether no input is pending.
func (in *input) isIdle() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return !in.closed && len(in.pending) == 0
}

// drainPending writes pending input until none is left.
func (in *input) drainPending() {
	for {
		in.master.SetWriteDeadline(time.Now().Add(writeRetry))
		more := true
		err := in.conn.Write(func(fd uintptr) (moved bool) {
			moved, more = in.writePending(int(fd))
			return moved
		})
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) { // the master was closed
			in.rejectInput()
			more = false
		}
		if !more {
			return
		}
	}
}

// writePending writes as much of the first message as the PTY accepts. It reports whether it made
// progress and whether messages are left.
func (in *input) writePending(fd int) (moved, more bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.pending) > 0 && (in.pending[0].cancelled || len(in.pending[0].rest) == 0) {
		in.pending[0].finish()
		in.pending = in.pending[1:]
	}
	if len(in.pending) == 0 || in.closed {
		in.pending, in.waiting = nil, 0
		in.wake()
		return true, false
	}
	first := in.pending[0]
	n, err := writeSome(fd, first.rest[:min(len(first.rest), maxPiece)])
	first.rest = first.rest[n:]
	in.waiting -= n
	if n > 0 {
		in.wake()
	}
	if len(first.rest) == 0 {
		first.finish()
	}
	// An error means that no process has the terminal open.
	if err != nil {
		in.cancelMessage(first)
	}
	return n > 0 || err != nil, true
}

func (in *input) wake() {
	if in.moved != nil {
		close(in.moved)
		in.moved = nil
	}
}

// rejectInput rejects further input.
func (in *input) rejectInput() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.wake()
}

// close drops pending messages and rejects further input.
func (in *input) close() {
	in.rejectInput()
	if in.master != nil {
		in.master.SetWriteDeadline(time.Unix(1, 0))
	}
	in.writer.Wait()
}
