// Sent through the engine, each key and each echo has to wake another process. On the
// engine's own machine the run hands its terminal over instead: the engine writes the
// session's output straight to the terminal, and the run writes typed keys straight to the
// PTY's master (engine/api/direct). Neither has to wake the other for a key and its echo.

package attach

import (
	"time"

	"tandem/engine/api"
)

// maxReturnTime is how long the engine may take to return the terminal.
const maxReturnTime = time.Second

// A handover lasts as long as the engine has the terminal. The link's mutex guards it.
type handover struct {
	returned chan struct{} // closed when the engine has returned the terminal; nil unless it has it
	timeout  *time.Timer   // fires if the engine takes too long to return the terminal
}

// canHandOver reports whether the terminal may be handed over: the run draws nothing
// itself, the engine is local, and the terminal was reopened without blocking writes.
func (r *run) canHandOver() bool {
	return !r.pictures.convert.Load() && r.overlay == nil && r.remote.machine == "" && r.terminal.fd != int(r.terminal.out.Fd())
}

// handleDirect handles the engine's offer to take the terminal, and its reports of what the program
// requested while the engine had it.
func (r *run) handleDirect(d api.Direct) {
	if d.Offer {
		r.handOver()
		return
	}
	if d.Extended {
		r.link.extended.Store(true)
	}
	if d.Colored {
		r.terminal.colored.Store(true)
	}
	r.link.wantsPixels.Store(d.Pixels)
	if r.needsConversion(d.Kitty, d.Sixel) {
		r.link.forceReattach()
	}
}

// handOver gives the terminal to the engine.
func (r *run) handOver() {
	// The terminal must not be handed over while lent out.
	r.terminal.writing.Lock()
	defer r.terminal.writing.Unlock()
	a := r.link.currentAttachment()
	// An older engine passes the PTY's master with its offer. As long as a master is open, the
	// program gets no hangup.
	if master := a.TakePassed(); master != nil {
		master.Close()
	}
	if !r.link.startHandover() {
		return
	}
	if a.HandOver(r.terminal.fd, r.NoClipboard) != nil {
		// Receiving returns the cause.
		a.Close()
	}
}

// startHandover records the handover, unless the run has ended.
func (l *link) startHandover() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.result != nil {
		return false
	}
	l.handover.returned = make(chan struct{})
	return true
}

// isHandedOver reports whether the engine has the terminal.
func (l *link) isHandedOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.handover.returned != nil
}

// requestTerminal asks the engine to return the terminal after all typed input. returned is closed
// once the terminal is back; it is nil if the engine does not have the terminal. l is locked.
func (l *link) requestTerminal() (returned <-chan struct{}) {
	if l.handover.returned == nil {
		return nil
	}
	l.keys.Report()
	// A lost engine no longer has the terminal.
	_ = l.currentAttachment().Send(api.Input{Hand: &api.Hand{Back: true}})
	return l.handover.returned
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

// closeAttachment closes the attachment and ends the handover.
func (l *link) closeAttachment() {
	l.mu.Lock()
	l.open = false
	l.keys.Close()
	h := &l.handover
	if h.returned != nil {
		close(h.returned)
		h.returned = nil
	}
	if h.timeout != nil {
		h.timeout.Stop()
		h.timeout = nil
	}
	l.mu.Unlock()
	l.currentAttachment().Close()
}

// deliverInput sends typed input. It returns the part that cannot be sent now. l is locked.
func (l *link) deliverInput(p []byte) (rest []byte) {
	n, err := l.keys.Type(p, api.Input{Bytes: p})
	if err != nil {
		return p[n:]
	}
	return nil
}

// sendEvent sends an event that the engine encodes for the program. Keys typed after the event must
// not overtake it.
func (l *link) sendEvent(in api.Input) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		// A lost attachment loses the event.
		_ = l.keys.Send(in)
	}
}
