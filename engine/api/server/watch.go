package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// watchStall is how long a reader may read nothing before it is disconnected. It can watch again
// and gets a new snapshot.
const watchStall = 10 * time.Second

func watchInput(r *http.Request) (in api.WatchInput, wrong *api.Error) {
	query := r.URL.Query()
	for name, flag := range map[string]*bool{"lasting": &in.Lasting, "machines": &in.Machines} {
		text := query.Get(name)
		if text == "" {
			continue
		}
		var err error
		if *flag, err = strconv.ParseBool(text); err != nil {
			return in, api.Errorf(api.CodeInvalid, "watch events: %s=%.20q: must be true or false", name, text)
		}
	}
	return in, nil
}

// HandleWatch serves events.watch. f must send a snapshot and then the changes, until ctx is done
// or send fails. send blocks while the client is slow, and fails if nothing can be sent for
// m.Stall. If f returns an error, the client's Watch returns it.
func (m *Mux) HandleWatch(f func(ctx context.Context, in api.WatchInput, send func(api.Event) error) error) {
	entry, _ := api.Find(wire.WatchName)
	m.addRoute(wire.WatchName, http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
		s := &eventWriter{w: w, rc: http.NewResponseController(w), stall: m.Stall}
		// The end of the stream is written later, perhaps long after the deadline of the last
		// event.
		defer func() { _ = s.rc.SetWriteDeadline(time.Time{}) }()
		var in api.WatchInput
		m.serve(w, r, &call{
			Entry: entry, effect: entry.Effect, in: &in, lasting: true,
			read: func(_ http.ResponseWriter, r *http.Request) (wrong *api.Error) {
				in, wrong = watchInput(r)
				return wrong
			},
			handle: func(ctx context.Context) (any, error) { return nil, f(ctx, in, s.sendEvent) },
			answer: func(_ any, failure *api.Error) {
				if failure != nil && r.Context().Err() == nil {
					s.sendError(failure)
				}
			},
		})
	})
}

// An eventWriter is the engine's end of one event stream.
type eventWriter struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	stall   time.Duration
	started bool
	failed  bool
}

func (s *eventWriter) sendEvent(e api.Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return api.Errorf(api.CodeInternal, "send event %s: %v", e.Type, err)
	}
	return s.writeBlock(nil, data)
}

func (s *eventWriter) writeBlock(field, data []byte) error {
	if !s.started {
		s.started = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("Cache-Control", "no-store")
	}
	block := slices.Concat(field, wire.DataField, data, wire.BlockEnd)
	err := s.rc.SetWriteDeadline(time.Now().Add(s.stall))
	if err == nil {
		_, err = s.w.Write(block)
	}
	if err == nil {
		err = s.rc.Flush()
	}
	if err != nil {
		s.failed = true
		return api.Errorf(api.CodeUnavailable, "send event: %v", wire.Root(err))
	}
	return nil
}

func (s *eventWriter) sendError(e *api.Error) {
	switch {
	case s.failed:
	case !s.started:
		writeError(s.w, e)
	default:
		data, _ := json.Marshal(e)
		_ = s.writeBlock(wire.ErrorField, data) // best effort: the client may be gone
	}
}
