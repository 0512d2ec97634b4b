package engine

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/agent/approval"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/control/supervise"
	"tandem/engine/service"
)

// A quietWriter receives an event stream and signals its first event.
type quietWriter struct {
	*httptest.ResponseRecorder
	first chan struct{}
	once  sync.Once
}

func (w *quietWriter) SetWriteDeadline(time.Time) error { return nil }

func (w *quietWriter) Flush() { w.once.Do(func() { close(w.first) }) }

// quietEngine returns a service without machines or problems.
func quietEngine(c *supervise.Control, a *approval.Arbiter) *service.Engine {
	return &service.Engine{
		Machines: func() []api.Machine { return nil },
		Control:  c, Layouts: &service.Layouts{}, Arbiter: a,
		Info: func() api.Info { return api.Info{} }, Unsaved: func() string { return "" },
	}
}

func TestAgentIsPresentWhileItWatches(t *testing.T) {
	t.Parallel()
	withLoop(t, func(r *loop) {
		rec := record("a")
		rec.Owner, rec.Lease = "agent1", string(api.LeaseDetached)
		r.startRunning(rec)
		e := quietEngine(r.c, &approval.Arbiter{})
		mux := server.NewMux(nil)
		e.Handle(mux)
		ctx, cancel := context.WithCancel(r.Context())
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/events.watch", nil)
		request.Header.Set("Tandem-Owner", "agent1")
		w := &quietWriter{ResponseRecorder: httptest.NewRecorder(), first: make(chan struct{})}
		done := make(chan struct{})
		go func() {
			defer close(done)
			mux.ServeHTTP(w, request)
		}()
		<-w.first
		time.Sleep(time.Hour)
		if p := r.view("a"); p.Owner.Left {
			r.Error("it counts as gone while it watches")
		}
		cancel()
		<-done
		time.Sleep(time.Minute)
		if p := r.view("a"); !p.Owner.Left {
			r.Error("it counts as here when it watches no more")
		}
	})
}

func TestAgentReceivesNoRequestsOfOthers(t *testing.T) {
	t.Parallel()
	for owner, told := range map[string]bool{"agent1": false, "": true} {
		withLoop(t, func(r *loop) {
			path := filepath.Join(r.TempDir(), "policy.toml")
			if err := os.WriteFile(path, []byte(`default = "ask"`), 0o600); err != nil {
				r.Fatal(err)
			}
			asked := approval.New(path, slog.New(slog.DiscardHandler), func(api.Event) {})
			another := api.Caller{Name: "another", Owner: "another", Call: "1", Tools: []string{"exec"}}
			go asked.CheckCall(api.WithCaller(r.Context(), another), api.PolicyCheckInput{Subjects: []api.Subject{{Command: "of another"}}})
			synctest.Wait()
			e := quietEngine(r.c, asked)
			e.Problems = []string{"a problem"}
			mux := server.NewMux(nil)
			e.Handle(mux)
			ctx, cancel := context.WithCancel(r.Context())
			request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/events.watch", nil)
			request.Header.Set("Tandem-Owner", owner)
			w := &quietWriter{ResponseRecorder: httptest.NewRecorder(), first: make(chan struct{})}
			done := make(chan struct{})
			go func() {
				defer close(done)
				mux.ServeHTTP(w, request)
			}()
			<-w.first
			time.Sleep(time.Hour)
			cancel()
			<-done
			if got := strings.Contains(w.Body.String(), "of another"); got != told {
				r.Errorf("%q: it is told: %v", owner, got)
			}
			if kept := len(e.Problems) > 0; kept == told {
				r.Errorf("%q: the problems wait: %v", owner, kept)
			}
		})
	}
}

func TestOnlyTheUserWatchesMachines(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	for _, test := range []struct {
		client *machine
		in     api.WatchInput
		listed int
	}{
		{m.machine, api.WatchInput{Machines: true}, 1},
		{m.machine, api.WatchInput{}, 0},
		{m.agent("a1"), api.WatchInput{Machines: true}, 0},
	} {
		for e, err := range test.client.client.WatchFor(t.Context(), test.in) {
			if err != nil || e.Type != api.EventSnapshot || len(e.Machines) != test.listed {
				t.Errorf("%+v: %d machines in %s: %v", test.in, len(e.Machines), e.Type, err)
			}
			break
		}
	}
}
