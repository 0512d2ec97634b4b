package api

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWatchDeliversEventsInOrderFromTheSnapshotOn(t *testing.T) {
	want := []Event{
		{Type: EventSnapshot, Info: &Info{EnginePID: 7}, Processes: []Process{{ID: "a", Name: "two\nlines"}}},
		{Type: EventProcess, Process: &Process{ID: "b"}},
		{Type: EventRemoved, ID: "a"},
		{Type: EventNotice, Notice: strings.Repeat("long ", 100_000)},
	}
	m := infoMux("1")
	m.HandleWatch(func(ctx context.Context, _ WatchInput, send func(Event) error) error {
		for _, e := range want {
			if err := send(e); err != nil {
				return err
			}
		}
		<-ctx.Done()
		return ctx.Err()
	})
	c := connect(t, serve(t, m))
	var got []Event
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

func TestWatchEndsWithWhyItEnded(t *testing.T) {
	refused := Errorf(CodeUnavailable, "too many watchers")
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
			m.HandleWatch(func(_ context.Context, _ WatchInput, send func(Event) error) error {
				for range tc.events {
					if err := send(Event{Type: EventNotice}); err != nil {
						return err
					}
				}
				return tc.err
			})
			c := connect(t, serve(t, m))
			events, final := drain(c, t.Context())
			if events != tc.events || !errors.Is(final, CodeUnavailable) || !strings.Contains(final.Error(), tc.want) {
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

func TestAWatcherThatTakesNothingIsCut(t *testing.T) {
	m := infoMux("1")
	m.stall = time.Millisecond
	cut := make(chan error, 1)
	m.HandleWatch(func(_ context.Context, _ WatchInput, send func(Event) error) error {
		var err error
		for err == nil {
			err = send(Event{Type: EventNotice, Notice: strings.Repeat("x", 64<<10)})
		}
		cut <- err
		return err
	})
	c := connect(t, serve(t, m))
	var final error
	for _, err := range c.Watch(t.Context()) {
		if err == nil && cut != nil {
			if err := <-cut; !errors.Is(err, CodeUnavailable) {
				t.Errorf("send = %v, want CodeUnavailable", err)
			}
			cut = nil
		}
		final = err
	}
	if !errors.Is(final, CodeUnavailable) {
		t.Errorf("Watch ends with %v, want CodeUnavailable", final)
	}
}

func TestAQuietStreamEndsInOrder(t *testing.T) {
	m := infoMux("1")
	m.stall = time.Millisecond
	m.HandleWatch(func(_ context.Context, _ WatchInput, send func(Event) error) error {
		err := send(Event{Type: EventSnapshot})
		<-time.After(2 * m.stall) // the deadline of that event has passed then
		return err
	})
	events, err := drain(connect(t, serve(t, m)), t.Context())
	if events != 1 || !errors.Is(err, CodeUnavailable) || !strings.Contains(err.Error(), "ended the stream") {
		t.Errorf("%d events and %v, want one and the stream's end", events, err)
	}
}

func TestWatchEndsWithTheEngine(t *testing.T) {
	m := infoMux("1")
	m.HandleWatch(func(ctx context.Context, _ WatchInput, send func(Event) error) error {
		if err := send(Event{Type: EventSnapshot}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	dir := shortDir(t)
	stop := serveAt(t, m, dir)
	c := connect(t, ConnectOptions{DataDir: dir})
	for e, err := range c.Watch(t.Context()) {
		if err == nil && e.Type == EventSnapshot {
			stop()
			continue
		}
		if !errors.Is(err, CodeUnavailable) {
			t.Errorf("Watch ends with %v, want CodeUnavailable", err)
		}
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	m := infoMux("1")
	gone := make(chan struct{})
	m.HandleWatch(func(ctx context.Context, _ WatchInput, send func(Event) error) error {
		defer close(gone)
		if err := send(Event{Type: EventSnapshot}); err != nil {
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
	c := connect(t, ConnectOptions{DataDir: dir})
	stop()
	if _, err := drain(c, t.Context()); !errors.Is(err, CodeUnavailable) {
		t.Errorf("Watch = %v, want CodeUnavailable", err)
	}
}

func TestAnEventThatTheEnginesDeathCutsIsDropped(t *testing.T) {
	const whole = "data: {\"type\":\"notice\"}\n\n"
	for n := range len(whole) - 1 {
		events := 0
		var final error
		for _, err := range readEvents(strings.NewReader(whole + whole[:n])) {
			if final = err; err == nil {
				events++
			}
		}
		if events != 1 || !errors.Is(final, CodeUnavailable) {
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
