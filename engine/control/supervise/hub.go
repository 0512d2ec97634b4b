package supervise

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/control/events"
)

// Watch calls send for each event, until ctx ends or too many events wait for the reader. first
// turns a snapshot into the first events of the stream, and runs on the control goroutine. While
// Watch runs, the client owner counts as present.
func (c *Control) Watch(ctx context.Context, owner string, lasting bool, first func(snapshot api.Event) []api.Event, send func(api.Event) error) error {
	s, err := Ask(ctx, c, func() *events.Subscriber {
		c.leases.addWatch(owner)
		return c.reg.hub.Subscribe(lasting, first(api.Event{Type: api.EventSnapshot, Processes: c.reg.procs.listViewsFor(lasting)})...)
	})
	if err != nil {
		return err
	}
	defer c.reg.box.Post(func() {
		c.reg.hub.Disconnect(s)
		c.leases.removeWatch(owner)
	})
	filter, sendAll := c.Private.eventFilter(ctx), send
	send = func(e api.Event) error { return sendAll(filter(e)) }
	for {
		select {
		case e, ok := <-s.Events:
			if !ok {
				return api.Errorf(api.CodeUnavailable, "watch events: the stream was cut").WithHint("watch again")
			}
			if err := send(e); err != nil {
				return err
			}
		case <-ctx.Done():
			// Events published before ctx ended still belong to the stream.
			s.Drain(send)
			return ctx.Err()
		}
	}
}
