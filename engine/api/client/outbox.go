package client

import (
	"bytes"
	"errors"
	"net"
	"slices"
	"sync"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

const (
	// maxOutbox bounds what waits to be sent, in bytes of messages.
	maxOutbox = wire.MaxInputMessage
	// maxBytesMessage is where raw bytes are cut into another message.
	maxBytesMessage = 64 << 10
	// joinBytes is up to where raw bytes are added to a message that waits.
	joinBytes = 32 << 10
	// maxKept bounds what was sent and may not have arrived: more than a link holds.
	maxKept = 1 << 20
	// maxUnaccepted bounds text that was sent and the session's terminal has not accepted.
	// The engine has room for it, so it reads a key behind it at once.
	maxUnaccepted = 128 << 10
	// minText is how long a message must be to wait for that: keys never do.
	minText = 64
)

var errLost = api.Errorf(api.CodeUnavailable, "send input: the attachment is lost").WithHint("attach again")

// An outbox is the queue between the callers of Send and the writer of one
// attachment.
type outbox struct {
	wake chan struct{} // one token: there is something to take
	done chan struct{} // closed by the writer when it ends

	mu     sync.Mutex
	queue  [][]byte
	size   int   // bytes queued and being written
	closed error // why nothing is added any more
	lost   bool  // nothing can be sent any more

	keeps    bool     // what was sent is kept, as it may not arrive
	kept     [][]byte // input that was sent last
	keptSize int
	number   uint64 // of messages of input that were sent

	progress   bool  // the engine reports what the terminal has accepted
	sentText   int64 // bytes of text handed to the connection
	acceptedBy int64 // bytes of text the terminal has accepted
}

func newOutbox() *outbox {
	return &outbox{wake: make(chan struct{}, 1), done: make(chan struct{})}
}

func (o *outbox) add(in api.Input) error {
	msgs, size, err := encodeInput(in)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed != nil {
		return o.closed
	}
	if o.size+size > maxOutbox {
		return api.Errorf(api.CodeUnavailable, "send input: the session does not take it, %d bytes are waiting", o.size).
			WithHint("wait until the program in the session reads again")
	}
	for _, msg := range msgs {
		o.push(msg)
	}
	o.signal()
	return nil
}

// encodeInput makes the messages for in, and tells how long they are together.
func encodeInput(in api.Input) (msgs [][]byte, size int, err error) {
	if in.Paste != nil && len(*in.Paste) > wire.MaxPaste {
		return nil, 0, api.Errorf(api.CodeInvalid, "send input: a paste of %d bytes is larger than %d", len(*in.Paste), wire.MaxPaste)
	}
	if len(in.Bytes) > maxOutbox {
		return nil, 0, api.Errorf(api.CodeInvalid, "send input: %d bytes at once are more than %d", len(in.Bytes), maxOutbox)
	}
	for len(in.Bytes) > maxBytesMessage {
		msg, _ := wire.AppendInput(nil, api.Input{Bytes: in.Bytes[:maxBytesMessage]})
		msgs, size = append(msgs, msg), size+len(msg)
		in.Bytes = in.Bytes[maxBytesMessage:]
	}
	msg, err := wire.AppendInput(nil, in)
	if err != nil {
		return nil, 0, err
	}
	return append(msgs, msg), size + len(msg), nil
}

// push adds one message to the queue, or to the last message in it.
func (o *outbox) push(msg []byte) {
	if n := len(o.queue); n > 0 && o.queue[n-1][0] == msg[0] && !isInterrupt(msg) && !isInterrupt(o.queue[n-1]) {
		last := o.queue[n-1]
		switch {
		case msg[0] == wire.InputResize:
			o.size += len(msg) - len(last)
			o.queue[n-1] = msg
			return
		case msg[0] == wire.InputBytes && len(last)+len(msg) <= joinBytes:
			o.size += len(msg) - 1
			o.queue[n-1] = append(last, msg[1:]...)
			return
		}
	}
	o.queue = append(o.queue, msg)
	o.size += len(msg)
}

// isInterrupt reports whether a message is ctrl+c as a byte. It is sent by itself, because the
// engine looks for it at the end of a message.
func isInterrupt(msg []byte) bool {
	return msg[0] == wire.InputBytes && len(msg) == 2 && msg[1] == 0x03
}

// take waits for messages and takes those that may be sent now; nil when the outbox is
// closed and empty, or the connection is lost.
func (o *outbox) take() [][]byte {
	for {
		o.mu.Lock()
		n, left, closed, lost := o.ready(), len(o.queue), o.closed != nil, o.lost
		var batch [][]byte
		if !lost && n > 0 {
			batch, o.queue = o.queue[:n:n], o.queue[n:]
			o.sentText += textSize(batch...)
		}
		o.mu.Unlock()
		switch {
		case lost:
			return nil
		case n > 0:
			return batch
		case closed && left == 0:
			return nil
		}
		<-o.wake
	}
}

// ready returns how many messages of the queue may be sent now. o is locked.
func (o *outbox) ready() (n int) {
	if !o.progress {
		return len(o.queue)
	}
	unaccepted := o.sentText - o.acceptedBy
	for _, msg := range o.queue {
		size := textSize(msg)
		if size >= minText && unaccepted >= maxUnaccepted {
			break
		}
		unaccepted += size
		n++
	}
	return n
}

// textSize returns how many bytes of messages the engine reports as accepted.
func textSize(msgs ...[]byte) (n int64) {
	for _, msg := range msgs {
		if msg[0] == wire.InputBytes || msg[0] == wire.InputPaste {
			n += int64(len(msg) - 1)
		}
	}
	return n
}

// accepted takes the engine's report.
func (o *outbox) accepted(n int64) {
	o.mu.Lock()
	o.progress, o.acceptedBy = true, n
	o.mu.Unlock()
	o.signal()
}

// discardText drops text that waits for the terminal and returns its size in bytes. The end
// of a bracketed paste stays if its start was sent.
func (o *outbox) discardText() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost || o.ready() == len(o.queue) {
		return 0
	}
	var raw []byte
	dropped := int64(0)
	o.queue = slices.DeleteFunc(o.queue, func(msg []byte) bool {
		size := textSize(msg)
		if size > 0 && msg[0] == wire.InputBytes {
			raw = append(raw, msg[1:]...)
		}
		if size > 0 {
			o.size -= len(msg)
		}
		dropped += size
		return size > 0
	})
	end := bytes.Index(raw, []byte(pasteEnd))
	if start := bytes.Index(raw, []byte(pasteStart)); end >= 0 && (start < 0 || end < start) {
		o.push(append([]byte{wire.InputBytes}, pasteEnd...))
	}
	o.signal()
	return dropped
}

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// unsure returns how many bytes of text may be lost with the connection: they were sent, and
// the terminal has not accepted them. It is 0 after close, when the engine delivers them.
func (o *outbox) unsure() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.progress || errors.Is(o.closed, net.ErrClosed) {
		return 0
	}
	return o.sentText - o.acceptedBy
}

func (o *outbox) sent(msg []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size -= len(msg)
	if !o.keeps || !isInput(msg) {
		return
	}
	o.number++
	o.kept, o.keptSize = append(o.kept, msg), o.keptSize+len(msg)
	for o.keptSize > maxKept && len(o.kept) > 1 {
		o.keptSize -= len(o.kept[0])
		o.kept = slices.Delete(o.kept, 0, 1)
	}
}

// isInput reports whether a message is input that is to arrive over the next connection if
// not over this one: sizes and marks are not, nor what concerns the connection itself.
func isInput(msg []byte) bool {
	switch msg[0] {
	case wire.InputResize, wire.InputMark, wire.InputHand, wire.InputTyped:
		return false
	}
	return true
}

// since is the input behind the first messages of that number, as far as it is kept, and
// what was never sent.
func (o *outbox) since(taken uint64) [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	oldest := o.number - uint64(len(o.kept))
	all := append(slices.Clip(o.kept), slices.DeleteFunc(o.queue, func(msg []byte) bool { return !isInput(msg) })...)
	o.queue, o.kept = nil, nil
	return all[min(max(taken, oldest)-oldest, uint64(len(all))):]
}

// resume queues messages in front of all others; the first has that number.
func (o *outbox) resume(number uint64, msgs [][]byte) {
	o.mu.Lock()
	o.number = number
	o.mu.Unlock()
	o.prepend(msgs)
}

// giveBack puts messages that could not be sent back in front, as the
// connection is lost.
func (o *outbox) giveBack(batch [][]byte) {
	o.mu.Lock()
	o.queue = append(batch, o.queue...)
	o.sentText -= textSize(batch...)
	o.mu.Unlock()
	o.abort()
}

// undelivered takes the input that was never sent; sizes and marks are not input.
func (o *outbox) undelivered() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	queue := slices.DeleteFunc(o.queue, func(msg []byte) bool { return !isInput(msg) })
	o.queue = nil
	return queue
}

// prepend queues messages in front of all others.
func (o *outbox) prepend(msgs [][]byte) {
	o.mu.Lock()
	for _, msg := range msgs {
		o.size += len(msg)
	}
	o.queue = append(msgs, o.queue...)
	o.mu.Unlock()
	o.signal()
}

// close lets nothing more in; what is queued can still be taken.
func (o *outbox) close() { o.end(net.ErrClosed, false) }

// abort lets nothing more in nor out, as the connection is lost.
func (o *outbox) abort() { o.end(errLost, true) }

// end sets why nothing is added any more; the first reason stays.
func (o *outbox) end(why error, lost bool) {
	o.mu.Lock()
	if o.closed == nil {
		o.closed = why
	}
	o.lost = o.lost || lost
	o.mu.Unlock()
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// closedByUser reports whether close came before the connection was lost.
func (o *outbox) closedByUser() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return errors.Is(o.closed, net.ErrClosed)
}
