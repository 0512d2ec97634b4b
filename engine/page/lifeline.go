package page

import (
	"context"
	"net/http"
	"time"

	"tandem/engine/page/devices"
)

// revokedInterval is the interval at which to check whether a connected device is still paired.
const revokedInterval = 500 * time.Millisecond

// A lifeline is an attachment or a stream of events that lasts until its device is revoked or the
// page closes.
type lifeline struct{ cancel context.CancelFunc }

// contextFor returns a context that ends with the request, the device or the page.
func (p *Page) contextFor(r *http.Request, d devices.Device) (context.Context, func()) {
	ctx, cut := context.WithCancel(r.Context())
	l := &lifeline{cut}
	p.mu.Lock()
	p.open[l] = struct{}{}
	p.mu.Unlock()
	go p.cancelWhenRevoked(ctx, d, cut)
	return ctx, func() {
		cut()
		p.mu.Lock()
		delete(p.open, l)
		p.mu.Unlock()
	}
}

// cancelWhenRevoked cancels the context once the device is no longer paired. It ignores read errors, which
// say nothing about the device.
func (p *Page) cancelWhenRevoked(ctx context.Context, d devices.Device, cut func()) {
	tick := time.NewTicker(revokedInterval)
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
