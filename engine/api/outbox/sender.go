package outbox

import (
	"net"
	"slices"

	"tandem/engine/api"
)

// A Sender takes an attachment's input from an outbox.
type Sender struct {
	o      *Outbox
	wake   func() // there is something to take; must not block
	closed bool   // by the user: the queue is still sent
	lost   bool   // nothing can be sent any more

	progress   bool  // the engine reports what the terminal has accepted
	sentText   int64 // bytes of text handed to the connection
	acceptedBy int64 // bytes of text the terminal has accepted
}

// Arrived is the engine's count of input from earlier attachments. A link to another machine can be
// lost while the engine there lives.
type Arrived struct {
	Counts bool   // it counts messages of input
	Known  bool   // it has counted those of the last attachment too
	Taken  uint64 // messages so far, if Known
}

// Connect makes a new attachment the outbox's sender, when nobody takes from the last one any more.
// wake is called when Take has something for it. What the last sender could not deliver goes first,
// behind the messages in first; if the engine has counted its input, that is exactly what has not
// arrived. Otherwise unsure is how many bytes of text may be lost: they were sent to an engine that
// has exited, and it is unknown whether the program got them.
func (o *Outbox) Connect(wake func(), n Arrived, first ...api.Input) (s *Sender, unsure int64) {
	s = &Sender{o: o, wake: wake}
	o.mu.Lock()
	if last := o.sender; last != nil && !n.Known {
		unsure = last.unsure()
	}
	unsent := o.unarrived(n)
	o.sender, o.queue, o.size, o.closed = s, nil, 0, false
	o.keeps, o.kept, o.keptSize, o.number = n.Counts, nil, 0, n.Taken
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
	return s, unsure
}

// unarrived returns the input that the engine has not got, as far as it is kept, and what was never
// sent. o is locked.
func (o *Outbox) unarrived(n Arrived) [][]byte {
	oldest := o.number - uint64(len(o.kept))
	taken := o.number
	if n.Known {
		taken = max(n.Taken, oldest)
	}
	all := append(slices.Clip(o.kept), slices.DeleteFunc(o.queue, func(msg []byte) bool { return !isInput(msg) })...)
	return all[min(taken-oldest, uint64(len(all))):]
}

// Send is the outbox's Send while the attachment is open.
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

// Take takes the messages that may be sent now. over reports that nothing will follow: the
// sender is lost, or closed with nothing left.
func (s *Sender) Take() (batch [][]byte, over bool) {
	o := s.o
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.lost {
		return nil, true
	}
	n := s.ready()
	batch, o.queue = o.queue[:n:n], o.queue[n:]
	s.sentText += textSize(batch...)
	return batch, s.closed && n == 0 && len(o.queue) == 0
}

// ready returns how many messages of the queue may be sent now. The outbox is locked.
func (s *Sender) ready() (n int) {
	if !s.progress {
		return len(s.o.queue)
	}
	unaccepted := s.sentText - s.acceptedBy
	for _, msg := range s.o.queue {
		size := textSize(msg)
		if size >= minText && unaccepted >= maxUnaccepted {
			break
		}
		unaccepted += size
		n++
	}
	return n
}

// Sent records that a message from Take was sent.
func (s *Sender) Sent(msg []byte) {
	o := s.o
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

// Return puts messages that could not be sent back in front, as the connection is lost.
func (s *Sender) Return(batch [][]byte) {
	o := s.o
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(batch, o.queue...)
	s.sentText -= textSize(batch...)
	s.lost = true
}

// Accepted takes the engine's report of how many bytes of text the terminal has accepted.
func (s *Sender) Accepted(n int64) {
	s.o.mu.Lock()
	s.progress, s.acceptedBy = true, n
	s.o.mu.Unlock()
	s.wake()
}

// unsure returns how many bytes of text may be lost with the connection: they were sent, and
// the terminal has not accepted them. It is 0 after Close, when the engine delivers them.
func (s *Sender) unsure() int64 {
	if !s.progress || s.closed {
		return 0
	}
	return s.sentText - s.acceptedBy
}

// Close ends the sender; Take still returns the queue.
func (s *Sender) Close() {
	s.o.mu.Lock()
	s.closed = s.closed || !s.lost
	s.o.mu.Unlock()
	s.wake()
}

// Closed reports whether Close came before the connection was lost.
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
