package attach

import (
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
)

// On the engine's own machine the run hands its terminal over: the engine writes what the
// session shows there, and the run writes what is typed to the PTY's master. Neither has
// to wake the other for a key and its echo.

const (
	// tellAfter is how long after a key was written to the PTY the engine is told of it:
	// its echo goes first.
	tellAfter = 5 * time.Millisecond
	// backLimit is how long the engine may take to give the terminal back.
	backLimit = time.Second
)

// A direct is the short way of one attachment. The link's mutex guards it.
type direct struct {
	master syscallConn   // of the PTY; nil if keys go through the engine
	close  func() error  // of the master
	asks   bool          // the engine has not said yet how it wants keys
	over   chan struct{} // closed when the engine has given the terminal back; nil unless it has it
	typed  []byte        // written to the master, and not told to the engine yet
	late   *time.Timer   // the engine takes too long to give the terminal back
}

// A syscallConn is a file's.
type syscallConn interface{ Control(func(fd uintptr)) error }

// mayHandOver reports whether nothing has to be drawn over what passes, and the terminal
// was opened in a way that the engine can use.
func (r *run) mayHandOver() bool {
	return !r.Handoff && !r.pictures.convert.Load() && r.over == nil && r.away.machine == "" && r.terminal.fd != int(r.terminal.out.Fd())
}

// direct does what the engine says of the terminal that it wants or has.
func (r *run) direct(d api.Direct) {
	if d.Offer {
		r.handOver()
		return
	}
	if r.link.takeKeys(d.Keys) {
		r.resized() // it was not told while keys were held
	}
	if d.Extended {
		r.link.extended.Store(true)
	}
	if d.Colored {
		r.terminal.colored.Store(true)
	}
	r.link.pixels.Store(d.Pixels)
	if r.lacks(d.Kitty, d.Sixel) {
		r.link.giveBack()
	}
}

// handOver gives the terminal to the engine. What is typed waits until the engine has
// taken what was typed before, and has said how it wants the rest.
func (r *run) handOver() {
	r.terminal.writing.Lock() // not while it is lent
	defer r.terminal.writing.Unlock()
	r.link.hold()
	a := r.link.current()
	if !r.link.handing(a.TakePassed()) {
		return
	}
	if a.HandOver(r.terminal.fd, r.NoClipboard) != nil {
		a.Close() // to receive tells why
	}
}

// handing notes that the terminal is handed over now, unless the run has ended.
func (l *link) handing(master *os.File) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if master != nil {
		l.direct.close = master.Close
		if conn, err := master.SyscallConn(); err == nil {
			l.direct.master = conn
		}
	}
	if l.result != nil {
		return false
	}
	l.direct.asks, l.direct.over = true, make(chan struct{})
	return true
}

// takeKeys lets keys through again that were held for the engine's word; news is whether
// they were.
func (l *link) takeKeys(toMaster bool) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.direct.asks {
		return false
	}
	l.direct.asks = false
	if !toMaster {
		l.direct.closeMaster()
	}
	l.pass()
	return true
}

// handed reports whether the engine has the terminal.
func (l *link) handed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.direct.over != nil
}

// askBack asks the engine for the terminal, behind all that was typed; over tells when it
// is back, and is nil if the engine does not have it. l is locked.
func (l *link) askBack() (over <-chan struct{}) {
	if l.direct.over == nil {
		return nil
	}
	l.tellTyped()
	_ = l.a.Send(api.Input{Hand: &api.Hand{Back: true}}) // one that is lost has it no more
	return l.direct.over
}

// giveBack has the engine give the terminal back, and the main goroutine attach again.
func (l *link) giveBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.askBack()
}

// takeBack waits until the engine has given the terminal back.
func (l *link) takeBack() {
	l.mu.Lock()
	over := l.askBack()
	l.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-time.After(backLimit):
	}
}

// lost ends the attachment: nothing comes from it any more.
func (l *link) lost() {
	l.mu.Lock()
	d := &l.direct
	l.open, d.asks = false, false
	d.closeMaster() // whoever holds a master keeps its program from a hangup
	if d.over != nil {
		close(d.over)
		d.over = nil
	}
	if d.late != nil {
		d.late.Stop()
	}
	a := l.a
	l.mu.Unlock()
	a.Close()
}

func (d *direct) closeMaster() {
	if d.close != nil {
		d.close()
	}
	d.master, d.close = nil, nil
}

// deliver sends input, or what of it the PTY does not take, and gives back what cannot be
// sent now. l is locked.
func (l *link) deliver(p []byte) (rest []byte) {
	if l.direct.master != nil {
		n := l.direct.write(p)
		if n > 0 && len(l.direct.typed) == 0 {
			time.AfterFunc(tellAfter, func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.tellTyped()
			})
		}
		l.direct.typed = append(l.direct.typed, p[:n]...)
		if p = p[n:]; len(p) == 0 {
			return nil
		}
		l.tellTyped()
		l.direct.closeMaster() // the engine queues what its program does not read
	}
	if l.a.Send(api.Input{Bytes: p}) != nil {
		return p
	}
	return nil
}

// tellTyped tells the engine what was written to the PTY. l is locked.
func (l *link) tellTyped() {
	if len(l.direct.typed) > 0 {
		_ = l.a.Send(api.Input{Typed: l.direct.typed}) // an engine that is gone need not know
		l.direct.typed = nil
	}
}

// write writes what the PTY takes now, without telling the scheduler of a call that does
// not wait.
func (d *direct) write(p []byte) (n int) {
	if len(p) == 0 {
		return 0
	}
	_ = d.master.Control(func(fd uintptr) { // fails for one that is closed: nothing is written
		if got, _, errno := unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p))); errno == 0 {
			n = int(got)
		}
	})
	return n
}
