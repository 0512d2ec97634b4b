package project

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/engine/api/server"
	"tandem/ui/cli/output"
)

// watchedEngine streams events and counts the lists of processes.
type watchedEngine struct {
	*server.Mux
	lists atomic.Int32
}

// newWatchedEngine returns an engine that streams events and then calls next.
func newWatchedEngine(next func(ctx context.Context), events ...api.Event) *watchedEngine {
	e := &watchedEngine{Mux: server.NewMux(nil)}
	e.HandleWatch(func(ctx context.Context, _ api.WatchInput, send func(api.Event) error) error {
		for _, event := range events {
			if err := send(event); err != nil {
				return err
			}
		}
		next(ctx)
		<-ctx.Done()
		return ctx.Err()
	})
	server.Handle(e.Mux, api.ProcessList, func(context.Context, api.ProcessListInput) (out api.ProcessListOutput, err error) {
		e.lists.Add(1)
		return api.ProcessListOutput{Processes: []api.Process{{ID: "w", State: api.StateWaiting}}}, nil
	})
	return e
}

func snapshot(s api.State) api.Event {
	return api.Event{Type: api.EventSnapshot, Processes: []api.Process{{ID: "other"}, {ID: "w", State: s}}}
}

// waitingRun returns a run that has requested the start of the process w. Its timeout only ends a
// failed test.
func waitingRun(conn *retry.Conn) (r *Run, web *step) {
	web = &step{entry: &Entry{Name: "web"}, action: actionStart, process: api.Process{ID: "w", Name: "web", State: api.StateWaiting}}
	return &Run{Out: output.Printer{Stdout: io.Discard, Stderr: io.Discard}, Conn: conn, Plan: &Plan{steps: []*step{web}}, Timeout: 10 * time.Second}, web
}

func nothing(context.Context) {}

func TestWatchReturnsAfterTheEventWithoutPolling(t *testing.T) {
	for name, c := range map[string]struct {
		event   api.Event
		timeout time.Duration
		says    string
	}{
		"started": {api.Event{Type: api.EventProcess, Process: &api.Process{ID: "w", State: api.StateRunning}}, 0, ""},
		"removed": {api.Event{Type: api.EventRemoved, ID: "w"}, 0, "start web: it was removed"},
		"missing": {api.Event{Type: api.EventSnapshot}, 0, "start web: it was removed"},
		"failed":  {api.Event{Type: api.EventProcess, Process: &api.Process{ID: "w", State: api.StateFailed, Error: "no disk"}}, 0, "start web: no disk"},
		"timeout": {api.Event{Type: api.EventProcess, Process: &api.Process{ID: "other", State: api.StateRunning}}, 300 * time.Millisecond, "start web: not started within 300ms"},
	} {
		e := newWatchedEngine(nothing, snapshot(api.StateWaiting), c.event)
		r, web := waitingRun(serve(t, e.Mux))
		r.Timeout = cmp.Or(c.timeout, r.Timeout)
		r.watch(t.Context(), time.Now())
		got := ""
		if web.err != nil {
			got = web.err.Error()
		}
		if !strings.HasPrefix(got, c.says) || web.announced != (c.says == "") {
			t.Errorf("%s: announced %v, error %q", name, web.announced, got)
		}
		if n := e.lists.Load(); n > 0 || len(r.errs) > 0 {
			t.Errorf("%s: listed the processes %d times; errors %v", name, n, r.errs)
		}
	}
}

func TestWatchContinuesWithTheNextEngine(t *testing.T) {
	dir, err := os.MkdirTemp("", "td") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	watched := make(chan struct{})
	stop := serveIn(t, dir, newWatchedEngine(func(context.Context) { close(watched) }, snapshot(api.StateWaiting)).Mux)
	conn, err := retry.Connect(t.Context(), func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: dir, Name: "test"})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	r, web := waitingRun(conn)
	done := make(chan struct{})
	go func() { defer close(done); r.watch(t.Context(), time.Now()) }()
	<-watched
	stop()
	next := newWatchedEngine(nothing, snapshot(api.StateRunning))
	t.Cleanup(serveIn(t, dir, next.Mux))
	<-done
	if !web.announced || web.err != nil || len(r.errs) > 0 {
		t.Errorf("announced %v, errors %v, %v", web.announced, web.err, r.errs)
	}
	if n := next.lists.Load(); n != 1 {
		t.Errorf("listed the processes %d times, want once after the loss", n)
	}
}

func TestWatchEndsWhenTheEventStreamFails(t *testing.T) {
	m := server.NewMux(nil)
	m.HandleWatch(func(context.Context, api.WatchInput, func(api.Event) error) error {
		return api.Errorf(api.CodeInternal, "no events")
	})
	r, _ := waitingRun(serve(t, m))
	r.watch(t.Context(), time.Now())
	if len(r.errs) != 1 || !strings.Contains(r.errs[0].Error(), "no events") {
		t.Error(r.errs)
	}
}
