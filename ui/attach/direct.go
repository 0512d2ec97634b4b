// Sent through the engine, each key and each echo has to wake another process. On the
// engine's own machine the run hands its terminal over instead: the engine writes the
// session's output straight to the terminal, and the run writes typed keys straight to the
// PTY's master. Neither has to wake the other for a key and its echo.
//
// The engine still needs to know what was typed, so the run reports it shortly afterwards.
// A key must not overtake earlier ones: input is held while the path changes, until the
// engine has consumed what went through it. If the PTY takes no more, the run falls back
// to the engine, which queues input.

package attach

import (
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
)

const (
	// reportDelay is how long after a key was written to the PTY the engine is told of it,
	// to let the echo go first.
	reportDelay = 5 * time.Millisecond
	// maxReturnTime is how long the engine may take to return the terminal.
	maxReturnTime = time.Second
)

// A directPath is the direct connection of one attachment. The link's mutex guards it.
type directPath struct {
	master     syscallConn   // of the PTY; nil if keys go through the engine
	close      func() error  // closes the master
	confirming bool          // the engine was asked to confirm input sent through it; until then keys follow that input
	more       bool          // more was sent through the engine since
	awaitsMode bool          // the engine has not said yet how it wants keys
	returned   chan struct{} // closed when the engine has returned the terminal; nil unless it has it
	unreported []byte        // written to the master but not yet reported to the engine
	timeout    *time.Timer   // fires if the engine takes too long to return the terminal
}

// A syscallConn gives access to a file's descriptor; syscall.RawConn implements it.
type syscallConn interface{ Control(func(fd uintptr)) error }

// canHandOver reports whether the terminal may be handed over: the run draws nothing
// itself, the engine is local, and the terminal was reopened without blocking writes.
func (r *run) canHandOver() bool {
	return !r.pictures.convert.Load() && r.overlay == nil && r.remote.machine == "" && r.terminal.fd != int(r.terminal.out.Fd())
}

// handleDirect handles the engine's offer to take the terminal, or its answer.
func (r *run) handleDirect(d api.Direct) {
	if d.Offer {
		r.handOver()
		return
	}
	if r.link.releaseKeys(d.Keys) {
		// The size was not sent while keys were held.
		r.sendSize()
	}
	if d.Extended {
		r.link.extended.Store(true)
	}
	if d.Colored {
		r.terminal.colored.Store(true)
	}
	r.link.wantsPixels.Store(d.Pixels)
	r.link.wantsMouse.Store(d.Mouse)
	r.link.alt.Store(d.Alt)
	if r.needsConversion(d.Kitty, d.Sixel) {
		r.link.reclaimTerminal()
	}
}

// handOver gives the terminal to the engine. Input is held until the engine has consumed
// earlier input and said how it wants keys.
func (r *run) handOver() {
	// The terminal must not be handed over while lent out.
	r.terminal.writing.Lock()
	defer r.terminal.writing.Unlock()
	r.link.holdInput()
	a := r.link.currentAttachment()
	if !r.link.startHandover(a.TakePassed()) {
		return
	}
	if a.HandOver(r.terminal.fd, r.NoClipboard) != nil {
		// Receiving returns the cause.
		a.Close()
	}
}

// startHandover records the handover, unless the run has ended.
func (l *link) startHandover(master *os.File) bool {
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
	l.direct.awaitsMode, l.direct.returned = true, make(chan struct{})
	return true
}

// releaseKeys sends the keys held during a handover. news reports whether a handover was
// running.
func (l *link) releaseKeys(toMaster bool) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.direct.awaitsMode {
		return false
	}
	l.direct.awaitsMode = false
	if !toMaster {
		l.direct.closeMaster()
	}
	l.releaseHeld()
	return true
}

// isHandedOver reports whether the engine has the terminal.
func (l *link) isHandedOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.direct.returned != nil
}

// requestTerminal asks the engine to return the terminal after all typed input. The result
// is closed once it has; nil means that the engine does not have it. l is locked.
func (l *link) requestTerminal() (over <-chan struct{}) {
	if l.direct.returned == nil {
		return nil
	}
	l.reportTyped()
	// A lost engine no longer has the terminal.
	_ = l.a.Send(api.Input{Hand: &api.Hand{Back: true}})
	return l.direct.returned
}

// reclaimTerminal asks for the terminal. The main goroutine then attaches again.
func (l *link) reclaimTerminal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requestTerminal()
}

// awaitTerminal asks for the terminal and waits for it, at most maxReturnTime.
func (l *link) awaitTerminal() {
	l.mu.Lock()
	over := l.requestTerminal()
	l.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-time.After(maxReturnTime):
	}
}

// closeAttachment closes the attachment and resets the direct path.
func (l *link) closeAttachment() {
	l.mu.Lock()
	d := &l.direct
	l.open, d.awaitsMode, d.confirming = false, false, false
	// An open master would keep the program from getting a hangup.
	d.closeMaster()
	if d.returned != nil {
		close(d.returned)
		d.returned = nil
	}
	if d.timeout != nil {
		d.timeout.Stop()
	}
	a := l.a
	l.mu.Unlock()
	a.Close()
}

func (d *directPath) closeMaster() {
	if d.close != nil {
		d.close()
	}
	d.master, d.close = nil, nil
}

// deliverInput sends input to the PTY, or to the engine if the PTY takes no more. It
// returns the part that cannot be sent now. l is locked.
func (l *link) deliverInput(p []byte) (rest []byte) {
	if l.direct.master != nil && !l.direct.confirming {
		n := l.direct.writeMaster(p)
		if n > 0 && len(l.direct.unreported) == 0 {
			time.AfterFunc(reportDelay, func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.reportTyped()
			})
		}
		l.direct.unreported = append(l.direct.unreported, p[:n]...)
		if p = p[n:]; len(p) == 0 {
			return nil
		}
		l.reportTyped()
		// The engine queues input for a program that does not read.
		l.direct.closeMaster()
	}
	if l.a.Send(api.Input{Bytes: p}) != nil {
		return p
	}
	l.requestConfirmation()
	return nil
}

// sendEvent sends an event that the engine encodes for the program. It must not be overtaken by
// keys typed after it.
func (l *link) sendEvent(in api.Input) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open && l.a.Send(in) == nil {
		l.requestConfirmation()
	}
}

// requestConfirmation makes keys follow the input just sent through the engine until the engine
// has consumed both. l is locked.
func (l *link) requestConfirmation() {
	d := &l.direct
	if d.master == nil {
		return
	}
	d.more = d.confirming
	if !d.confirming {
		// The engine answers after it has consumed the input before.
		d.confirming = l.a.Send(api.Input{Lines: &api.LineRange{}}) == nil
	}
}

// handleConfirmation handles the answer to requestConfirmation. It returns false if there was no
// request.
func (l *link) handleConfirmation() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := &l.direct
	if !d.confirming {
		return false
	}
	if d.confirming = false; d.more {
		l.requestConfirmation()
	}
	return true
}

// reportTyped tells the engine what was written to the PTY. l is locked.
func (l *link) reportTyped() {
	if len(l.direct.unreported) > 0 {
		// A lost engine need not know.
		_ = l.a.Send(api.Input{Typed: l.direct.unreported})
		l.direct.unreported = nil
	}
}

// writeMaster writes as much as the PTY takes now. The raw system call skips the
// scheduler's bookkeeping, as a nonblocking write never waits.
func (d *directPath) writeMaster(p []byte) (n int) {
	if len(p) == 0 {
		return 0
	}
	// Control fails if the master is closed, and nothing is written.
	_ = d.master.Control(func(fd uintptr) {
		if got, _, errno := unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p))); errno == 0 {
			n = int(got)
		}
	})
	return n
}
