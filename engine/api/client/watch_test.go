package client

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
)

func TestWatchDeliversEventsInOrderAfterTheSnapshot(t *testing.T) {
	want := []api.Event{
		{Type: api.EventSnapshot, Info: &api.Info{EnginePID: 7}, Processes: []api.Process{{ID: "a", Name: "two\nlines"}}},
		{Type: api.EventProcess, Process: &api.Process{ID: "b"}},
		{Type: api.EventRemoved, ID: "a"},
		{Type: api.EventNotice, Notice: strings.Repeat("long ", 100_000)},
	}
	m := infoMux("1")
	m.HandleWatch(func(ctx context.Context, _ api.WatchInput, send func(api.Event) error) error {
		for _, e := range want {
			if err := send(e); err != nil {
				return err
			}
		}
		<-ctx.Done()
		return ctx.Err()
	})
	c := connect(t, serve(t, m))
	var got []api.Event
	for e, err := range c.Watch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, e); len(got) == len(want) {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events differ (-sent +got):\n%s", diff)
	}
}

func TestWatchReturnsTheFinalError(t *testing.T) {
	refused := api.Errorf(api.CodeUnavailable, "too many watchers")
	for _, tc := range []struct {
		name   string
		events int // before the end
		err    error
		want   string
	}{
		{"refused at once", 0, refused, "too many watchers"},
		{"failed on the way", 2, refused, "too many watchers"},
		{"cut", 2, nil, "ended the stream"},
		{"cut before the snapshot", 0, nil, "ended the stream"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := infoMux("1")
			m.HandleWatch(func(_ context.Context, _ api.WatchInput, send func(api.Event) error) error {
				for range tc.events {
					if err := send(api.Event{Type: api.EventNotice}); err != nil {
						return err
					}
				}
				return tc.err
			})
			c := connect(t, serve(t, m))
			events, final := drain(c, t.Context())
			if events != tc.events || !errors.Is(final, api.CodeUnavailable) || !strings.Contains(final.Error(), tc.want) {
				t.Errorf("%d events and %v, want %d and CodeUnavailable with %q", events, final, tc.events, tc.want)
			}
		})
	}
}

// drain counts the events until the error that ends a watch.
func drain(c *Client, ctx context.Context) (events int, final error) {
	for _, err := range c.Watch(ctx) {
		if err != nil {
			return events, err
		}
		events++
	}
	return events, nil
}

func TestStalledWatcherIsDisconnected(t *testing.T) {
	m := infoMux("1")
	withPipes(t, m, func(t *testing.T, p pipes) {
		cut := make(chan error, 1)
		m.HandleWatch(func(_ context.Context, _ api.WatchInput, send func(api.Event) error) error {
			var err error
			for err == nil {
				err = send(api.Event{Type: api.EventNotice, Notice: strings.Repeat("x", 64<<10)})
			}
			cut <- err
			return err
		})
		began := time.Now()
		var final error
		for _, err := range p.connect(t, new(atomic.Int32)).Watch(t.Context()) {
			if err == nil && cut != nil {
				if err := <-cut; !errors.Is(err, api.CodeUnavailable) || time.Since(began) != m.Stall {
					t.Errorf("send = %v after %v, want CodeUnavailable after %v", err, time.Since(began), m.Stall)
				}
				cut = nil
			}
			final = err
		}
		if !errors.Is(final, api.CodeUnavailable) {
			t.Errorf("Watch ends with %v, want CodeUnavailable", final)
		}
	})
}

func TestQuietStreamEndsCleanly(t *testing.T) {
	m := infoMux("1")
	withPipes(t, m, func(t *testing.T, p pipes) {
		m.HandleWatch(func(_ context.Context, _ api.WatchInput, send func(api.Event) error) error {
			err := send(api.Event{Type: api.EventSnapshot})
			<-time.After(2 * m.Stall) // the deadline of that event has passed then
			return err
		})
		events, err := drain(p.connect(t, new(atomic.Int32)), t.Context())
		if events != 1 || !errors.Is(err, api.CodeUnavailable) || !strings.Contains(err.Error(), "ended the stream") {
			t.Errorf("%d events and %v, want one and the stream's end", events, err)
		}
	})
}

func TestWatchEndsWithTheEngine(t *testing.T) {
	m := infoMux("1")
	m.HandleWatch(func(ctx context.Context, _ api.WatchInput, send func(api.Event) error) error {
		if err := send(api.Event{Type: api.EventSnapshot}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	dir := shortDir(t)
	stop := serveAt(t, m, dir)
	c := connect(t, Options{DataDir: dir})
	for e, err := range c.Watch(t.Context()) {
		if err == nil && e.Type == api.EventSnapshot {
			stop()
			continue
		}
		if !errors.Is(err, api.CodeUnavailable) {
			t.Errorf("Watch ends with %v, want CodeUnavailable", err)
		}
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	m := infoMux("1")
	gone := make(chan struct{})
	m.HandleWatch(func(ctx context.Context, _ api.WatchInput, send func(api.Event) error) error {
		defer close(gone)
		if err := send(api.Event{Type: api.EventSnapshot}); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	})
	c := connect(t, serve(t, m))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var final error
	for _, err := range c.Watch(ctx) {
		cancel()
		final = err
	}
	if !errors.Is(final, context.Canceled) {
		t.Errorf("Watch ends with %v, want context.Canceled", final)
	}
	<-gone
}

func TestWatchWithoutAnEngineIsUnavailable(t *testing.T) {
	dir := shortDir(t)
	stop := serveAt(t, infoMux("1"), dir)
	c := connect(t, Options{DataDir: dir})
	stop()
	if _, err := drain(c, t.Context()); !errors.Is(err, api.CodeUnavailable) {
		t.Errorf("Watch = %v, want CodeUnavailable", err)
	}
}

func TestEventTruncatedByAnEngineCrashIsDropped(t *testing.T) {
	const whole = "data: {\"type\":\"notice\"}\n\n"
	for n := range len(whole) - 1 {
		events := 0
		var final error
		for _, err := range readEvents(strings.NewReader(whole + whole[:n])) {
			if final = err; err == nil {
				events++
			}
		}
		if events != 1 || !errors.Is(final, api.CodeUnavailable) {
			t.Errorf("cut after %d bytes: %d events and %v, want one and CodeUnavailable", n, events, final)
		}
	}
}

func FuzzReadEvents(f *testing.F) {
	f.Add([]byte("data: {\"type\":\"notice\"}\n\nevent: error\ndata: {\"code\":\"x\"}\n\n"))
	f.Add([]byte(": comment\r\ndata: {\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		var final error
		for _, err := range readEvents(strings.NewReader(string(stream))) {
			if final != nil {
				t.Fatal("something follows the error that ends the stream")
			}
			final = err
		}
		if final == nil {
			t.Fatal("the stream ends without an error")
		}
	})
}
