package attach

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/direct"
	"tandem/engine/api/outbox"
)

const (
	// maxHeld is the maximum number of bytes typed ahead while there is no engine. While so many
	// are held, the terminal is not read.
	maxHeld = 1 << 20
	// sendRetry is the interval between attempts to send to a session that takes no input.
	sendRetry = 10 * time.Millisecond
)

// A link is the attachment shared by the goroutines of a run, together with the outcome.
type link struct {
	cancel      context.CancelFunc
	extended    atomic.Bool // the session may have requested keys as escape codes
	cellMouse   atomic.Bool // the terminal cannot report the mouse in pixels
	wantsPixels atomic.Bool // the program wants the mouse in pixels

	out  *outbox.Outbox // queued input, across all attachments
	a    atomic.Pointer[client.Attachment]
	keys *direct.Path // sends typed input to a, or to the PTY

	mu       sync.Mutex
	handover handover
	open     bool          // input may go to a; otherwise it is held
	held     []byte        // input waiting for an attachment. It may go to the PTY, unlike the input in the field out
	drained  chan struct{} // closed when held is sent, or when the run ends
	result   *Outcome
}

func newLink(cancel context.CancelFunc) *link {
	l := &link{cancel: cancel, out: new(outbox.Outbox), drained: make(chan struct{})}
	l.keys = direct.NewPath(func(in api.Input) error { return l.currentAttachment().Send(in) })
	return l
}

// currentAttachment returns the attachment to receive from.
func (l *link) currentAttachment() *client.Attachment { return l.a.Load() }

// useAttachment makes a the attachment, and sends it the held input and whatever the
// previous one did not deliver. After stopRun, it closes a.
func (l *link) useAttachment(a *client.Attachment) outbox.Loss {
	l.mu.Lock()
	stopped := l.result != nil
	l.keys.Close()
	loss := a.SendFrom(l.out)
	l.a.Store(a)
	l.releaseHeld()
	l.mu.Unlock()
	if stopped {
		a.Close()
	}
	return loss
}

// holdInput holds input until useAttachment or release is called.
func (l *link) holdInput() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = false
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.open {
			l.releaseHeld()
		}
	}
}

// releaseHeld sends held input and lets new input through. l is locked.
func (l *link) releaseHeld() {
	l.open = true
	if len(l.held) > 0 {
		l.held = l.deliverInput(l.held)
	}
	close(l.drained)
	l.drained = make(chan struct{})
}

// sendInput queues input behind everything sent before. It blocks while the session takes
// none, and drops the rest when the run ends.
func (l *link) sendInput(p []byte) {
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

// trySend sends or queues as much of p as possible and returns the rest. If the queue of held input
// is full, wait is closed once that input is sent or the run ends; otherwise wait is nil.
func (l *link) trySend(p []byte) (wait <-chan struct{}, rest []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open && len(l.held) > 0 {
		l.held = l.deliverInput(l.held)
	}
	switch {
	case l.result != nil:
		return nil, nil
	case l.open && len(l.held) == 0:
		return nil, l.deliverInput(p)
	case l.open:
		return nil, p
	case len(l.held)+len(p) > maxHeld:
		return l.drained, p
	}
	l.held = append(l.held, p...)
	return nil, nil
}

// discardText drops text queued because the program does not read, and returns its size in
// bytes.
func (l *link) discardText() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open {
		return 0
	}
	return l.out.DiscardText()
}

// sendSize sends the terminal's size to the engine, if it is connected.
func (l *link) sendSize(size api.Size) {
	// A new attachment starts with the size at that time.
	l.sendNow(api.Input{Resize: &size})
}

// sendNow sends input that is pointless later; without an attachment it is dropped.
func (l *link) sendNow(in api.Input) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		_ = l.currentAttachment().Send(in)
	}
}

// forceReattach makes the main goroutine attach again.
func (l *link) forceReattach() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endAttachment()
}

// endAttachment ends the attachment. The engine first returns the terminal if it has it,
// as it might write to the terminal otherwise until it notices. l is locked, so the
// terminal is not handed over meanwhile.
func (l *link) endAttachment() {
	a := l.currentAttachment()
	switch {
	case l.requestTerminal() == nil:
		a.Close()
	case l.handover.timeout == nil:
		l.handover.timeout = time.AfterFunc(maxReturnTime, func() { a.Close() })
	}
}

// stopRun sets the outcome, unless there is one, and ends the run: it makes receiving fail
// and ends all waits.
func (l *link) stopRun(outcome Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.result == nil {
		l.result = &outcome
		close(l.drained)
		l.drained = make(chan struct{})
	}
	l.cancel()
	l.endAttachment()
}

// currentOutcome returns the outcome; the second result reports whether the run has ended.
func (l *link) currentOutcome() (Outcome, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.result == nil {
		return Outcome{}, false
	}
	return *l.result, true
}
