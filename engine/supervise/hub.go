package supervise

import (
	"context"

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

// rest sends what is queued for as long as somebody receives it.
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

// subscribe adds a stream that begins with some events; a lasting one does not tell
// of one-shot commands.
func (h *hub) subscribe(lasting bool, first ...api.Event) *subscriber {
	s := &subscriber{events: make(chan api.Event, max(outboxSize, len(first))), lasting: lasting}
	for _, e := range first {
		s.events <- e
	}
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

// Watch sends events until ctx ends or the reader falls behind. first makes the events
// that the stream begins with from a snapshot; it runs on the control goroutine. The
// client that owner names counts as present meanwhile.
func (c *Control) Watch(ctx context.Context, owner string, lasting bool, first func(snapshot api.Event) []api.Event, send func(api.Event) error) error {
	s, err := Ask(ctx, c, func() *subscriber {
		c.leases.arrive(owner)
		return c.hub.subscribe(lasting, first(api.Event{Type: api.EventSnapshot, Processes: c.procs.listedFor(lasting)})...)
	})
	if err != nil {
		return err
	}
	defer c.box.Post(func() {
		c.hub.drop(s)
		c.leases.depart(owner)
	})
	for {
		select {
		case e, ok := <-s.events:
			if !ok {
				return api.Errorf(api.CodeUnavailable, "watch events: the stream was cut").WithHint("watch again")
			}
			if err := send(e); err != nil {
				return err
			}
		case <-ctx.Done():
			s.rest(send)
			return ctx.Err()
		}
	}
}
