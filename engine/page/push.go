package page

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/page/devices"
	"tandem/engine/page/push"
	"tandem/engine/sleep"
)

const (
	// settleTime is how long something has needed the person before they are told: it may be
	// over at once. It is the least time between two pushes too.
	settleTime = 5 * time.Second
	// lookPace is how often it is looked whether there is a running engine, and whether a device
	// wants to be told.
	lookPace = 5 * time.Second
)

// Notify says when devices are told that the person is needed.
type Notify struct {
	Sender *push.Sender // nil: never
	// Running reaches the engine if it runs, and starts none.
	Running func(ctx context.Context) (*client.Client, error)
	Machine string                   // how this machine is called
	Quiet   func(now time.Time) bool // the person wants to hear nothing now

	settle time.Duration // settleTime; less in tests
}

// A pushing is the answer of GET /push.
type pushing struct {
	Key string `json:"key"` // to subscribe with
	On  bool   `json:"on"`  // this device is told
}

// pushKey tells how a browser subscribes.
func (p *Page) pushKey(w http.ResponseWriter, _ *http.Request, d devices.Device) {
	if !p.mayBeTold(w, d) {
		return
	}
	key, err := p.o.Notify.Sender.Key()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err)
		return
	}
	answer(w, pushing{key, d.Push != nil})
}

// subscribe keeps a browser's subscription, or forgets it.
func (p *Page) subscribe(w http.ResponseWriter, r *http.Request, d devices.Device) {
	if !p.mayBeTold(w, d) {
		return
	}
	var in struct {
		Subscription json.RawMessage `json:"subscription"` // null: none
	}
	if err := readJSON(w, r, &in, maxBody); err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	if string(in.Subscription) == "null" {
		in.Subscription = nil
	}
	if in.Subscription != nil {
		if err := push.Check(in.Subscription); err != nil {
			refuse(w, http.StatusUnprocessableEntity, err)
			return
		}
	}
	if err := p.o.Book.Subscribe(d.ID, in.Subscription); err != nil {
		refuse(w, http.StatusInternalServerError, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// mayBeTold refuses devices that may not act, and has this server ask no other for them.
func (p *Page) mayBeTold(w http.ResponseWriter, d devices.Device) bool {
	switch {
	case p.o.Notify.Sender == nil:
		refuse(w, http.StatusNotFound, errors.New("this page sends no notifications"))
	case d.ReadOnly:
		refuse(w, http.StatusForbidden, errors.New("this device may only look"))
	default:
		return true
	}
	return false
}

// notify tells devices that the person is needed, until ctx ends.
func (p *Page) notify(ctx context.Context) {
	n := p.o.Notify
	if n.Sender == nil {
		return
	}
	var needs push.Needs
	for ctx.Err() == nil {
		if n.Sender.Wanted() {
			p.watchNeeds(ctx, &needs)
		}
		_ = sleep.For(ctx, lookPace)
	}
}

// watchNeeds follows one engine until it goes.
func (p *Page) watchNeeds(ctx context.Context, needs *push.Needs) {
	engine, err := p.o.Notify.Running(ctx)
	if err != nil {
		return // it is tried again
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
			p.tellNeeds(ctx, needs)
		}
	}
}

// tellNeeds tells that the person is needed, if that is so still. What comes in quiet hours is
// not told later.
func (p *Page) tellNeeds(ctx context.Context, needs *push.Needs) {
	if !needs.News() {
		return
	}
	needs.Told()
	if n := p.o.Notify; n.Quiet == nil || !n.Quiet(time.Now()) {
		n.Sender.Send(ctx, n.Machine+" needs you")
	}
}
