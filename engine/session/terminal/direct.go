package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/engine/base/sleep"
	"tandem/engine/screen/passthrough"
)

const (
	// maxDirect is how much output the reader writes to a terminal itself at once. It is enough for
	// the echo of a key, and little enough not to delay the reader.
	maxDirect = 4 << 10
	// maxStall is how long a terminal may take to accept maxPiece bytes of output. If it takes
	// longer, its line is slow: the output still queued is discarded and replaced by repaints.
	// Otherwise the echo of a key or the end of a flood would have to wait for that output.
	maxStall = 100 * time.Millisecond
	// slowLine is the rate, in bytes per second, at which repaints are sent over a slow line.
	// maxPause is the longest pause between two repaints.
	slowLine = 20 << 10
	maxPause = 250 * time.Millisecond
	// maxUndiscarded is how much output may still be on its way to the terminal's reader when the
	// kernel has discarded the rest.
	maxUndiscarded = 4 << 10
	// maxQueued is more than the output that the kernel queues for a terminal, and one more piece.
	maxQueued = 32<<10 + rawChunk
)

// can is the control character CAN, which aborts an unfinished control sequence or string.
const can = 0x18

// A direct is a terminal handed over by a viewer. While it is live, the reader goroutine writes
// output to it at once, as much as the terminal accepts. The viewer's own goroutine follows the log
// and may block. It writes the rest and everything else.
type direct struct {
	tty   *os.File
	conn  syscall.RawConn
	kinds bool // the viewer wants reports of passed picture protocols
	end   sync.Once

	progress atomic.Bool // the program shows a progress indicator

	mu     sync.Mutex
	live   bool  // the reader writes; otherwise the viewer's goroutine does, and owns the fields below
	at     int64 // output before this offset has passed the filter
	filter passthrough.Filter
	left   bool   // only a repaint restores the screen: the program has left its alternate one, or output was discarded
	rest   []byte // filtered output not yet accepted by the terminal
	slow   bool   // the terminal's line is slow: it gets repaints instead of output
	onWay  int    // bytes sent over the slow line since the last pause
	keep   int    // how much more output must be written before queued output may be discarded
}

// newDirect takes over a terminal. If writes to it may block, which would stall the session, it
// closes tty and returns an error.
func newDirect(tty *os.File, noClipboard bool) (*direct, error) {
	conn, err := tty.SyscallConn()
	if err == nil {
		controlErr := conn.Control(func(fd uintptr) { err = fitsDirect(int(fd)) })
		if err == nil {
			err = controlErr
		}
	}
	if err != nil {
		tty.Close()
		return nil, fmt.Errorf("take over terminal: %w", err)
	}
	d := &direct{tty: tty, conn: conn}
	if !noClipboard {
		d.filter.MaxClip = api.MaxClip
	}
	return d, nil
}

// fitsDirect returns an error if fd is not a terminal or its writes may block.
func fitsDirect(fd int) error {
	if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
		return err
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err == nil && flags&unix.O_NONBLOCK == 0 {
		err = unix.EINVAL
	}
	return err
}

// close releases the terminal. Nothing is written to it after close returns.
func (d *direct) close() { d.end.Do(func() { d.tty.Close() }) }

// passOutput writes output that was appended to the log at offset. done is false if output is left
// that the viewer's goroutine must write, or if the viewer's state has changed, which that
// goroutine reports. It must be called on the reader goroutine.
func (d *direct) passOutput(offset int64, p []byte) (done bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !d.live:
		return false
	case offset+int64(len(p)) <= d.at:
		// The viewer's goroutine was faster.
		return true
	// Earlier output is still missing, or this piece is large enough to delay the reader.
	case offset != d.at || len(p) > maxDirect:
		d.live = false
		return false
	}
	before := d.viewerState()
	out, left := d.filterOutput(p)
	d.at += int64(len(p))
	// The reader never waits for a terminal: the viewer's goroutine writes the rest.
	n, err := d.tryWrite(out)
	if n < len(out) || err != nil || left {
		d.rest, d.left, d.live = append(d.rest[:0], out[n:]...), left, false
	}
	return d.live && before == d.viewerState()
}

// filterOutput filters output. out is valid until the next call. left is the result of Filter.Pass.
func (d *direct) filterOutput(p []byte) (out []byte, left bool) {
	out, left = d.filter.Pass(p)
	if d.filter.Payload || d.filter.Within() {
		d.filter.Payload, d.keep = false, maxQueued
	}
	return out, left
}

// writeOutput writes filtered output. If the line of the terminal turns out to be slow, it discards
// the output that is queued.
func (d *direct) writeOutput(p []byte) error {
	for len(p) > 0 && !d.slow {
		var limit time.Time
		if d.keep <= 0 {
			limit = time.Now().Add(maxStall)
		}
		_ = d.tty.SetWriteDeadline(limit) // otherwise the write just waits
		n, err := d.tty.Write(p[:min(len(p), maxPiece)])
		p, d.keep = p[n:], max(d.keep-n, 0)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			d.discardQueued()
		case err != nil:
			return err
		}
	}
	return d.tty.SetWriteDeadline(time.Time{})
}

// discardQueued discards the output that the program behind the terminal, such as ssh, has not read
// yet.
func (d *direct) discardQueued() {
	// Fails only if the terminal has hung up.
	_ = d.conn.Control(func(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCOFLUSH) })
	d.slow, d.left, d.onWay = true, true, maxUndiscarded
}

// awaitLine waits as long as a slow line should take to deliver the last repaint. If there is more
// output by then, another repaint follows. Otherwise the terminal has caught up.
func (d *direct) awaitLine(ctx context.Context, log Log) error {
	err := sleep.For(ctx, min(time.Duration(d.onWay)*time.Second/slowLine, maxPause))
	d.onWay = 0
	d.slow = log.End() > d.at
	d.left = d.slow
	return err
}

// tryWrite writes as much as the terminal accepts now. It makes a raw system call: for an ordinary
// one, the scheduler might start a thread, although it cannot block.
func (d *direct) tryWrite(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	controlErr := d.conn.Control(func(fd uintptr) {
		got, _, errno := unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch errno {
		case 0:
			n = int(got)
		case unix.EAGAIN, unix.EINTR:
		default:
			err = errno
		}
	})
	if err == nil {
		err = controlErr
	}
	return n, err
}

// viewerState returns the part of the state that the viewer must know.
func (d *direct) viewerState() api.Direct {
	d.progress.Store(d.filter.Progress)
	return api.Direct{Extended: d.filter.Extended, Colored: d.filter.Colored, Pixels: d.filter.NoPixels && d.filter.Pixels,
		Kitty: d.kinds && d.filter.Kitty, Sixel: d.kinds && d.filter.Sixel}
}

// pauseReader stops the reader goroutine from writing to the terminal, until resumeReader is
// called. It waits until the terminal has accepted what was left to write.
func (d *direct) pauseReader() error {
	d.mu.Lock()
	d.live = false
	rest := d.rest
	d.rest = nil
	d.mu.Unlock()
	// The lock is not held here: the write may block, and the reader takes the lock.
	return d.writeOutput(rest)
}

func (d *direct) write(p []byte) error {
	_, err := d.tty.Write(p)
	return err
}

// clearProgress removes the program's progress indicator, if the terminal accepts output now.
func (d *direct) clearProgress() {
	if d.progress.Swap(false) {
		// Later the viewer writes passthrough.RestModes.
		_, _ = d.tryWrite([]byte(passthrough.RestProgress))
	}
}

// resumeReader lets the reader goroutine write to the terminal again, if everything in the log has
// been written. It reports whether that is so.
func (d *direct) resumeReader(log Log) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live = d.at == log.End()
	return d.live
}

// sendDirect writes a repaint of the screen, and then the program's output, to the terminal handed
// over by the viewer.
func (a attachment) sendDirect(ctx context.Context, d *direct) error {
	defer d.close()
	a.viewer.handedOver.Store(d)
	defer a.viewer.handedOver.Store(nil)
	// Unblocks a waiting write.
	defer context.AfterFunc(ctx, d.close)()
	s, v := a.session, a.viewer
	told := api.Direct{}
	buffer := make([]byte, rawChunk)
	v.repaint.Store(true)
	for {
		err := d.pauseReader()
		d.filter.NoPixels = !v.passesPixels()
		if err == nil && (v.repaint.Swap(false) || d.left || s.log.End()-d.at > rawLead || s.log.End() > d.at && invariants.Sometimes("repaint", 16)) {
			err = a.repaintDirect(ctx, d)
		}
		if err == nil {
			err = d.followLog(s.log, buffer)
		}
		if err == nil && !d.filter.Within() && v.queryColors.Swap(false) {
			err = d.write([]byte(passthrough.AskColors))
		}
		if err != nil {
			return err
		}
		now := d.viewerState()
		now.Keys = told.Keys
		if now != told {
			if err := a.to.Send(api.Output{Direct: &now}); err != nil {
				return err
			}
			told = now
		}
		if err := a.sendAccepted(); err != nil {
			return err
		}
		if err := a.sendMaster(); err != nil {
			return err
		}
		if d.slow && !d.left {
			if err := d.awaitLine(ctx, s.log); err != nil {
				return err
			}
		}
		if d.left || !d.resumeReader(s.log) {
			continue
		}
		over, err := a.awaitNews(ctx)
		if err != nil {
			return err
		}
		if over && d.resumeReader(s.log) {
			d.clearProgress()
			d.close()
			return a.sendEnd(ctx)
		}
	}
}

// repaintDirect draws the screen on the terminal.
func (a attachment) repaintDirect(ctx context.Context, d *direct) error {
	screen, _, at, err := a.buildRepaint(ctx)
	if err != nil {
		return err
	}
	d.at, d.left = at, false
	d.filter.ExpectRepaint()
	out, _ := d.filterOutput(screen)
	if d.slow {
		d.onWay += len(out)
		// The output may have been cut inside a control string, which must be aborted.
		out = append([]byte{can}, out...)
	}
	return d.write(out)
}

// followLog writes the part of the log that has not been written yet.
func (d *direct) followLog(log Log, buffer []byte) error {
	for !d.left && !d.slow && log.End()-d.at <= rawLead {
		n, _ := log.ReadAt(buffer, d.at)
		if n == 0 {
			return nil
		}
		d.at += int64(n)
		var out []byte
		out, d.left = d.filterOutput(buffer[:n])
		if err := d.writeOutput(out); err != nil {
			return err
		}
	}
	return nil
}
