package retry

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/sockets"
)

// dyingEngine answers every operation but crashes on the first call to each.
type dyingEngine struct {
	mu    sync.Mutex
	calls []string
	again *api.Error // answer to the second call; nil for success
}

func (e *dyingEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	e.mu.Lock()
	e.calls = append(e.calls, name)
	first, again := len(e.calls) == 1, e.again
	e.mu.Unlock()
	switch {
	case first:
		panic(http.ErrAbortHandler)
	case again != nil && name != api.ProcessGet.Name:
		w.WriteHeader(again.Code.Status())
		_ = json.NewEncoder(w).Encode(again)
	case name == api.EngineInfo.Name:
		_ = json.NewEncoder(w).Encode(api.Info{Protocol: api.Protocol})
	default:
		_, _ = w.Write([]byte("{}"))
	}
}

// die makes the engine crash on the next call and answer the one after it with again.
func (e *dyingEngine) die(again *api.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls, e.again = nil, again
}

func (e *dyingEngine) called() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

// newDying returns a dyingEngine and a client connected to it.
func newDying(t *testing.T) (*dyingEngine, *Conn) {
	e, dir := &dyingEngine{}, newEngine(t).dir
	socket, _ := sockets.Paths(dir)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	serving := &http.Server{Handler: e}
	done := make(chan struct{})
	go func() { defer close(done); _ = serving.Serve(listener) }()
	t.Cleanup(func() { serving.Close(); <-done })
	e.calls = []string{""} // do not crash on the first call of Connect
	conn, err := Connect(t.Context(), func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: dir})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return e, conn
}

// marked holds a marked input for each RepeatMarked operation.
var marked = map[string]any{
	api.SessionStart.Name:   api.SessionStartInput{ID: "0123456789ab"},
	api.ProcessStart.Name:   api.ProcessStartInput{ID: "0123456789ab"},
	api.Exec.Name:           api.ExecInput{ID: "0123456789ab"},
	api.ProcessRestart.Name: api.ProcessRestartInput{RestartID: "0123456789ab"},
	api.SessionRestore.Name: api.SessionRestoreInput{RestoreID: "0123456789ab"},
	api.ProcessUpdate.Name:  api.ProcessUpdateInput{Revision: 1},
	api.SessionRename.Name:  api.SessionRenameInput{Revision: 1},
	api.HistoryLoad.Name:    api.HistoryLoadInput{At: time.Unix(1, 0)},
}

func TestEveryOperationDeclaresRepeatability(t *testing.T) {
	e, conn := newDying(t)
	call := func(op api.Entry, in any, again *api.Error) error {
		e.die(again)
		return conn.Do(t.Context(), op.Name, op.Effect, in, reflect.New(op.Out).Interface())
	}
	twice := func(op api.Entry, in any, again *api.Error) {
		t.Helper()
		if err := call(op, in, again); err != nil {
			t.Errorf("%s: %v", op.Name, err)
		}
		if want := []string{op.Name, op.Name}; len(e.called()) < 2 || !slices.Equal(e.called()[:2], want) {
			t.Errorf("%s: calls %v", op.Name, e.called())
		}
	}
	once := func(op api.Entry, in any) {
		t.Helper()
		if err := call(op, in, nil); !errors.Is(err, api.CodeUnsure) || len(e.called()) != 1 {
			t.Errorf("%s: %v, after %v", op.Name, err, e.called())
		}
	}
	for _, op := range api.Operations() {
		if op.Name == api.EngineInfo.Name { // called on every connection
			continue
		}
		zero := reflect.New(op.In).Elem().Interface()
		switch repeat := api.RepeatOf(op.Name, op.Effect); repeat {
		case api.RepeatAlways:
			twice(op, zero, nil)
		case api.RepeatGone:
			twice(op, zero, nil)
			twice(op, zero, api.Errorf(api.CodeNotFound, "gone"))
		case api.RepeatEnded:
			twice(op, zero, nil)
			twice(op, zero, api.Errorf(api.CodeEnded, "ended"))
			twice(op, zero, api.Errorf(api.CodeNotFound, "gone"))
		case api.RepeatMarked:
			once(op, zero)
			twice(op, marked[op.Name], nil)
		case api.RepeatNever:
			once(op, zero)
		default:
			t.Errorf("%s does not declare whether it can be repeated after an engine crash: %q", op.Name, repeat)
		}
	}
}

// Only an error of a repeated call can mean success.
func TestFirstCallsErrorIsReported(t *testing.T) {
	e, conn := newDying(t)
	for _, code := range []api.Code{api.CodeNotFound, api.CodeEnded} {
		e.die(api.Errorf(code, "no such process"))
		e.calls = []string{""}
		if _, err := api.ProcessStop.Call(t.Context(), conn, api.ProcessStopInput{ID: "web"}); !errors.Is(err, code) {
			t.Errorf("stop: %v", err)
		}
	}
}
