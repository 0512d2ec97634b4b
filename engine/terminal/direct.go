package terminal

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/invariants"
	"tandem/engine/passthrough"
)

const (
	// directMost is how much output at once the reader writes to a terminal itself: what
	// an answer to a key is. More of it would hold the reader up.
	directMost = 4 << 10
	// handLimit is how long a viewer may take to hand over the terminal it has promised.
	handLimit = 5 * time.Second
)

// A direct is a terminal that a viewer has handed over. While it is live, the reader
// writes output to it at once, as far as it takes that; what it does not take, and all
// else, is written by the viewer's own goroutine, which follows the log and may wait.
type direct struct {
	tty   *os.File
	conn  syscall.RawConn
	kinds bool // the viewer wants to know which pictures have passed
	end   sync.Once

	progress atomic.Bool // the program shows a progress indicator

	mu     sync.Mutex
	live   bool  // the reader writes; else the viewer's goroutine, which then has what follows
	at     int64 // the output before it has passed the filter
	filter passthrough.Filter
	left   bool   // the program has left its alternate screen: only a repaint tells what was below
	rest   []byte // passed the filter, and not taken by the terminal yet
}

// newDirect takes over a terminal, which is closed if it cannot be used: one whose
// writes may block would stall the session.
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
	return &direct{tty: tty, conn: conn, filter: passthrough.Filter{NoClipboard: noClipboard}}, nil
}

// fitsDirect refuses what is no terminal, or not to be written to without waiting.
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

// close gives the terminal up: when it returns, nothing is written any more.
func (d *direct) close() { d.end.Do(func() { d.tty.Close() }) }

// pass writes output that has come to the log at an offset. done is false if the viewer's
// goroutine has to see to it, or has something to tell. Runs on the reader goroutine.
func (d *direct) pass(offset int64, p []byte) (done bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !d.live:
		return false
	case offset+int64(len(p)) <= d.at:
		return true // the viewer's goroutine was faster
	case offset != d.at || len(p) > directMost:
		d.live = false
		return false
	}
	before := d.state()
	out, left := d.filter.Pass(p)
	d.at += int64(len(p))
	n, err := d.tryWrite(out)
	if n < len(out) || err != nil || left {
		d.rest, d.left, d.live = append(d.rest[:0], out[n:]...), left, false
	}
	return d.live && before == d.state()
}

// tryWrite writes what the terminal takes now. The scheduler is not told of the call,
// which does not wait: it would begin by waking a thread of its own.
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

// state is what the viewer has to know of what has passed.
func (d *direct) state() api.Direct {
	d.progress.Store(d.filter.Progress)
	return api.Direct{Extended: d.filter.Extended, Colored: d.filter.Colored, Pixels: d.filter.NoPixels && d.filter.Pixels,
		Kitty: d.kinds && d.filter.Kitty, Sixel: d.kinds && d.filter.Sixel}
}

// take has the reader write nothing until golive, and waits for the terminal to take what
// it has not taken.
func (d *direct) take() error {
	d.mu.Lock()
	d.live = false
	rest := d.rest
	d.rest = nil
	d.mu.Unlock()
	return d.write(rest)
}

func (d *direct) write(p []byte) error {
	_, err := d.tty.Write(p)
	return err
}

// clearProgress clears the program's progress indicator if the terminal accepts output now.
func (d *direct) clearProgress() {
	if d.progress.Swap(false) {
		_, _ = d.tryWrite([]byte(passthrough.RestProgress)) // the viewer then writes passthrough.RestModes
	}
}

// golive lets the reader write from now on, if everything that the log holds is written.
func (d *direct) golive(log Log) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live = d.at == log.End()
	return d.live
}

// A handing is a stream over which a terminal can be handed over; server.Viewer is one.
type handing interface {
	Offer(master *os.File) (ok bool, err error)
	Passed() *os.File
}

// takeTerminal offers to take over the viewer's terminal and waits for it. It gives nil if
// the viewer gets bytes as others do.
func (a attachment) takeTerminal(ctx context.Context) (*direct, error) {
	to, ok := a.to.(handing)
	if !ok || !a.viewer.direct {
		return nil, nil
	}
	var master *os.File
	if !a.viewer.readOnly {
		master = a.session.options.Master
	}
	if ok, err := to.Offer(master); !ok || err != nil {
		return nil, err
	}
	var d *direct
	select {
	case h := <-a.viewer.handed:
		var err error
		if d, err = newDirect(h.tty, h.noClipboard); err != nil {
			a.session.options.Log.Warn("attach", "id", a.session.options.ID, "error", err)
		} else {
			d.kinds = a.viewer.kinds
		}
	case <-time.After(handLimit):
		return nil, api.Errorf(api.CodeInvalid, "attach to session: the terminal was not handed over")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return d, a.to.Send(api.Output{Direct: &api.Direct{Keys: master != nil && a.session.keyboard.idle()}})
}

// A handed is a terminal as it comes.
type handed struct {
	tty         *os.File
	noClipboard bool
}

// hand notes that the terminal is handed over, or gives it back.
func (a attachment) hand(in api.Hand) error {
	to, ok := a.to.(handing)
	if d := a.viewer.way.Load(); d != nil && in.Back {
		d.clearProgress()
	}
	if in.Back || !ok || !a.viewer.direct {
		return errBack
	}
	tty := to.Passed()
	if tty == nil {
		return errBack
	}
	select {
	case a.viewer.handed <- handed{tty, in.NoClipboard}:
	default: // it has been handed over already
		tty.Close()
	}
	return nil
}

// errBack ends an attachment whose terminal is wanted back.
var errBack = api.Errorf(api.CodeUnavailable, "the viewer has its terminal back")

// sendDirect writes a repaint of the screen, and then what the program writes, to the
// terminal that the viewer has handed over.
func (a attachment) sendDirect(ctx context.Context, d *direct) error {
	defer d.close()
	a.viewer.way.Store(d)
	defer a.viewer.way.Store(nil)
	defer context.AfterFunc(ctx, d.close)() // ends a write that waits
	s, v := a.session, a.viewer
	told := api.Direct{}
	buffer := make([]byte, rawChunk)
	v.repaint.Store(true)
	for {
		err := d.take()
		d.filter.NoPixels = !v.passesPixels()
		if err == nil && (v.repaint.Swap(false) || d.left || s.log.End()-d.at > rawLead || s.log.End() > d.at && invariants.Sometimes("repaint", 16)) {
			err = a.repaintDirect(ctx, d)
		}
		if err == nil {
			err = d.follow(s.log, buffer)
		}
		if err == nil && !d.filter.Within() && v.asks.Swap(false) {
			err = d.write([]byte(passthrough.AskColors))
		}
		if err != nil {
			return err
		}
		now := d.state()
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
		if d.left || !d.golive(s.log) {
			continue
		}
		over, err := a.awaitNews(ctx)
		if err != nil {
			return err
		}
		if over && d.golive(s.log) {
			d.clearProgress()
			d.close()
			return a.sendEnd(ctx)
		}
	}
}

// repaintDirect writes the screen.
func (a attachment) repaintDirect(ctx context.Context, d *direct) error {
	screen, _, at, err := a.repaint(ctx)
	if err != nil {
		return err
	}
	d.at, d.left = at, false
	d.filter.ExpectRepaint()
	out, _ := d.filter.Pass(screen)
	return d.write(out)
}

// follow writes what the log has behind what was written.
func (d *direct) follow(log Log, buffer []byte) error {
	for !d.left && log.End()-d.at <= rawLead {
		n, _ := log.ReadAt(buffer, d.at)
		if n == 0 {
			return nil
		}
		d.at += int64(n)
		var out []byte
		out, d.left = d.filter.Pass(buffer[:n])
		if err := d.write(out); err != nil {
			return err
		}
	}
	return nil
}
