package outbox

import (
	"fmt"
	"net"
	"slices"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// A Sender takes the input for one attachment from an outbox.
type Sender struct {
	o      *Outbox
	wake   func() // there is something to take; must not block
	closed bool   // by the user: the queue is still sent
	lost   bool   // nothing can be sent any more

	reports bool  // the engine reports what the terminal has accepted
	waiting int64 // bytes of text kept: not accepted as far as is known
}

// A Loss is input possibly lost with a connection.
type Loss struct {
	Keys  int64 // keys and characters
	Paste bool  // the rest of a paste was not sent
}

// Add adds a later loss.
func (l *Loss) Add(later Loss) { l.Keys, l.Paste = l.Keys+later.Keys, l.Paste || later.Paste }

// String returns a message for the user, or "" if nothing is lost.
func (l Loss) String() string {
	switch {
	case l.Paste:
		return fmt.Sprintf("the end of a paste is missing (up to %d characters)", l.Keys)
	case l.Keys == 1:
		return "one key may be missing"
	case l.Keys > 0:
		return fmt.Sprintf("up to %d keys may be missing", l.Keys)
	}
	return ""
}

// Connect makes a new attachment the outbox's sender. The previous sender must no longer be in use.
// wake is called when Take has something to return. st is what the engine knows of earlier input.
// Messages that it does not have are sent again, after those in first. Messages that it may have
// written are not sent again; they are the loss.
func (o *Outbox) Connect(wake func(), st api.InputState, first ...api.Input) (*Sender, Loss) {
	s := &Sender{o: o, wake: wake, reports: st.Reports}
	o.mu.Lock()
	pending, doubtful, unsent := o.divide(st)
	loss := Loss{Keys: countKeys(doubtful...), Paste: st.Cut}
	switch {
	case !st.Cut:
	case len(doubtful) > 0 && isPaste(doubtful[len(doubtful)-1]): // nothing of it is left
	case len(doubtful) == 0 && len(unsent) > 0 && isPaste(unsent[0]):
		loss.Keys += countKeys(unsent[0])
		unsent = unsent[1:]
	default:
		unsent = o.cutPaste(unsent, &loss)
	}
	o.sender, o.queue, o.size, o.closed = s, nil, 0, false
	o.keeps, o.kept, o.keptSize, o.number = st.Counts, nil, 0, st.Taken
	s.keep(pending...)
	for _, in := range first {
		if msgs, _, err := encodeInput(in); err == nil {
			o.queue = append(o.queue, msgs...)
		}
	}
	o.queue = append(o.queue, unsent...)
	for _, msg := range o.queue {
		o.size += len(msg)
	}
	o.mu.Unlock()
	wake()
	return s, loss
}

// divide divides the messages sent so far: pending ones are still waiting in the engine, doubtful
// ones may be lost, and unsent ones have not reached the engine. o is locked.
func (o *Outbox) divide(st api.InputState) (pending, doubtful, unsent [][]byte) {
	unsent = slices.DeleteFunc(slices.Clone(o.queue), func(msg []byte) bool { return !isInput(msg) })
	if !st.Known {
		// The engine does not know this input any more. If it did not report what it accepted, most
		// messages have been written.
		if o.sender != nil && o.sender.reports {
			doubtful = o.kept
		}
		return nil, doubtful, unsent
	}
	has := len(o.kept)
	if o.number > st.Taken {
		has -= int(min(o.number-st.Taken, uint64(has)))
	}
	unsent = append(slices.Clone(o.kept[has:]), unsent...)
	if st.Unsure == 0 {
		return o.kept[:has], nil, unsent
	}
	// The engine is new, and earlier messages are done.
	return nil, o.kept[has-int(min(st.Unsure, uint64(has))) : has], unsent
}

// isPaste reports whether a message is a complete paste.
func isPaste(msg []byte) bool { return msg[0] == wire.InputPaste }

// cutPaste removes the rest of a paste from messages. If its end is not among them, the rest is
// removed from later messages too. o is locked.
func (o *Outbox) cutPaste(msgs [][]byte, loss *Loss) (rest [][]byte) {
	o.skipped = pasteSkipper{active: true}
	for _, msg := range msgs {
		if msg[0] == wire.InputBytes && o.skipped.active {
			left := o.skipped.skip(msg[1:])
			loss.Keys += int64(utf8.RuneCount(msg[1 : len(msg)-len(left)]))
			if len(left) == 0 {
				continue
			}
			msg = append([]byte{wire.InputBytes}, left...)
		}
		rest = append(rest, msg)
	}
	return rest
}

// keep stores messages that were taken for sending, in case they must be sent again. If the engine
// reports accepted messages, those are dropped later. Otherwise it is assumed to have received the
// oldest ones. The outbox is locked.
func (s *Sender) keep(msgs ...[]byte) {
	o := s.o
	for _, msg := range msgs {
		o.kept, o.keptSize = append(o.kept, msg), o.keptSize+len(msg)
		s.waiting += textSize(msg)
	}
	for !s.reports && o.keptSize > maxKept && len(o.kept) > 1 {
		s.dropKept(1)
	}
}

// dropKept drops the oldest stored messages. The outbox is locked.
func (s *Sender) dropKept(n int) {
	o := s.o
	for _, msg := range o.kept[:n] {
		o.keptSize -= len(msg)
		s.waiting -= textSize(msg)
	}
	o.kept = slices.Delete(o.kept, 0, n)
}

// Send is like the outbox's Send, but works only while the attachment is open.
func (s *Sender) Send(in api.Input) error {
	s.o.mu.Lock()
	closed, lost := s.closed, s.lost
	s.o.mu.Unlock()
	switch {
	case closed:
		return net.ErrClosed
	case lost:
		return ErrLost
	}
	return s.o.Send(in)
}

// Take removes the messages that may be sent now and returns them. finished is set if nothing will
// follow: the sender is lost, or closed with nothing left.
func (s *Sender) Take() (batch [][]byte, finished bool) {
	o := s.o
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.lost {
		return nil, true
	}
	n := s.ready()
	batch, o.queue = o.queue[:n:n], o.queue[n:]
	for _, msg := range batch {
		if o.keeps && isInput(msg) {
			o.number++
			s.keep(msg)
		}
	}
	return batch, s.closed && n == 0 && len(o.queue) == 0
}

// ready returns how many messages in the queue may be sent now. The outbox is locked.
func (s *Sender) ready() (n int) {
	if !s.reports {
		return len(s.o.queue)
	}
	waiting := s.waiting
	for _, msg := range s.o.queue {
		size := textSize(msg)
		if size >= api.LongText && waiting >= maxUnaccepted {
			break
		}
		waiting += size
		n++
	}
	return n
}

// Sent records that a message from Take was sent.
func (s *Sender) Sent(msg []byte) {
	s.o.mu.Lock()
	s.o.size -= len(msg)
	s.o.mu.Unlock()
}

// Return puts messages that could not be sent back to the front of the queue, because the
// connection is lost.
func (s *Sender) Return(batch [][]byte) {
	o := s.o
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(batch, o.queue...)
	if o.keeps {
		for _, msg := range slices.Backward(batch) {
			if n := len(o.kept); n > 0 && isInput(msg) {
				o.kept, o.keptSize, o.number = o.kept[:n-1], o.keptSize-len(msg), o.number-1
			}
		}
	}
	s.lost = true
}

// Accepted handles the engine's report that the terminal has accepted all messages up to a number.
func (s *Sender) Accepted(number uint64) {
	o := s.o
	o.mu.Lock()
	oldest := o.number - uint64(len(o.kept))
	if o.sender == s && number > oldest {
		s.dropKept(int(min(number-oldest, uint64(len(o.kept)))))
	}
	o.mu.Unlock()
	s.wake()
}

// Close ends the sender. Take still returns the messages in the queue.
func (s *Sender) Close() {
	s.o.mu.Lock()
	s.closed = s.closed || !s.lost
	s.o.mu.Unlock()
	s.wake()
}

// Closed reports whether Close was called before the connection was lost.
func (s *Sender) Closed() bool {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	return s.closed
}

// Lose ends the sender, as its connection is lost.
func (s *Sender) Lose() {
	s.o.mu.Lock()
	s.lost = true
	s.o.mu.Unlock()
	s.wake()
}
