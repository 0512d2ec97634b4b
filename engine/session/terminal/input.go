package terminal

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/pty"
	"tandem/persist/inputnotes"

	"golang.org/x/sys/unix"
)

const (
	// maxPendingInput is how many bytes of input may wait for a program that does not read. Beyond
	// that, callers block.
	maxPendingInput = 256 << 10
	// maxReplies is how many bytes of the emulator's replies may be pending. More are dropped,
	// because the screen must never block.
	maxReplies = 64 << 10
	// writeRetry limits how long input is delayed if the kernel misses a wake-up, which happens
	// with PTYs.
	writeRetry = 100 * time.Millisecond
	// maxPiece is how many bytes are written at once. No message can be queued during a write.
	maxPiece = 16 << 10
)

// An input writes the input of a session to its PTY. Each message is written as a whole, in the
// order of arrival. The caller writes as much as the PTY accepts at once. A goroutine writes the
// rest, and runs only while there is any.
type input struct {
	master *os.File
	conn   syscall.RawConn

	mu      sync.Mutex
	pending []*message // drainPending runs until it is empty
	waiting int        // bytes in pending
	closed  bool
	moved   chan struct{} // closed when pending shrinks or the input is closed; nil if no caller waits
	writer  sync.WaitGroup

	notes   *inputnotes.Notes // nil before useNotes
	sources map[*inputnotes.Note]*source
	pasting *source // the terminal has the start of its bracketed paste and not the end; nil if none
	tail    []byte  // the last bytes written for a source, which may be a part of a bracket
}

// A message is input that the PTY has not accepted completely.
type message struct {
	rest      []byte
	cancelled bool   // the rest must not or cannot be written
	discarded bool   // it was cancelled by an interrupt
	done      func() // called once nothing of the message is pending; may be nil

	from    *source // nil if the message has no number
	number  uint64
	prompt  bool // its viewer waits for the report that it is written
	written int  // bytes
}

func newInput(master *os.File) *input {
	in := &input{master: master, closed: master == nil}
	if master != nil {
		conn, err := master.SyscallConn()
		in.conn, in.closed = conn, err != nil
	}
	return in
}

// write queues p as the next message of v. It first blocks while too much input is pending. v is
// nil for input without a number.
func (in *input) write(ctx context.Context, p []byte, v *viewer) error {
	return in.queue(ctx, &message{rest: p}, v)
}

// skip counts a message of v that has nothing to write. It never blocks.
func (in *input) skip(v *viewer) error {
	if v.input.from == nil {
		return nil
	}
	_, err := in.push(&message{}, math.MaxInt, v)
	return err
}

// writeThrough queues p as write does, and waits until the PTY has accepted it. If ctx ends first,
// the rest of p is dropped. It returns how many bytes of p were written.
func (in *input) writeThrough(ctx context.Context, p []byte) (written int, err error) {
	m := &message{rest: p}
	err = in.queue(ctx, m, nil)
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

// queue queues m, as the next message of v if v is not nil. It blocks while maxPendingInput bytes
// are pending.
func (in *input) queue(ctx context.Context, m *message, v *viewer) error {
	for {
		wait, err := in.push(m, maxPendingInput, v)
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

// reply queues p, or drops it if too much input is pending. It never blocks.
func (in *input) reply(p []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed && in.waiting < maxReplies {
		_ = in.place(&message{rest: p}) // fails only if the session has ended
	}
}

// push queues m, as the next message of v if v is not nil. If limit bytes are pending, it does not,
// and returns a channel to wait on.
func (in *input) push(m *message, limit int, v *viewer) (wait <-chan struct{}, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.closed:
		return nil, errInputEnded()
	case in.waiting >= limit:
		return in.awaitMove(), nil
	}
	if v != nil && !in.take(m, v) {
		return nil, errReplaced
	}
	if p := in.pasting; p != nil && p != m.from && p.viewer == nil && p.done.Load() == p.taken && len(m.rest) > 0 {
		in.endPaste(p)
	}
	return nil, in.place(m)
}

// place writes as much of m as the PTY accepts at once, and queues the rest. The caller holds the
// lock.
func (in *input) place(m *message) (err error) {
	if len(in.pending) == 0 {
		// Fast path: most programs read their input at once, and no goroutine is needed.
		controlErr := in.conn.Control(func(fd uintptr) { _, err = in.writePart(int(fd), m, len(m.rest)) })
		if err = errors.Join(controlErr, err); err != nil {
			return api.Errorf(api.CodeEnded, "type into session: %v", err)
		}
		if len(m.rest) == 0 {
			in.finish(m)
			return nil
		}
	}
	m.rest = slices.Clone(m.rest)
	in.pending = append(in.pending, m)
	in.waiting += len(m.rest)
	if len(in.pending) == 1 {
		in.writer.Go(in.drainPending)
	}
	return nil
}

// writePart writes at most size bytes of m, as many as fd accepts without blocking. The caller
// holds the lock.
func (in *input) writePart(fd int, m *message, size int) (n int, err error) {
	p := m.rest[:size]
	in.noteBegin(m, p)
	n, err = writeSome(fd, p)
	m.written += n
	in.noteWritten(m, p[:n])
	m.rest = m.rest[n:]
	return n, err
}

// finish ends a message that has nothing pending any more. The caller holds the lock.
func (in *input) finish(m *message) {
	if m.done != nil {
		m.done()
		m.done = nil
	}
	if m.from != nil {
		in.noteDone(m)
	}
}

func errInputEnded() error { return api.Errorf(api.CodeEnded, "type into session: the session exited") }

// whenIdle calls done once nothing of the input queued so far is pending. done must not block.
func (in *input) whenIdle(done func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.pending) == 0 {
		done()
		return
	}
	in.pending = append(in.pending, &message{done: done})
}

// dropMessage cancels a message and returns how many of its bytes the PTY has not accepted.
func (in *input) dropMessage(m *message) (left int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.cancelMessage(m)
	return len(m.rest)
}

// discardPending drops pending input, and input in the terminal that the program has not read.
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

// cancelMessage makes drainPending skip the rest of a message. The caller holds the lock.
func (in *input) cancelMessage(m *message) {
	if !m.cancelled {
		m.cancelled = true
		in.waiting -= len(m.rest)
		in.wake()
		in.finish(m)
	}
}

// awaitMove returns a channel that is closed when there is less pending input, or the input is
// closed.
func (in *input) awaitMove() <-chan struct{} {
	if in.moved == nil {
		in.moved = make(chan struct{})
	}
	return in.moved
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

// writePending writes as much of the first message as the PTY accepts. moved is set if it wrote
// anything, and remain if messages are left.
func (in *input) writePending(fd int) (moved, remain bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.pending) > 0 && (in.pending[0].cancelled || len(in.pending[0].rest) == 0) {
		in.finish(in.pending[0])
		in.pending = in.pending[1:]
	}
	if len(in.pending) == 0 || in.closed {
		in.pending, in.waiting = nil, 0
		in.wake()
		return true, false
	}
	first := in.pending[0]
	n, err := in.writePart(fd, first, min(len(first.rest), maxPiece))
	in.waiting -= n
	if n > 0 {
		in.wake()
	}
	if len(first.rest) == 0 {
		in.finish(first)
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
	in.notePart()
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
