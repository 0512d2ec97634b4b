package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"tandem/engine/api"
	"tandem/engine/cellwidth"
	"tandem/engine/page/devices"
	"tandem/engine/sleep"
)

const (
	// beatPace is how often something is sent when nothing happens, so that whoever is in
	// between keeps the connection and a browser that has gone is noticed.
	beatPace = 20 * time.Second
	// againFirst and againMost are how long it takes until an engine that is away is asked again.
	againFirst = 100 * time.Millisecond
	againMost  = 5 * time.Second
	// sendTime is how long a browser may take to read one event.
	sendTime = 30 * time.Second
)

// events sends the engine's events, for as long as the browser listens: each as one JSON
// text, api.Event. While there is no engine, the event "away" says why; a snapshot follows
// when it is back.
func (p *Page) events(w http.ResponseWriter, r *http.Request, d devices.Device) {
	machine := r.URL.Query().Get("host")
	if machine != "" && d.Session != "" {
		refuse(w, http.StatusForbidden, errors.New("this link shows one session only"))
		return
	}
	ctx, done := p.during(r, d)
	defer done()
	w.Header().Set("Content-Type", "text/event-stream")
	s := sender{w, http.NewResponseController(w)}
	if s.comment() != nil {
		return
	}
	wait := againFirst
	for ctx.Err() == nil {
		heard, err := p.relay(ctx, machine, d, s)
		if errors.Is(err, errGone) || ctx.Err() != nil {
			return
		}
		if heard {
			wait = againFirst
		}
		if s.event("away", refusal{Error: errorText(err)}) != nil {
			return
		}
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, againMost)
	}
}

var errGone = errors.New("the browser has gone")

func errorText(err error) string {
	if err == nil {
		return "the engine has stopped"
	}
	return err.Error()
}

// relay passes the events of one engine on until it or the browser goes; heard says that
// there was one.
func (p *Page) relay(ctx context.Context, machine string, d devices.Device, s sender) (heard bool, err error) {
	engine, err := p.engines.of(ctx, machine)
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
	beat := time.NewTicker(beatPace)
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

// shownTo is what of an event a device may see: all of it, or what is about the session of
// its link.
func shownTo(d devices.Device, e api.Event) (api.Event, bool) {
	if d.Session == "" {
		if e.Request != nil {
			shown := *e.Request
			text := shown.Text(cellwidth.Spell, cellwidth.SpellLines) // an engine of release 0.2.0 does not say
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

// A sender writes server-sent events (HTML standard, "Server-sent events").
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
	_ = s.control.SetWriteDeadline(time.Now().Add(sendTime)) // a recorder of tests has none
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}
