// Package outbox queues the input of a session. The queue outlives attachments: it waits while
// there is none, and the next attachment continues after the last acknowledged message.
package outbox

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

const (
	// maxQueued bounds the unsent messages, in bytes.
	maxQueued = wire.MaxInputMessage
	// maxBytesMessage is the maximum size of a message of typed bytes.
	maxBytesMessage = 64 << 10
	// joinBytes is the size up to which typed bytes are appended to an unsent message.
	joinBytes = 32 << 10
	// maxKept is how many bytes of sent messages are kept for the next attachment. It is more than
	// can be on the way to the engine.
	maxKept = 1 << 20
	// maxUnaccepted is how many bytes of text may be sent before the session's terminal has
	// accepted them. The engine has room for them, so it reads a key after them at once.
	maxUnaccepted = 128 << 10
)

var (
	// ErrLost is returned for input to a lost attachment.
	ErrLost = api.Errorf(api.CodeUnavailable, "send input: the attachment was lost").WithHint("attach again")
	// ErrNotSent is returned for rejected input: the session could not be reached for too long, or
	// has exited.
	ErrNotSent = errors.New("not sent: the session cannot be reached")
)

// An Outbox holds the input of one session, in the order of the calls. It is safe for concurrent
// use. The zero value is empty and has no sender.
type Outbox struct {
	mu     sync.Mutex
	queue  [][]byte
	size   int     // bytes queued and being written
	closed bool    // nothing is added until the next Connect
	sender *Sender // the present one, or the last; nil before the first

	keeps    bool     // sent messages are kept, because they may not arrive
	kept     [][]byte // the last input taken to be sent, without messages reported as accepted
	keptSize int
	number   uint64 // of the last message of kept, or of the last before

	skipped pasteSkipper // drops the rest of a paste ended by the engine
}

// Send queues input and never blocks. While the session cannot be reached, the input waits. If more
// than 16 MiB would wait, or after Close, Send queues nothing and returns an error. Consecutive
// sizes are combined to one.
func (o *Outbox) Send(in api.Input) error {
	if in.Bytes != nil && o.skipPaste(&in) {
		return nil
	}
	msgs, size, err := encodeInput(in)
	if err != nil {
		return err
	}
	o.mu.Lock()
	s := o.connected()
	switch {
	case o.closed, s == nil && o.size+size > maxQueued:
		err = ErrNotSent
	case o.size+size > maxQueued:
		err = api.Errorf(api.CodeUnavailable, "send input: the session is not reading it; %d bytes are queued", o.size).
			WithHint("wait until the program in the session reads again")
	default:
		for _, msg := range msgs {
			o.push(msg)
		}
	}
	o.mu.Unlock()
	if err == nil && s != nil {
		s.wake()
	}
	return err
}

// skipPaste removes the rest of a paste from in, if the engine has ended the paste. It reports
// whether nothing is left.
func (o *Outbox) skipPaste(in *api.Input) (all bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.skipped.active {
		return false
	}
	in.Bytes = o.skipped.skip(in.Bytes)
	return len(in.Bytes) == 0
}

// Tell is like Send, for input that is useless later. While the session cannot be reached, it does
// not queue the input and returns false.
func (o *Outbox) Tell(in api.Input) bool { return o.Connected() && o.Send(in) == nil }

// Connected reports whether the session can be reached now.
func (o *Outbox) Connected() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.connected() != nil
}

// connected returns the sender of the current connection, or nil if there is none. o is locked.
func (o *Outbox) connected() *Sender {
	if s := o.sender; s != nil && !s.lost && !s.closed {
		return s
	}
	return nil
}

// Waiting returns how many messages of input wait until the session can be reached.
func (o *Outbox) Waiting() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.connected() == nil {
		for _, msg := range o.queue {
			if isInput(msg) {
				n++
			}
		}
	}
	return n
}

// WaitingInput returns the input that waits until the session can be reached.
func (o *Outbox) WaitingInput() (all []api.Input) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.connected() != nil {
		return nil
	}
	for _, msg := range o.queue {
		if in, err := wire.DecodeInput(msg); err == nil && isInput(msg) {
			all = append(all, in)
		}
	}
	return all
}

// Close drops the queue, because the session has exited or cannot be attached. From then on, Send
// returns ErrNotSent until the next Connect.
func (o *Outbox) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.queue, o.size = true, nil, 0
}

// DiscardText drops unsent text, and returns its size in bytes. Text waits if the program in the
// session does not read. Call DiscardText right before sending ctrl+c, so the key does not have to
// wait. If the start of a bracketed paste was sent, its end is kept.
func (o *Outbox) DiscardText() (dropped int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.connected(); s == nil || s.ready() == len(o.queue) {
		return 0
	}
	return o.drop(func(msg []byte) bool { return textSize(msg) > 0 })
}

// DropWaiting drops the input that waits until the session can be reached.
func (o *Outbox) DropWaiting() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.connected() == nil {
		o.drop(isInput)
	}
}

// drop removes the unsent messages for which match returns true, and returns the size of their text
// in bytes. The caller holds the lock.
func (o *Outbox) drop(match func(msg []byte) bool) (dropped int64) {
	var raw []byte
	o.queue = slices.DeleteFunc(o.queue, func(msg []byte) bool {
		if !match(msg) {
			return false
		}
		if msg[0] == wire.InputBytes {
			raw = append(raw, msg[1:]...)
		}
		o.size -= len(msg)
		dropped += textSize(msg)
		return true
	})
	end := bytes.Index(raw, []byte(pasteEnd))
	if start := bytes.Index(raw, []byte(pasteStart)); end >= 0 && (start < 0 || end < start) {
		o.push(append([]byte{wire.InputBytes}, pasteEnd...))
	}
	return dropped
}

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// encodeInput returns the messages for in, and their total size in bytes.
func encodeInput(in api.Input) (msgs [][]byte, size int, err error) {
	if in.Paste != nil && len(*in.Paste) > wire.MaxPaste {
		return nil, 0, api.Errorf(api.CodeInvalid, "send input: a paste of %d bytes is larger than %d", len(*in.Paste), wire.MaxPaste)
	}
	if len(in.Bytes) > maxQueued {
		return nil, 0, api.Errorf(api.CodeInvalid, "send input: %d bytes at once exceed %d", len(in.Bytes), maxQueued)
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

// push adds a message to the queue, or appends it to the last message there.
func (o *Outbox) push(msg []byte) {
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

// isInterrupt reports whether a message is the byte of ctrl+c. It is sent separately, because the
// engine expects it at the end of a message.
func isInterrupt(msg []byte) bool {
	return msg[0] == wire.InputBytes && len(msg) == 2 && msg[1] == 0x03
}

// isInput reports whether a message is numbered; see api.Input.Numbered.
func isInput(msg []byte) bool {
	switch msg[0] {
	case wire.InputResize, wire.InputMark, wire.InputHand, wire.InputTyped, wire.InputMaster:
		return false
	}
	return true
}

// textSize returns how many bytes of messages must wait until the terminal has accepted the bytes
// before.
func textSize(msgs ...[]byte) (n int64) {
	for _, msg := range msgs {
		if msg[0] == wire.InputBytes || msg[0] == wire.InputPaste {
			n += int64(len(msg) - 1)
		}
	}
	return n
}

// countKeys returns how many keys and characters the messages hold.
func countKeys(msgs ...[]byte) (n int64) {
	for _, msg := range msgs {
		switch msg[0] {
		case wire.InputBytes, wire.InputPaste:
			n += int64(utf8.RuneCount(msg[1:]))
		case wire.InputKey:
			n++
		}
	}
	return n
}

// A pasteSkipper drops bytes up to the end of a bracketed paste, and the end as well. The end may
// arrive in parts.
type pasteSkipper struct {
	active  bool
	matched int // bytes of pasteEnd at the end of what was dropped
}

// skip returns the bytes behind the paste.
func (s *pasteSkipper) skip(p []byte) (rest []byte) {
	for i, b := range p {
		switch {
		case b == pasteEnd[s.matched]:
			s.matched++
		case b == pasteEnd[0]:
			s.matched = 1
		default:
			s.matched = 0
		}
		if s.matched == len(pasteEnd) {
			*s = pasteSkipper{}
			return p[i+1:]
		}
	}
	return nil
}
