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
	// maxLead is how far the log may be ahead of the screen: enough to keep
	// both busy, little enough that a key is echoed soon during a flood.
	maxLead = 1 << 20
	// readSpace is the least room in the log that a read is tried with.
	readSpace = 32 << 10
	// readMostAtOnce is how much is read before anybody is told. To wake the
	// screen costs as much as to read a few pieces.
	readMostAtOnce = 128 << 10
	// endGrace is how long the PTY of an ended child has to be silent while
	// something else still holds it open, endLimit how long at all it is read.
	endGrace = 50 * time.Millisecond
	endLimit = time.Second
	// screenLater is how long the screen may be behind what everybody who looks has seen.
	screenLater = 2 * time.Millisecond
	// logRetry is the time between attempts to write to a full disk.
	logRetry = 500 * time.Millisecond
	// hangUpRetry is the time between looks at a PTY that nothing has open
	// while the child lives: it may open its terminal again.
	hangUpRetry = time.Second
)

// A reader moves output from a PTY to the log, on a goroutine of its own.
type reader struct {
	o       *Options
	ctx     context.Context // of the session
	master  *os.File
	log     Log
	screen  *screen // which follows the log
	viewers *viewerSet
	exited  <-chan struct{} // closed when the child has ended
	waking  atomic.Bool     // the screen is woken soon
	stamped time.Time       // when the time of output was told last
}

func newReader(s *Session) *reader {
	return &reader{
		o: &s.options, ctx: s.ctx, master: s.options.Master, log: s.log,
		screen: s.screen, viewers: &s.viewers, exited: s.exited,
	}
}

// run moves output until the PTY is empty and its child has ended, or the session
// is closed.
func (r *reader) run() {
	full := false
	for r.waitForRoom() && r.childLives() {
		space, err := r.log.Space(readSpace)
		if err != nil {
			if !r.logFull(err, &full) {
				return
			}
			continue
		}
		full = false
		n, err := pty.ReadBurst(r.master, space[:min(len(space), readMostAtOnce)])
		r.append(space[:n])
		if err != nil && !r.readAgain(err) {
			return
		}
	}
	r.readRest()
}

// readRest reads what an ended child has left in the PTY. Something else may
// still write to it: then it is read for a while, but not for ever.
func (r *reader) readRest() {
	endBy := time.Now().Add(endLimit)
	full := false
	for r.waitForRoom() {
		space, err := r.log.Space(readSpace)
		if err != nil {
			if !r.logFull(err, &full) {
				return
			}
			continue
		}
		expectEnd(r.master)
		n, err := pty.ReadBurst(r.master, space[:min(len(space), readMostAtOnce)])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			n, err = pty.ReadNow(r.master, space)
		}
		r.append(space[:n])
		if err != nil || n == 0 || time.Now().After(endBy) {
			if r.ctx.Err() == nil {
				r.finishLog()
				r.o.Drained()
			}
			return
		}
	}
}

// finishLog leaves nothing in the log's file but the log: its path is told to
// everybody.
func (r *reader) finishLog() {
	if err := r.log.Finish(); err != nil {
		r.o.Log.Warn("finish log", "id", r.o.ID, "error", err)
	}
}

// append makes what was read part of the log. Who has handed over a terminal sees it
// before anybody is woken.
func (r *reader) append(p []byte) {
	if len(p) > 0 {
		if now := time.Now(); now.Sub(r.stamped) >= logs.StampGap {
			r.stamped = now
			r.o.Stamp(r.log.End())
		}
		offset := r.log.End()
		r.log.Commit(len(p))
		if r.viewers.rawChanged(offset, p) && bytes.IndexByte(p, escape) < 0 {
			r.wakeLater()
			return
		}
		raise(r.screen.grew)
	}
}

// wakeLater has the screen follow soon. Whoever looks has seen the output, and plain text
// asks nothing: what comes next, a key of somebody who types fast, is to find the
// processors free.
func (r *reader) wakeLater() {
	if r.waking.Swap(true) {
		return
	}
	time.AfterFunc(screenLater, func() {
		r.waking.Store(false)
		raise(r.screen.grew)
	})
}

// logFull waits for room on the disk; the program waits too.
func (r *reader) logFull(err error, told *bool) bool {
	if !*told {
		r.o.Notice("write log: " + err.Error() + "; the program is paused until there is space")
	}
	*told = true
	return sleep.For(r.ctx, logRetry) == nil
}

// readAgain decides after an error while the child lives.
func (r *reader) readAgain(err error) bool {
	switch {
	case errors.Is(err, os.ErrClosed):
		return false
	case errors.Is(err, os.ErrDeadlineExceeded):
		return true // the child ended just now
	}
	select { // nothing has the terminal open
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

// waitForRoom holds the reader back while the screen is far behind.
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

// expectEnd lets a read of an ended child's PTY fail when it stays silent.
func expectEnd(master *os.File) { master.SetReadDeadline(time.Now().Add(endGrace)) }
