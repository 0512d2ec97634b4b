package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"
)

const (
	watchName = "events.watch"

	// watchStall is how long a reader may take nothing before it is cut; it
	// then re-lists by watching again.
	watchStall    = 10 * time.Second
	maxEventBytes = 64 << 20
)

// The stream is that of server-sent events (HTML standard, 9.2): one "data:"
// line of JSON an event; an "event: error" carries an Error and ends it.
var (
	dataField  = []byte("data: ")
	errorField = []byte("event: error\n")
	blockEnd   = []byte("\n\n")
)

// WatchInput says which events a reader of events.watch wants; it travels in the
// query of the URL.
type WatchInput struct {
	// Lasting leaves out what concerns one-shot commands alone: there are many,
	// and most are over when one hears of them. In the URL: lasting=true.
	Lasting bool
}

func (in WatchInput) query() string {
	if in.Lasting {
		return "?lasting=true"
	}
	return ""
}

func watchInput(r *http.Request) (in WatchInput, err error) {
	if text := r.URL.Query().Get("lasting"); text != "" {
		if in.Lasting, err = strconv.ParseBool(text); err != nil {
			return in, Errorf(CodeInvalid, "watch events: lasting=%.20q is neither true nor false", text)
		}
	}
	return in, nil
}

// HandleWatch serves events.watch: f sends a snapshot and then what changes
// until ctx ends or send fails. Send blocks while the client is slow and fails
// when it has taken nothing for ten seconds. An error that f returns reaches
// the client's Watch.
func (m *Mux) HandleWatch(f func(ctx context.Context, in WatchInput, send func(Event) error) error) {
	m.add(watchName, http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
		s := &eventWriter{w: w, rc: http.NewResponseController(w), stall: m.stall}
		// The stream's end is written after this, long after the last event perhaps.
		defer func() { _ = s.rc.SetWriteDeadline(time.Time{}) }()
		ctx, wrong := m.withCaller(r)
		if wrong != nil {
			writeError(w, wrong)
			return
		}
		in, err := watchInput(r)
		if err == nil {
			err = guard(watchName, func() error {
				if err := m.gate(ctx, watchName, Read, &in); err != nil {
					return err
				}
				return f(ctx, in, s.send)
			})
		}
		if err != nil && ctx.Err() == nil {
			s.fail(AsError(err))
		}
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

func (s *eventWriter) send(e Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return Errorf(CodeInternal, "send event %s: %v", e.Type, err)
	}
	return s.write(nil, data)
}

func (s *eventWriter) write(field, data []byte) error {
	if !s.started {
		s.started = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("Cache-Control", "no-store")
	}
	block := slices.Concat(field, dataField, data, blockEnd)
	err := s.rc.SetWriteDeadline(time.Now().Add(s.stall))
	if err == nil {
		_, err = s.w.Write(block)
	}
	if err == nil {
		err = s.rc.Flush()
	}
	if err != nil {
		s.failed = true
		return Errorf(CodeUnavailable, "send event: %v", root(err))
	}
	return nil
}

func (s *eventWriter) fail(e *Error) {
	switch {
	case s.failed:
	case !s.started:
		writeError(s.w, e)
	default:
		data, _ := json.Marshal(e)
		_ = s.write(errorField, data) // a client that has gone need not know
	}
}

// Watch streams events, a snapshot first, until ctx ends or the engine goes;
// the last pair then carries the error: ctx's, or an *Error. A reader that
// falls far behind is cut. After CodeUnavailable, watching again starts with a
// new snapshot.
func (c *Client) Watch(ctx context.Context) iter.Seq2[Event, error] {
	return c.WatchFor(ctx, WatchInput{})
}

// WatchFor is Watch for some of the events.
func (c *Client) WatchFor(ctx context.Context, in WatchInput) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		body, err := c.openEvents(ctx, in)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer body.Close()
		for e, err := range readEvents(body) {
			var final *Error
			if err != nil && (ctx.Err() != nil || !errors.As(err, &final)) {
				err = c.lost(ctx, watchName, err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (c *Client) openEvents(ctx context.Context, in WatchInput) (io.ReadCloser, error) {
	req, err := c.request(ctx, http.MethodGet, watchName+in.query(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.lost(ctx, watchName, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return nil, decodeError(watchName, resp.StatusCode, text)
	}
	return resp.Body, nil
}

// readEvents decodes a stream; its last pair carries an error.
func readEvents(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		blocks := bufio.NewScanner(r)
		blocks.Buffer(nil, maxEventBytes)
		blocks.Split(splitBlocks)
		for blocks.Scan() {
			block, failed := bytes.CutPrefix(blocks.Bytes(), errorField)
			data, ok := bytes.CutPrefix(block, dataField)
			if !ok {
				continue // a comment, or of a newer engine
			}
			e, err := decodeEvent(data, failed)
			if !yield(e, err) || err != nil {
				return
			}
		}
		err := blocks.Err()
		if err == nil {
			err = Errorf(CodeUnavailable, "watch events: the engine ended the stream").WithHint(hintAgain)
		}
		yield(Event{}, err)
	}
}

// splitBlocks is a bufio.SplitFunc for what ends with an empty line. A block
// that the stream's end has cut is dropped, as the standard asks.
func splitBlocks(data []byte, _ bool) (advance int, block []byte, err error) {
	i := bytes.Index(data, blockEnd)
	if i < 0 {
		return 0, nil, nil
	}
	return i + len(blockEnd), data[:i], nil
}

func decodeEvent(data []byte, failed bool) (Event, error) {
	if failed {
		return Event{}, decodeError(watchName, http.StatusOK, data)
	}
	var e Event
	if err := json.Unmarshal(data, &e); err != nil {
		return Event{}, Errorf(CodeInternal, "watch events: decode event: %v", err)
	}
	return e, nil
}
