package attach

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/outbox"
)

const (
	// heldLimit bounds what is typed ahead while there is no engine; then the
	// terminal is not read any further.
	heldLimit = 1 << 20
	// sendRetry is how often input is offered again to a session that takes none.
	sendRetry = 10 * time.Millisecond
)

// A link is the attachment as the goroutines of a run share it, and the place
// where they leave the outcome.
type link struct {
	cancel   context.CancelFunc
	extended atomic.Bool // the session may have asked for keys as escape codes
	cells    atomic.Bool // the terminal cannot tell the mouse in pixels
	pixels   atomic.Bool // its program wants that
	points   atomic.Bool // its program wants the mouse, which the run decodes
	alt      atomic.Bool // its program is on the alternate screen

	out *outbox.Outbox // what is typed, over all attachments

	mu     sync.Mutex
	a      *client.Attachment
	direct direct
	open   bool          // input may go to a; else it is held
	held   []byte        // input that waits for an attachment: unlike what is in out, it may go to the PTY directly
	room   chan struct{} // closed when held is sent on, or at the end
	result *Outcome
}

func newLink(cancel context.CancelFunc) *link {
	return &link{cancel: cancel, out: new(outbox.Outbox), room: make(chan struct{})}
}

// current is the attachment to receive from.
func (l *link) current() *client.Attachment {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.a
}

// up makes a the attachment and sends on what the last one could not deliver
// and what was held. After stop, a is closed instead. unsure is how many bytes of text
// may be lost.
func (l *link) up(a *client.Attachment) (unsure int64) {
	l.mu.Lock()
	stopped := l.result != nil
	unsure = a.SendFrom(l.out)
	l.a = a
	l.pass()
	l.mu.Unlock()
	if stopped {
		a.Close()
	}
	return unsure
}

// hold keeps input back until up, or until release is called.
func (l *link) hold() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = false
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.open {
			l.pass()
		}
	}
}

// pass lets input through again; l is locked.
func (l *link) pass() {
	l.open = true
	if len(l.held) > 0 {
		l.held = l.deliver(l.held)
	}
	close(l.room)
	l.room = make(chan struct{})
}

// send queues input behind all that was sent before. It blocks while a session
// takes none, and drops what is left when the run ends.
func (l *link) send(p []byte) {
	for len(p) > 0 {
		var wait <-chan struct{}
		if wait, p = l.trySend(p); len(p) == 0 {
			return
		}
		select {
		case <-time.After(sendRetry):
		case <-wait:
		}
	}
}

// trySend gives back what of p is not on its way, and what to wait for then.
func (l *link) trySend(p []byte) (wait <-chan struct{}, rest []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open && len(l.held) > 0 {
		l.held = l.deliver(l.held)
	}
	switch {
	case l.result != nil:
		return nil, nil
	case l.open && len(l.held) == 0:
		return nil, l.deliver(p)
	case l.open:
		return nil, p
	case len(l.held)+len(p) > heldLimit:
		return l.room, p
	}
	l.held = append(l.held, p...)
	return nil, nil
}

// discardText drops text that waits because the program does not read, and returns its size
// in bytes.
func (l *link) discardText() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open {
		return 0
	}
	return l.out.DiscardText()
}

// resize tells the size of the terminal to the engine, if there is one.
func (l *link) resize(size api.Size) {
	l.tell(api.Input{Resize: &size}) // an attachment that is lost is opened again with the size of then
}

// tell sends what is of use now or never.
func (l *link) tell(in api.Input) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		_ = l.a.Send(in)
	}
}

// whenOpen waits until nothing that was typed waits for an attachment.
func (l *link) whenOpen(ctx context.Context) {
	for {
		l.mu.Lock()
		open, room := l.open && len(l.held) == 0, l.room
		l.mu.Unlock()
		if open {
			return
		}
		select {
		case <-room:
		case <-ctx.Done():
			return
		}
	}
}

// refresh makes the main goroutine attach again.
func (l *link) refresh() { l.current().Close() }

// stop leaves the outcome, unless there is one, and ends the run: receiving
// fails, waiting is over.
func (l *link) stop(outcome Outcome) {
	l.mu.Lock()
	if l.result == nil {
		l.result = &outcome
		close(l.room)
		l.room = make(chan struct{})
	}
	a, handed := l.a, l.askBack() != nil
	if handed && l.direct.late == nil { // the goroutine that receives waits for the terminal
		l.direct.late = time.AfterFunc(backLimit, func() { a.Close() })
	}
	l.mu.Unlock()
	l.cancel()
	if !handed {
		a.Close()
	}
}

// outcome tells whether and how the run has ended.
func (l *link) outcome() (Outcome, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.result == nil {
		return Outcome{}, false
	}
	return *l.result, true
}
