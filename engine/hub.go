package engine

import "tandem/engine/api"

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
	events chan api.Event
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

func (h *hub) subscribe(snapshot api.Event) *subscriber {
	s := &subscriber{events: make(chan api.Event, outboxSize)}
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

func (h *hub) publish(e api.Event) {
	for s := range h.subscribers {
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
