package retry

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
	"tandem/engine/api/sockets"
)

// An engine loses the next calls, as if they had made it crash.
type engine struct {
	testing.TB
	dir string

	mu     sync.Mutex
	losing int
	calls  []string
	waited []int
}

func newEngine(t *testing.T) *engine {
	dir, err := os.MkdirTemp("", "td") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &engine{TB: t, dir: dir}
}

// begin listens until the test ends, or until end is called.
func (e *engine) begin() (end func()) {
	e.Helper()
	mux := server.NewMux(nil)
	server.Handle(mux, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{Protocol: api.Protocol}, nil
	})
	server.Handle(mux, api.SessionWrite, func(context.Context, api.SessionWriteInput) (api.SessionWriteOutput, error) {
		return api.SessionWriteOutput{}, nil
	})
	server.Handle(mux, api.Exec, func(_ context.Context, in api.ExecInput) (api.ExecOutput, error) {
		return api.ExecOutput{Process: api.Process{ID: in.ID}}, nil
	})
	server.Handle(mux, api.ProcessWait, func(_ context.Context, in api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
		e.waited = append(e.waited, in.TimeoutMS)
		return api.ProcessWaitOutput{Met: "exit"}, nil
	})
	socket, _ := sockets.Paths(e.dir)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		e.Fatal(err)
	}
	serving := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.calls = append(e.calls, r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
		if e.losing > 0 {
			e.losing--
			panic(http.ErrAbortHandler)
		}
		mux.ServeHTTP(w, r)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = serving.Serve(listener) }()
	end = sync.OnceFunc(func() { serving.Close(); <-done })
	e.Cleanup(end)
	return end
}

func (e *engine) connect() *Conn {
	e.Helper()
	conn, err := Connect(e.Context(), func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: e.dir})
	})
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(conn.Close)
	return conn
}

// lose forgets the calls so far, and makes the engine lose the next n calls.
func (e *engine) lose(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.losing, e.calls, e.waited = n, nil, nil
}

// sent are the names of what was called.
func (e *engine) sent() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

// times are the timeouts of the waits.
func (e *engine) times() []int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.waited)
}

func TestSentCallsAreRetriedOnlyIfRepeatable(t *testing.T) {
	e := newEngine(t)
	e.begin()
	c := e.connect()

	e.lose(2)
	if out, err := api.ProcessWait.Call(t.Context(), c, api.ProcessWaitInput{TimeoutMS: 50_000}); err != nil || out.Met != "exit" || len(e.times()) != 1 || e.times()[0] >= 50_000 {
		t.Errorf("a wait: %v, %v; it waited %v", out, err, e.times())
	}
	e.lose(2)
	if out, err := api.Exec.Call(t.Context(), c, api.ExecInput{ID: "0123456789ab"}); err != nil || out.Process.ID != "0123456789ab" || len(e.sent()) != 3 {
		t.Errorf("a command with an id: %v, %v, after %v", out.Process.ID, err, e.sent())
	}
	e.lose(1)
	if _, err := api.Exec.Call(t.Context(), c, api.ExecInput{}); !errors.Is(err, api.CodeUnsure) || len(e.sent()) != 1 {
		t.Errorf("a command without one: %v, after %v", err, e.sent())
	}
	e.lose(1)
	if _, err := api.SessionWrite.Call(t.Context(), c, api.SessionWriteInput{ID: "s"}); !errors.Is(err, api.CodeUnsure) ||
		!strings.HasSuffix(err.Error(), ": it may have been typed") || !slices.Equal(e.sent(), []string{"session.write"}) {
		t.Errorf("typing: %v, after %v", err, e.sent())
	}
	e.lose(1)
	if _, err := api.HistoryAdd.Call(t.Context(), c, api.HistoryAddInput{}); err == nil || !strings.HasSuffix(err.Error(), ": it may have been done") {
		t.Errorf("what changes something: %v", err)
	}
}

func TestAbandonedCallKeepsItsReason(t *testing.T) {
	away := api.Errorf(api.CodeUnavailable, "reach machine box").WithReason(api.ReasonMachineOffline)
	for _, sent := range []bool{false, true} {
		for _, effect := range []api.Effect{api.Read, api.Write} {
			err := giveUpError(api.SessionWrite.Name, effect, api.SessionWriteInput{}, sent, &client.Lost{Err: away})
			if !errors.Is(err, api.ReasonMachineOffline) {
				t.Errorf("sent %v, effect %v: %+v", sent, effect, err)
			}
		}
	}
}

func TestUnsentCallsWaitForAnEngine(t *testing.T) {
	e := newEngine(t)
	end := e.begin()
	c := e.connect()
	end()
	c.Close() // what would be sent on a connection that just closes may have been done
	typed := make(chan error)
	go func() {
		_, err := api.SessionWrite.Call(t.Context(), c, api.SessionWriteInput{ID: "s"})
		typed <- err
	}()
	end = e.begin()
	if err := <-typed; err != nil || !slices.Contains(e.sent(), "session.write") {
		t.Errorf("typing: %v, after %v", err, e.sent())
	}
	end()
	c.Close()
	short, cancel := context.WithTimeout(t.Context(), 3*returnPoll)
	defer cancel()
	_, err := api.SessionWrite.Call(short, c, api.SessionWriteInput{ID: "s"})
	if !errors.Is(err, api.CodeUnavailable) || !strings.HasSuffix(err.Error(), ": nothing was done") {
		t.Errorf("where none comes: %v", err)
	}
}
