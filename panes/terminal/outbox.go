package terminal

import (
	"errors"

	"tandem/engine/api"
)

// What a pane keeps of typed input while its session cannot be reached.
const (
	maxQueuedInputs = 50_000
	maxQueuedBytes  = 4 << 20
)

// ErrNotSent says that input was refused because the session has not been
// reachable for too long.
var ErrNotSent = errors.New("not sent: the session cannot be reached")

// An Outbox is the input of a session, which waits while there is no attachment
// to take it.
type Outbox struct {
	viewer Viewer // nil while there is none
	serial int    // of viewer
	closed bool   // the session takes nothing any more
	queue  []api.Input
	queued int // bytes in queue
}

// attach takes over what the feed knows of the attachment; fresh reports whether
// it is a new one.
func (o *Outbox) attach(st feedStatus) (fresh bool) {
	o.viewer, o.closed = st.viewer, st.ended != nil || st.err != nil
	fresh = st.viewer != nil && st.serial != o.serial
	if fresh {
		o.serial = st.serial
	}
	return fresh
}

// Send passes input on, in the order of the calls. While the session cannot be
// reached input waits, up to a bound; beyond it, and when the session has
// ended, the error is ErrNotSent and nothing was kept.
func (o *Outbox) Send(in api.Input) error {
	n := inputSize(in)
	if o.closed || len(o.queue) >= maxQueuedInputs || o.queued+n > maxQueuedBytes {
		return ErrNotSent
	}
	o.queue = append(o.queue, in)
	o.queued += n
	o.flush()
	return nil
}

// discardText drops text that waits because the program does not read, and returns its size in
// bytes.
func (o *Outbox) discardText() int64 {
	if o.viewer == nil || o.closed {
		return 0
	}
	return o.viewer.DiscardText()
}

// tell sends what is of use now or never, ahead of what waits.
func (o *Outbox) tell(in api.Input) (told bool) {
	return o.viewer != nil && !o.closed && o.viewer.Send(in) == nil
}

// flush sends what waits, as far as the attachment takes it.
func (o *Outbox) flush() {
	sent := 0
	for o.viewer != nil && sent < len(o.queue) {
		if o.viewer.Send(o.queue[sent]) != nil {
			o.viewer = nil
			break
		}
		o.queued -= inputSize(o.queue[sent])
		o.queue[sent] = api.Input{}
		sent++
	}
	if sent > 0 {
		o.queue = append(o.queue[:0], o.queue[sent:]...)
	}
}

func inputSize(in api.Input) int {
	n := len(in.Bytes)
	if in.Paste != nil {
		n += len(*in.Paste)
	}
	return n
}

// Waiting is how many inputs have not been sent yet.
func (o *Outbox) Waiting() int { return len(o.queue) }

// Connected reports whether the session is reached at present.
func (o *Outbox) Connected() bool { return o.viewer != nil }
