package service

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/engine/agent/access"
	"tandem/engine/agent/coding"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/control/supervise"
	"tandem/engine/control/usage"
	"tandem/engine/record/history"
	"tandem/engine/record/logs"
	"tandem/engine/service/startrules"
	"tandem/engine/session/terminal"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

// A client calls the operations of a Mux without a connection, as the user or as an agent.
type client struct {
	mux    *server.Mux
	name   string
	owner  string // of an agent
	bounds *api.Bounds
}

func (c client) Do(ctx context.Context, name string, _ api.Effect, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/"+name, bytes.NewReader(body))
	r.Header.Set(api.ClientHeader, c.name)
	r.Header.Set(api.OwnerHeader, c.owner)
	if c.bounds != nil {
		text, err := json.Marshal(c.bounds)
		if err != nil {
			return err
		}
		r.Header.Set(api.BoundsHeader, base64.StdEncoding.EncodeToString(text))
	}
	answer := httptest.NewRecorder()
	c.mux.ServeHTTP(answer, r)
	if answer.Code >= http.StatusBadRequest {
		var failed api.Error
		if err := json.Unmarshal(answer.Body.Bytes(), &failed); err != nil {
			return err
		}
		return &failed
	}
	return json.Unmarshal(answer.Body.Bytes(), out)
}

// makeContext returns the context that a handler would get for a call of this client.
func (c client) makeContext(t testing.TB) (seen context.Context) {
	t.Helper()
	c.mux = server.NewMux(nil)
	server.Handle(c.mux, api.EngineInfo, func(ctx context.Context, _ api.Empty) (api.Info, error) {
		seen = ctx
		return api.Info{}, nil
	})
	call(t, c, api.EngineInfo, api.Empty{})
	return seen
}

// call runs an operation that must succeed.
func call[In, Out any](t testing.TB, c api.Engine, op api.Operation[In, Out], in In) Out {
	t.Helper()
	out, err := op.Call(t.Context(), c, in)
	if err != nil {
		t.Fatalf("%s: %v", op.Name, err)
	}
	return out
}

// wantError runs an operation that must fail. The error must match want, and its message or hint
// must contain text.
func wantError[In, Out any](t testing.TB, c api.Engine, op api.Operation[In, Out], in In, want error, text string) {
	t.Helper()
	out, err := op.Call(t.Context(), c, in)
	if err == nil {
		t.Errorf("%s %+v returned %+v, want %s", op.Name, in, out, want)
		return
	}
	e := api.AsError(err)
	if !errors.Is(err, want) || !strings.Contains(e.Message+"; "+e.Hint, text) {
		t.Errorf("%s %+v: %s %v (hint %q), want %s with %q", op.Name, in, e.Code, err, e.Hint, want, text)
	}
}

// A fakeExecutor pretends to start children. Children exit only on request.
type fakeExecutor struct {
	supervise.Executor
	supervise.Observer
	data     *store.Store
	control  *supervise.Control
	spawned  func(r store.Record) // called for each start; may be nil
	stopErr  error                // of StopTree
	stopping func()               // called with each stop; may be nil

	interrupt time.Time // of sessions that are opened, unless it is zero

	// open returns the session of a record with a terminal. If it is nil, no test uses the
	// terminal.
	open func(r store.Record) *terminal.Session

	mu      sync.Mutex
	nextPID int
	signals []string // passed to StopTree
}

func (w *fakeExecutor) Save(r store.Record, _ bool) error { return w.data.Write(r) }

func (w *fakeExecutor) Spawn(_ context.Context, r store.Record, _ store.Identity, _ func()) (supervise.Launch, error) {
	if w.spawned != nil {
		w.spawned(r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nextPID++
	l := supervise.Launch{Child: keeper.Child{ID: r.ID, PID: fakePID + w.nextPID, StartTime: 7, BootID: "boot", TTY: r.TTY}}
	switch {
	case r.TTY && w.open != nil:
		l.Live = w.open(r)
	case r.TTY:
		l.Live = &plainSession{func() { w.control.ReportDrained(r.ID) }, w.interrupt}
	}
	return l, nil
}

// fakePID is beyond the kernel's largest pid.
const fakePID = 1 << 23

func (w *fakeExecutor) StopTree(_ context.Context, _ store.Record, _ uint64, signal string) error {
	if w.stopping != nil {
		w.stopping()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.signals = append(w.signals, signal)
	return w.stopErr
}

func (w *fakeExecutor) StopRemains(context.Context, []store.Record, string) (int, error) {
	return 0, nil
}
func (w *fakeExecutor) ClearPredecessor(context.Context, store.Record, supervise.Predecessor) error {
	return nil
}
func (w *fakeExecutor) FindLateExit(context.Context, store.Record) supervise.Ending {
	return supervise.Ending{}
}
func (w *fakeExecutor) Probe(ctx context.Context, _ store.Record) error {
	<-ctx.Done()
	return ctx.Err()
}
func (w *fakeExecutor) BoundLog(store.Record) func()    { return func() {} }
func (w *fakeExecutor) NoteUnconfined(store.Record)     {}
func (w *fakeExecutor) LastLines(store.Record) []string { return nil }
func (w *fakeExecutor) ForgetChild(string)              {}
func (w *fakeExecutor) Remove(id string, _ bool) error  { return w.data.Discard(id) }

// A plainSession is a session whose terminal no test uses. Checks compare sessions, so it is a
// pointer: a struct with a func cannot be compared.
type plainSession struct {
	drained   func()
	interrupt time.Time // of its last interrupt
}

func (s *plainSession) ChildEnded() { s.drained() }
func (s *plainSession) Facts() terminal.Facts {
	return terminal.Facts{Cols: 80, Rows: 24, Interrupt: s.interrupt}
}
func (*plainSession) Finish(api.Process)    {}
func (*plainSession) Admit(bool, bool)      {}
func (*plainSession) Stopping()             {}
func (*plainSession) Close()                {}
func (*plainSession) Gone() <-chan struct{} { return nil }

// A rig serves the operations on sessions and processes over a control loop with a fake executor.
type rig struct {
	client
	t        testing.TB
	dir      string // the data directory
	work     string // a directory to start programs in
	executor *fakeExecutor
	control  *supervise.Control
	store    *store.Store
	starter  *Starter
	procs    *Processes
	agents   *coding.Registry
}

// newRig returns a rig that stops when the test ends.
func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), work: t.TempDir()}
	data, err := store.Open(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	r.store = data
	r.executor = &fakeExecutor{data: data}
	r.control = supervise.NewControl(ctx, r.executor, r.executor, log)
	r.executor.control = r.control
	past := history.Start(r.dir, nil, log, func(string) {}, nil)
	r.control.History = past
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.control.Run()
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		r.control.Close()
		past.Close()
	})
	env, err := NewEnv(data, log)
	if err != nil {
		t.Fatal(err)
	}
	guard := &access.Guard{
		DataDir: r.dir, KeeperPID: func() int { return 0 }, SandboxPath: data.SandboxPath,
		Visit: func(context.Context, func(store.Record, *terminal.Session)) error { return nil },
	}
	usage := usage.NewMeter(r.control.Measurables, new(proctree.Table), r.dir)
	texts, pipes := logs.New(log), new(PipeShells)
	files := NewFiles(ctx, r.dir, nil, log)
	t.Cleanup(files.Close)
	r.starter = &Starter{Control: r.control, Store: data, Env: env, Closed: []string{r.dir}, CgroupOf: func(store.Record) string { return "" }, Privacy: new(startrules.Privacy), Shell: func(map[string]string) []string { return []string{"/bin/sh"} }}
	r.procs = &Processes{
		Control: r.control, Guard: guard, Starter: r.starter, Store: data, Logs: texts, Usage: usage, Pipes: pipes, Log: log,
		StopRemains: func(context.Context, []store.Record, string) (int, error) { return 0, nil },
	}
	r.agents = &coding.Registry{Library: coding.NewLibrary("", func(error) {}), Changed: func(id string, now *store.Agent) { r.control.SetAgent(id, now) }}
	r.client = client{mux: server.NewMux(nil), name: "test"}
	for _, s := range []interface{ Handle(*server.Mux) }{
		env, files, r.procs,
		&Sessions{Control: r.control, Guard: guard, Starter: r.starter, Store: data, Logs: texts, Usage: usage, Pipes: pipes, Agents: r.agents},
		&Commands{Control: r.control, Starter: r.starter, Store: data, Usage: usage},
		&CodingAgents{Control: r.control, Guard: guard, Agents: r.agents},
		History{History: past, Recent: new(history.Recent), Files: files},
		Peers{Guard: guard},
	} {
		s.Handle(r.mux)
	}
	return r
}

// agent returns a client of an agent without a sandbox.
func (r *rig) agent() client {
	return client{mux: r.mux, name: "claude", owner: "owner-1", bounds: &api.Bounds{}}
}

func (r *rig) start(in api.ProcessStartInput) api.Process {
	r.t.Helper()
	if in.CWD == "" {
		in.CWD = r.work
	}
	if in.Command == nil {
		in.Command = []string{"server"}
	}
	return call(r.t, r, api.ProcessStart, in)
}

// exit reports the exit of a process's child.
func (r *rig) exit(p api.Process, code int) {
	r.control.ReportExit(keeper.Child{ID: p.ID, PID: p.PID, StartTime: 7, BootID: "boot"}, supervise.Ending{Exit: keeper.Exit{Code: &code}})
	if p.Terminal != nil {
		r.control.ReportDrained(p.ID)
	}
}

// writeFile writes a file in a directory, which it creates.
func writeFile(t testing.TB, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
