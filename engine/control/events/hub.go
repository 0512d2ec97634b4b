// Package events sends the engine's events to those who watch them.
package events

import "tandem/engine/api"

// MaxQueued is the maximum number of events waiting for a subscriber. A subscriber with more of
// them is disconnected.
const MaxQueued = 1024

// A Hub sends events to subscribers. It belongs to one goroutine, so no event can occur between
// taking a snapshot and subscribing.
type Hub struct {
	subscribers map[*Subscriber]struct{}
}

// A Subscriber is one stream of events. Its channel is closed when too many events are waiting in
// it, or the engine exits.
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

// Subscribe adds a stream that begins with the events in first. If lasting is set, the stream has
// no events about one-shot commands.
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
	// Publish may have disconnected s already, and closing its channel twice would panic.
	if _, ok := h.subscribers[s]; ok {
		delete(h.subscribers, s)
		close(s.Events)
	}
}

// Publish sends an event to all subscribers. If oneShot is set, the event is about a one-shot
// command, and subscribers to lasting processes do not get it.
func (h *Hub) Publish(e api.Event, oneShot bool) {
	for s := range h.subscribers {
		if oneShot && s.lasting {
			continue
		}
		select {
		case s.Events <- e:
		// A slow reader must not block the loop. It can subscribe again and gets a new snapshot.
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
