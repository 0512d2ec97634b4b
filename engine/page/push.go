package page

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/sleep"
	"tandem/engine/page/devices"
	"tandem/engine/page/push"
)

const (
	// settleTime is how long a process must have needed the user before a push is sent, because the
	// need is often brief. It is also the minimum interval between two pushes.
	settleTime = 5 * time.Second
	// checkInterval is the interval at which to check whether an engine runs and whether any device
	// has subscribed to pushes.
	checkInterval = 5 * time.Second
)

// Notify configures when to notify devices that the user is needed.
type Notify struct {
	Sender *push.Sender // nil disables notifications
	// Running connects to the engine if it runs, without starting one.
	Running func(ctx context.Context) (*client.Client, error)
	Machine string                   // name of this machine
	Quiet   func(now time.Time) bool // reports whether the user wants no notifications now

	settle time.Duration // settleTime, except in tests
}

// A pushStatus is the response to GET /push.
type pushStatus struct {
	Key string `json:"key"` // public key to subscribe with
	On  bool   `json:"on"`  // this device gets pushes
}

// servePushKey returns how a browser subscribes.
func (p *Page) servePushKey(w http.ResponseWriter, _ *http.Request, d devices.Device) {
	if !p.checkPush(w, d) {
		return
	}
	key, err := p.o.Notify.Sender.Key()
	if err != nil {
		writeError(w, http.StatusInternalServerError, err)
		return
	}
	writeJSON(w, pushStatus{key, d.Push != nil})
}

// subscribe saves or removes a browser's subscription.
func (p *Page) subscribe(w http.ResponseWriter, r *http.Request, d devices.Device) {
	if !p.checkPush(w, d) {
		return
	}
	var in struct {
		Subscription json.RawMessage `json:"subscription"` // null removes it
	}
	if err := readJSON(w, r, &in, maxBody); err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	if string(in.Subscription) == "null" {
		in.Subscription = nil
	}
	if in.Subscription != nil {
		if err := push.Check(in.Subscription); err != nil {
			writeError(w, http.StatusUnprocessableEntity, err)
			return
		}
	}
	if err := p.o.Book.Subscribe(d.ID, in.Subscription); err != nil {
		writeError(w, http.StatusInternalServerError, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// checkPush rejects devices that may not act, and all devices if notifications are disabled.
func (p *Page) checkPush(w http.ResponseWriter, d devices.Device) bool {
	switch {
	case p.o.Notify.Sender == nil:
		writeError(w, http.StatusNotFound, errors.New("this page sends no notifications"))
	case d.ReadOnly:
		writeError(w, http.StatusForbidden, errors.New("this device is read-only"))
	default:
		return true
	}
	return false
}

// notifyDevices pushes notifications that the user is needed, until ctx ends.
func (p *Page) notifyDevices(ctx context.Context) {
	n := p.o.Notify
	if n.Sender == nil {
		return
	}
	var needs push.Needs
	for ctx.Err() == nil {
		if n.Sender.Wanted() {
			p.watchNeeds(ctx, &needs)
		}
		_ = sleep.For(ctx, checkInterval)
	}
}

// watchNeeds follows the events of one engine until it disconnects.
func (p *Page) watchNeeds(ctx context.Context, needs *push.Needs) {
	engine, err := p.o.Notify.Running(ctx)
	if err != nil {
		return // notifyDevices retries
	}
	defer engine.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := make(chan api.Event)
	go func() {
		defer close(events)
		for e, err := range engine.WatchFor(ctx, api.WatchInput{Lasting: true}) {
			if err != nil {
				return
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	settle := time.NewTimer(p.o.Notify.settle)
	settle.Stop()
	for waits := false; ; {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			needs.Take(e)
			if needs.News() && !waits {
				waits = true
				settle.Reset(p.o.Notify.settle)
			}
		case <-settle.C:
			waits = false
			p.pushNeeds(ctx, needs)
		}
	}
}

// pushNeeds sends a push if the user is still needed. It drops pushes during quiet hours.
func (p *Page) pushNeeds(ctx context.Context, needs *push.Needs) {
	if !needs.News() {
		return
	}
	// Mark them even in quiet hours, so that they are not sent later.
	needs.Told()
	if n := p.o.Notify; n.Quiet == nil || !n.Quiet(time.Now()) {
		n.Sender.Send(ctx, n.Machine+" needs you")
	}
}
