package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/cellwidth"
	"tandem/engine/base/sleep"
	"tandem/engine/page/devices"
)

const (
	// beatInterval is the interval between comments on an idle stream, which keep proxies from
	// closing the connection and detect a browser that has disconnected.
	beatInterval = 20 * time.Second
	// minRetry and maxRetry bound the delay before reconnecting to an engine.
	minRetry = 100 * time.Millisecond
	maxRetry = 5 * time.Second
	// sendTimeout is the maximum time for a browser to read one event.
	sendTimeout = 30 * time.Second
)

// events streams the engine's events as JSON, each an api.Event, while the browser is connected.
// When the engine cannot be reached, it sends the event "away" with the reason. After reconnecting,
// it sends a snapshot.
func (p *Page) events(w http.ResponseWriter, r *http.Request, d devices.Device) {
	machine := r.URL.Query().Get("host")
	if machine != "" && d.Session != "" {
		writeError(w, http.StatusForbidden, errors.New("this link shows one session only"))
		return
	}
	ctx, done := p.contextFor(r, d)
	defer done()
	w.Header().Set("Content-Type", "text/event-stream")
	s := sender{w, http.NewResponseController(w)}
	if s.comment() != nil {
		return
	}
	wait := minRetry
	for ctx.Err() == nil {
		heard, err := p.relay(ctx, machine, d, s)
		if errors.Is(err, errGone) || ctx.Err() != nil {
			return
		}
		// The engine was reachable: start over with a short delay.
		if heard {
			wait = minRetry
		}
		if s.event("away", refusal{Error: errorText(err)}) != nil {
			return
		}
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, maxRetry)
	}
}

var errGone = errors.New("the browser has disconnected")

func errorText(err error) string {
	if err == nil {
		return "the engine has stopped"
	}
	return err.Error()
}

// relay passes on the events of one engine until the engine or the browser disconnects. heard
// reports whether there was an event.
func (p *Page) relay(ctx context.Context, machine string, d devices.Device, s sender) (heard bool, err error) {
	engine, err := p.engines.connectTo(ctx, machine)
	if err != nil {
		return false, err
	}
	type told struct {
		event api.Event
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan told)
	go func() {
		defer close(next)
		for e, err := range engine.WatchFor(ctx, api.WatchInput{Lasting: true}) {
			select {
			case next <- told{e, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	beat := time.NewTicker(beatInterval)
	defer beat.Stop()
	for {
		select {
		case t, ok := <-next:
			if !ok || t.err != nil {
				return heard, t.err
			}
			heard = true
			e, shown := shownTo(d, t.event)
			if shown && s.event("", e) != nil {
				return heard, errGone
			}
		case <-beat.C:
			if s.comment() != nil {
				return heard, errGone
			}
		case <-ctx.Done():
			return heard, errGone
		}
	}
}

// shownTo returns the part of an event that a device may see: all of it or, for a link, what
// concerns its session.
func shownTo(d devices.Device, e api.Event) (api.Event, bool) {
	if d.Session == "" {
		if e.Request != nil {
			shown := *e.Request
			text := shown.Text(cellwidth.Spell, cellwidth.SpellLines) // engines of release 0.2.0 do not set it
			shown.Shown, e.Request = &text, &shown
		}
		return e, true
	}
	switch e.Type {
	case api.EventSnapshot:
		out := api.Event{Type: e.Type}
		for _, p := range e.Processes {
			if p.ID == d.Session {
				out.Processes = append(out.Processes, p)
			}
		}
		return out, true
	case api.EventProcess:
		return e, e.Process != nil && e.Process.ID == d.Session
	case api.EventRemoved:
		return e, e.ID == d.Session
	case api.EventStopped:
		return api.Event{Type: e.Type}, true
	}
	return e, false
}

// A sender writes server-sent events, see the HTML standard.
type sender struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s sender) event(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	return s.send(fmt.Sprintf("%sdata: %s\n\n", name, text))
}

func (s sender) comment() error { return s.send(":\n\n") }

func (s sender) send(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(sendTimeout)) // not supported by recorders in tests
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}
