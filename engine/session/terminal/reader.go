package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/record/logs"
	"tandem/engine/system/pty"
)

const (
	// maxLead is how many bytes the log may be ahead of the screen. That is enough to keep both
	// busy, and little enough for a quick echo during a flood.
	maxLead = 1 << 20
	// minReadSpace is the minimum room in the log for one read, in bytes.
	minReadSpace = 32 << 10
	// maxRead is how many bytes are read before the screen is woken. Waking it costs as much as a
	// few reads.
	maxRead = 128 << 10
	// After the child has exited, another process may hold its PTY open. Reading then ends when the
	// PTY has been silent for endGrace, and after endLimit at the latest.
	endGrace = 50 * time.Millisecond
	endLimit = time.Second
	// screenLater is how long the screen may lag if all viewers have the output already.
	screenLater = 2 * time.Millisecond
	// logRetry is how long a reader waits for output before it tries again to write to a log that
	// could not be written.
	logRetry = 500 * time.Millisecond
	// hangUpRetry is the time between two reads of a PTY that no process has open. The running
	// child may open its terminal again.
	hangUpRetry = time.Second
)

// If the log cannot be written, for example on a full or read-only disk, the program must not be
// stopped. So the reader continues to read its terminal, and the screen shows the output missing in
// the log. Viewers of bytes follow the log, so they get repaints of the screen instead. Offsets do
// not change meanwhile.
//
// Once the log can be written again, it gets a mark with the number of missing bytes, for its
// readers and for screens rebuilt from it. The current screen does not show the mark. Keeping the
// output in memory instead was rejected: a flood would fill the memory, and the output would be
// lost with the engine all the same.

// A gap is output that is missing in the log. It is zero if the log can be written.
type gap struct {
	cause   error // why the log cannot be written
	missing int64 // bytes that the screen has shown meanwhile
}

// mark returns the text that replaces the missing output in the log. It begins with CAN, because a
// control sequence may have been cut.
func (g gap) mark() []byte {
	return fmt.Appendf(nil, "%c\r\n[tandem: %d bytes of output missing; the log could not be written]\r\n", can, g.missing)
}

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
	gap     gap             // output since the log could not be written
	spare   []byte          // for output of a gap
}

func newReader(s *Session) *reader {
	return &reader{
		o: &s.options, ctx: s.ctx, master: s.options.Master, log: s.log,
		screen: s.screen, viewers: &s.viewers, exited: s.exited,
	}
}

// run moves output from the PTY to the log until the child has exited and the PTY is empty, or
// until the session is closed.
func (r *reader) run() {
	for r.waitForRoom() && r.childLives() {
		space := r.space()
		if r.gap.cause != nil {
			r.master.SetReadDeadline(time.Now().Add(logRetry))
		}
		n, err := pty.ReadBurst(r.master, space)
		r.appendOutput(space[:n])
		if err != nil && !r.retryRead(err) {
			return
		}
	}
	r.readRest()
}

// readRest reads the output that an exited child has left in the PTY. Another process may still
// write to it, so the time is limited.
func (r *reader) readRest() {
	endBy := time.Now().Add(endLimit)
	for r.waitForRoom() {
		space := r.space()
		// Only silence ends the loop, because the child may have left more than one read returns.
		expectEnd(r.master)
		n, err := pty.ReadBurst(r.master, space)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			n, err = pty.ReadNow(r.master, space)
		}
		r.appendOutput(space[:n])
		if errors.Is(err, unix.EFAULT) && r.dropWindow() {
			continue
		}
		if err != nil || n == 0 || time.Now().After(endBy) {
			if r.ctx.Err() == nil {
				r.screen.use(func() { r.screen.markGap(&r.gap) })
				r.finishLog()
				r.o.Host.OutputRead()
			}
			return
		}
	}
}

// space returns the memory to read output into: in the log or, during a gap, outside it.
func (r *reader) space() []byte {
	space, err := r.log.Space(minReadSpace)
	if err == nil && r.gap.cause != nil {
		r.screen.use(func() { r.screen.markGap(&r.gap) })
		// This precedes the check whether the child is running, because the child's exit sets a
		// deadline too.
		r.master.SetReadDeadline(time.Time{})
		space, err = r.log.Space(minReadSpace)
	}
	if err != nil {
		r.beginGap(err)
		return r.spare
	}
	return space[:min(len(space), maxRead)]
}

// finishLog trims the log's file to its content, because users may read the file itself.
func (r *reader) finishLog() {
	if err := r.log.Finish(); err != nil {
		r.o.Log.Warn("finish log", "id", r.o.ID, "error", err)
	}
}

// appendOutput adds output to the log. Terminals that were handed over show it before the screen is
// woken.
func (r *reader) appendOutput(p []byte) {
	switch {
	case len(p) == 0:
		return
	case r.gap.cause != nil:
		r.showOnly(p)
		return
	}
	if now := time.Now(); now.Sub(r.stamped) >= logs.StampGap {
		r.stamped = now
		r.o.Host.LogGrows(r.log.End())
	}
	offset := r.log.End()
	n, err := r.log.Commit(len(p))
	// Viewers come first, because an echo must not wait for the emulator. An escape sequence may be a
	// query, so the screen parses it at once.
	switch seen := n > 0 && r.viewers.rawChanged(offset, p[:n]); {
	case seen && bytes.IndexByte(p[:n], escape) < 0:
		r.wakeLater()
	// p is not parsed itself: a fault would end the engine if somebody has truncated the log's file.
	case n > maxEcho || !r.screen.tryParse(offset):
		raiseFlag(r.screen.grew)
	}
	if err != nil {
		r.beginGap(err)
		r.showOnly(p[n:])
	}
}

// beginGap starts a gap in the log.
func (r *reader) beginGap(cause error) {
	if r.gap.cause != nil {
		return
	}
	r.gap.cause = cause
	if r.spare == nil {
		r.spare = make([]byte, minReadSpace)
	}
	r.o.Host.Notify(cause.Error() + "; what the program prints is shown, but not logged, until the log can be written")
}

// showOnly shows output that cannot be logged.
func (r *reader) showOnly(p []byte) {
	r.gap.missing += int64(len(p))
	r.screen.use(func() { r.screen.showUnlogged(p) })
}

// wakeLater wakes the screen after a delay. All viewers have seen the output, and plain text needs
// no reply. So the processors stay free for the next key of a fast typist.
func (r *reader) wakeLater() {
	if r.waking.Swap(true) {
		return
	}
	time.AfterFunc(screenLater, func() {
		r.waking.Store(false)
		raiseFlag(r.screen.grew)
	})
}

// retryRead reports whether to read again after an error, if the child is still running. It may
// wait before it returns.
func (r *reader) retryRead(err error) bool {
	switch {
	case errors.Is(err, os.ErrClosed):
		return false
	case errors.Is(err, os.ErrDeadlineExceeded):
		// The child exited just now, or the log may be written again.
		return true
	case errors.Is(err, unix.EFAULT):
		return r.dropWindow()
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

// dropWindow releases space in the log that cannot be written any more. It returns false if that
// fails.
func (r *reader) dropWindow() bool {
	if err := r.log.DropWindow(); err != nil {
		r.o.Log.Error("give up space of the log", "id", r.o.ID, "error", err)
		return false
	}
	return true
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

// expectEnd sets a deadline for reading the PTY of an exited child. A read fails if the PTY stays
// silent until then.
func expectEnd(master *os.File) { master.SetReadDeadline(time.Now().Add(endGrace)) }
