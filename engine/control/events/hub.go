// Package events sends the engine's events to those who watch them.
package events

import "tandem/engine/api"

// MaxQueued is how many events a subscriber may fall behind before it is disconnected.
const MaxQueued = 1024

// A Hub sends events to subscribers. One goroutine owns it, so taking a snapshot and subscribing are
// one step, without a gap.
type Hub struct {
	subscribers map[*Subscriber]struct{}
}

// A Subscriber is one stream of events. Its channel is closed when it falls behind or the engine
// exits.
type Subscriber struct {
	Events  chan api.Event
	lasting bool // without events about one-shot commands
}

// Drain sends the queued events until the queue is empty or send fails.
func (s *Subscriber) Drain(send func(api.Event) error) {
	for {
		select {
		case e, ok := <-s.Events:
			if !ok || send(e) != nil {
				return
			}
		default:
			return
		}
	}
}

// Subscribe adds a stream that begins with the events in first. With lasting, it has no events about
// one-shot commands.
func (h *Hub) Subscribe(lasting bool, first ...api.Event) *Subscriber {
	// Nobody reads the channel yet, so its buffer must hold all of first.
	s := &Subscriber{make(chan api.Event, max(MaxQueued, len(first))), lasting}
	for _, e := range first {
		s.Events <- e
	}
	if h.subscribers == nil {
		h.subscribers = make(map[*Subscriber]struct{})
	}
	h.subscribers[s] = struct{}{}
	return s
}

// Disconnect ends a stream, unless it has ended.
func (h *Hub) Disconnect(s *Subscriber) {
	// Publish may have disconnected it already, and a second close would panic.
	if _, ok := h.subscribers[s]; ok {
		delete(h.subscribers, s)
		close(s.Events)
	}
}

// Publish sends an event to all subscribers, or with oneShot only to those that did not ask for
// lasting processes.
func (h *Hub) Publish(e api.Event, oneShot bool) {
	for s := range h.subscribers {
		if oneShot && s.lasting {
			continue
		}
		select {
		case s.Events <- e:
		// A reader that falls behind must not block the loop: it can watch again for a snapshot.
		default:
			h.Disconnect(s)
		}
	}
}

// Close ends every stream.
func (h *Hub) Close() {
	for s := range h.subscribers {
		h.Disconnect(s)
	}
}
