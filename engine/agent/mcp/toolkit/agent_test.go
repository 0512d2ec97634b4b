package toolkit_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/api/client"
)

// A client chooses its own name.
func TestActorIsNamedAfterClientAndVersion(t *testing.T) {
	for _, c := range []struct{ name, version, want string }{
		{"claude-code", "1.2.3", "agent:claude-code/1.2.3"},
		{"", "1", "agent:unknown"},
		{"agent:agent:x", "", "agent:agent-x"},
		{"person", "", "agent:person"},
		{"a b\n\x1b[1m/c", "2 (beta)", "agent:a-b---1m-c/2--beta-"},
		{"ä€", "\xff", "agent:ä-"},
		{strings.Repeat("ä", 40), "1", "agent:" + strings.Repeat("ä", 32) + "/1"},
		{"x" + strings.Repeat("ä", 40), "", "agent:x" + strings.Repeat("ä", 31)},
	} {
		if got := toolkit.ActorOf(&sdk.Implementation{Name: c.name, Version: c.version}); got != c.want {
			t.Errorf("%q %q is %s, want %s", c.name, c.version, got, c.want)
		}
	}
	if got := toolkit.ActorOf(nil); got != "agent:unknown" {
		t.Errorf("without a name: %s", got)
	}
}

// A losingEngine exits during each watch, after the given number of events.
type losingEngine struct {
	*mcptest.Engine
	events []int
	began  []time.Time
	closed bool
}

func (e *losingEngine) WatchFor(ctx context.Context, _ api.WatchInput) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		n := 0
		if e.began = append(e.began, time.Now()); len(e.began) <= len(e.events) {
			n = e.events[len(e.began)-1]
		}
		for range n {
			if !yield(api.Event{Type: api.EventRemoved, ID: "web"}, nil) {
				return
			}
		}
		yield(api.Event{}, errors.New("the engine has exited"))
	}
}

func (e *losingEngine) Close() { e.closed = true }

func TestWatchPausesLongerAfterEachReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &losingEngine{Engine: &mcptest.Engine{}, events: []int{1, 0, 0, 2}}
		f := &toolkit.Agent{Engine: engine}
		f.Seen.Set("web", toolkit.Cursor{At: 7})
		ctx, cancel := context.WithCancel(t.Context())
		events := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.WatchEvents(ctx, func(api.Event) { events++ })
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		var pauses []time.Duration
		for i := range 12 {
			pauses = append(pauses, engine.began[i+1].Sub(engine.began[i]))
		}
		ms := time.Millisecond
		if want := []time.Duration{50 * ms, 100 * ms, 200 * ms, 50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 5000 * ms}; !slices.Equal(pauses, want) {
			t.Errorf("pauses are %v, want %v", pauses, want)
		}
		if _, known := f.Seen.At("web"); known || events != 3 || !f.EngineLost.Load() {
			t.Errorf("%d events, the removed process is known: %v", events, known)
		}
		cancel()
		<-done
		if !engine.closed {
			t.Error("the connection stays open")
		}
	})
}

func TestLostEngineIsReachedBeforeTheNextCall(t *testing.T) {
	asked := 0
	failure := errors.New("no engine")
	f := &toolkit.Agent{Actor: "agent:x", Owner: "x", Options: &toolkit.Options{
		Connect: func(context.Context, string, string, *api.Bounds) (*client.Client, error) {
			asked++
			return nil, failure
		},
	}}
	if err := f.EnsureEngine(t.Context()); err != nil || asked != 0 {
		t.Errorf("with an engine: %v, asked %d times", err, asked)
	}
	f.EngineLost.Store(true)
	for range 2 {
		if err := f.EnsureEngine(t.Context()); !errors.Is(err, failure) {
			t.Errorf("without one: %v", err)
		}
	}
	if asked != 2 || !f.EngineLost.Load() {
		t.Errorf("asked %d times", asked)
	}
}
