package terminal

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"tandem/engine/logs"
	"tandem/engine/pty"
	"tandem/engine/sleep"
)

const (
	// maxLead is how far the log may be ahead of the screen: enough to keep both busy, but little
	// enough for a quick echo during a flood.
	maxLead = 1 << 20
	// minReadSpace is the least room in the log for one read.
	minReadSpace = 32 << 10
	// maxRead is how much is read before the screen is woken, because waking it costs as much as a
	// few reads.
	maxRead = 128 << 10
	// endGrace is how long the PTY of an exited child must be silent while another process holds it
	// open, and endLimit how long it is read at most.
	endGrace = 50 * time.Millisecond
	endLimit = time.Second
	// screenLater is how long the screen may lag while all viewers already have the output.
	screenLater = 2 * time.Millisecond
	// logRetry is the time between attempts to write to a full disk.
	logRetry = 500 * time.Millisecond
	// hangUpRetry is the time between reads of a PTY that no process has open: the running child
	// may open its terminal again.
	hangUpRetry = time.Second
)

// A reader moves output from a PTY to the log on its own goroutine.
type reader struct {
	o       *Options
	ctx     context.Context // of the session
	master  *os.File
	log     Log
	screen  *screen // follows the log
	viewers *viewerSet
	exited  <-chan struct{} // closed when the child has exited
	waking  atomic.Bool     // a wake-up of the screen is scheduled
	stamped time.Time       // time of the last call of Stamp
}

func newReader(s *Session) *reader {
	return &reader{
		o: &s.options, ctx: s.ctx, master: s.options.Master, log: s.log,
		screen: s.screen, viewers: &s.viewers, exited: s.exited,
	}
}

// run moves output until the PTY is empty and its child has exited, or the session is closed.
func (r *reader) run() {
	full := false
	for r.waitForRoom() && r.childLives() {
		space, err := r.log.Space(minReadSpace)
		if err != nil {
			if !r.awaitDiskSpace(err, &full) {
				return
			}
			continue
		}
		full = false
		n, err := pty.ReadBurst(r.master, space[:min(len(space), maxRead)])
		r.appendOutput(space[:n])
		if err != nil && !r.retryRead(err) {
			return
		}
	}
	r.readRest()
}

// readRest reads the output left in the PTY by an exited child. Another process may still write to
// it, so it is read for a limited time.
func (r *reader) readRest() {
	endBy := time.Now().Add(endLimit)
	full := false
	for r.waitForRoom() {
		space, err := r.log.Space(minReadSpace)
		if err != nil {
			if !r.awaitDiskSpace(err, &full) {
				return
			}
			continue
		}
		// Only silence ends the loop, because the child may have left more than one read returns.
		expectEnd(r.master)
		n, err := pty.ReadBurst(r.master, space[:min(len(space), maxRead)])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			n, err = pty.ReadNow(r.master, space)
		}
		r.appendOutput(space[:n])
		if err != nil || n == 0 || time.Now().After(endBy) {
			if r.ctx.Err() == nil {
				r.finishLog()
				r.o.Drained()
			}
			return
		}
	}
}

// finishLog trims the log's file to the log, because users may read the file itself.
func (r *reader) finishLog() {
	if err := r.log.Finish(); err != nil {
		r.o.Log.Warn("finish log", "id", r.o.ID, "error", err)
	}
}

// appendOutput adds the bytes read to the log. Terminals handed over show them before the screen is
// woken.
func (r *reader) appendOutput(p []byte) {
	if len(p) > 0 {
		if now := time.Now(); now.Sub(r.stamped) >= logs.StampGap {
			r.stamped = now
			r.o.Stamp(r.log.End())
		}
		offset := r.log.End()
		r.log.Commit(len(p))
		// Viewers come first, because an echo must not wait for the emulator. An escape sequence
		// may be a query, so the screen parses it at once.
		if r.viewers.rawChanged(offset, p) && bytes.IndexByte(p, escape) < 0 {
			r.wakeLater()
			return
		}
		raiseFlag(r.screen.grew)
	}
}

// wakeLater wakes the screen after a delay. All viewers have seen the output and plain text needs
// no reply, so the next key of a fast typist should find the processors free.
func (r *reader) wakeLater() {
	if r.waking.Swap(true) {
		return
	}
	time.AfterFunc(screenLater, func() {
		r.waking.Store(false)
		raiseFlag(r.screen.grew)
	})
}

// awaitDiskSpace waits for room on the disk; the program blocks meanwhile.
func (r *reader) awaitDiskSpace(err error, told *bool) bool {
	if !*told {
		r.o.Notice("write log: " + err.Error() + "; the program is paused until there is space")
	}
	*told = true
	return sleep.For(r.ctx, logRetry) == nil
}

// retryRead reports whether to read again after an error while the child runs.
func (r *reader) retryRead(err error) bool {
	switch {
	case errors.Is(err, os.ErrClosed):
		return false
	case errors.Is(err, os.ErrDeadlineExceeded):
		// The child exited just now.
		return true
	}
	select { // no process has the terminal open
	case <-r.exited:
		return true
	case <-r.ctx.Done():
		return false
	case <-time.After(hangUpRetry):
		return true
	}
}

func (r *reader) childLives() bool {
	select {
	case <-r.exited:
		return false
	default:
		return true
	}
}

// waitForRoom blocks the reader while the screen is far behind.
func (r *reader) waitForRoom() bool {
	for r.log.End()-r.screen.shown.Load() > maxLead {
		select {
		case <-r.screen.room:
		case <-r.ctx.Done():
			return false
		}
	}
	return r.ctx.Err() == nil
}

// expectEnd sets a deadline, so that a read of an exited child's PTY fails if it stays silent.
func expectEnd(master *os.File) { master.SetReadDeadline(time.Now().Add(endGrace)) }
