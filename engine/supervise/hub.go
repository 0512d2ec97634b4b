package supervise

import (
	"context"

	"tandem/engine/api"
	"tandem/persist/store"
)

// maxQueuedEvents is how many events a subscriber may fall behind before it is disconnected.
const maxQueuedEvents = 1024

// A hub sends events to subscribers. The control goroutine owns it, so taking a snapshot and
// subscribing are one step, without a gap.
type hub struct {
	subscribers map[*subscriber]struct{}
}

// A subscriber is one stream of events. Its channel is closed when it falls behind or the engine
// exits.
type subscriber struct {
	events        chan api.Event
	skipTransient bool // omits one-shot commands
}

// drain sends the queued events until the queue is empty or send fails.
func (s *subscriber) drain(send func(api.Event) error) {
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

// subscribe adds a stream beginning with the events first; with lasting set, it omits one-shot
// commands.
func (h *hub) subscribe(lasting bool, first ...api.Event) *subscriber {
	// The buffer has to take all of first, because nobody reads it yet.
	s := &subscriber{events: make(chan api.Event, max(maxQueuedEvents, len(first))), skipTransient: lasting}
	for _, e := range first {
		s.events <- e
	}
	if h.subscribers == nil {
		h.subscribers = make(map[*subscriber]struct{})
	}
	h.subscribers[s] = struct{}{}
	return s
}

func (h *hub) disconnect(s *subscriber) {
	// broadcast may have disconnected it already, and a second close would panic.
	if _, ok := h.subscribers[s]; ok {
		delete(h.subscribers, s)
		close(s.events)
	}
}

// publish sends an event to every subscriber.
func (h *hub) publish(e api.Event) { h.broadcast(e, false) }

// publishProcess sends an event about one process, if transient only to subscribers interested.
func (h *hub) publishProcess(r store.Record, e api.Event) { h.broadcast(e, r.Transient) }

func (h *hub) broadcast(e api.Event, transient bool) {
	for s := range h.subscribers {
		if transient && s.skipTransient {
			continue
		}
		select {
		case s.events <- e:
		// A reader that falls behind must not block the loop: it can watch again for a snapshot.
		default:
			h.disconnect(s)
		}
	}
}

func (h *hub) close() {
	for s := range h.subscribers {
		h.disconnect(s)
	}
}

// Watch calls send for each event until ctx ends or the reader falls behind. first turns a snapshot
// into the first events of the stream; it runs on the control goroutine. Meanwhile the client named
// owner counts as present.
func (c *Control) Watch(ctx context.Context, owner string, lasting bool, first func(snapshot api.Event) []api.Event, send func(api.Event) error) error {
	s, err := Ask(ctx, c, func() *subscriber {
		c.leases.addWatch(owner)
		return c.reg.hub.subscribe(lasting, first(api.Event{Type: api.EventSnapshot, Processes: c.reg.procs.listViewsFor(lasting)})...)
	})
	if err != nil {
		return err
	}
	defer c.reg.box.Post(func() {
		c.reg.hub.disconnect(s)
		c.leases.removeWatch(owner)
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
			// Events published before the end still belong to the stream.
			s.drain(send)
			return ctx.Err()
		}
	}
}
