package engine

import (
	"tandem/engine/api"
	"tandem/persist/store"
)

// outboxSize is how many events a subscriber may be behind before it is cut.
const outboxSize = 1024

// A hub hands events to subscribers. The control goroutine owns it, so that a
// snapshot and a subscription are one step.
type hub struct {
	subscribers map[*subscriber]struct{}
}

// A subscriber is one stream of events. Its channel is closed when it fell
// behind or the engine ends.
type subscriber struct {
	events  chan api.Event
	lasting bool // it does not tell of one-shot commands
}

// rest sends what waits, for as long as somebody takes it.
func (s *subscriber) rest(send func(api.Event) error) {
	for {
		select {
		case e, ok := <-s.events:
			if !ok || send(e) != nil {
				return
			}
		default:
			return
		}
	}
}

// subscribe adds a stream; a lasting one does not tell of one-shot commands.
func (h *hub) subscribe(snapshot api.Event, lasting bool) *subscriber {
	s := &subscriber{events: make(chan api.Event, outboxSize), lasting: lasting}
	s.events <- snapshot
	if h.subscribers == nil {
		h.subscribers = make(map[*subscriber]struct{})
	}
	h.subscribers[s] = struct{}{}
	return s
}

func (h *hub) drop(s *subscriber) {
	if _, ok := h.subscribers[s]; ok {
		delete(h.subscribers, s)
		close(s.events)
	}
}

// publish hands an event to every subscriber.
func (h *hub) publish(e api.Event) { h.send(e, false) }

// publishOf hands an event about one process to those who want to hear of it.
func (h *hub) publishOf(r store.Record, e api.Event) { h.send(e, r.Transient) }

func (h *hub) send(e api.Event, transient bool) {
	for s := range h.subscribers {
		if transient && s.lasting {
			continue
		}
		select {
		case s.events <- e:
		default:
			h.drop(s)
		}
	}
}

func (h *hub) close() {
	for s := range h.subscribers {
		h.drop(s)
	}
}
