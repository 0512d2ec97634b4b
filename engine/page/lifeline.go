package page

import (
	"context"
	"net/http"
	"time"

	"tandem/engine/page/devices"
)

// revokedLook is how often it is looked whether the device of what is open is still paired.
const revokedLook = 500 * time.Millisecond

// A lifeline is something that goes on, an attachment or a stream of events, until its
// device is revoked or the page is closed.
type lifeline struct{ cut context.CancelFunc }

// during gives a context that ends with the request, the device or the page.
func (p *Page) during(r *http.Request, d devices.Device) (context.Context, func()) {
	ctx, cut := context.WithCancel(r.Context())
	l := &lifeline{cut}
	p.mu.Lock()
	p.open[l] = struct{}{}
	p.mu.Unlock()
	go p.follow(ctx, d, cut)
	return ctx, func() {
		cut()
		p.mu.Lock()
		delete(p.open, l)
		p.mu.Unlock()
	}
}

// follow cuts what is open once its device is not paired any more. A book that cannot be
// read cuts nothing: it says nothing about the device.
func (p *Page) follow(ctx context.Context, d devices.Device, cut func()) {
	tick := time.NewTicker(revokedLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, ok, err := p.o.Book.Get(d.ID); err == nil && !ok {
			cut()
			return
		}
	}
}
