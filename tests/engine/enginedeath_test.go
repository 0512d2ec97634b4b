package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/engine/api/sockets"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/tests/wait"
)

// A deadlyProxy forwards calls to a machine's engine and kills the engine on one of them.
type deadlyProxy struct {
	m       *machine
	forward http.Transport

	mu     sync.Mutex
	target string // name of the operation; "" for none
	before bool   // kill before the engine gets the call, not after it answers
}

func (p *deadlyProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	p.mu.Lock()
	kill, before := p.target == name, p.before
	if kill {
		p.target = ""
	}
	p.mu.Unlock()
	if kill && before {
		p.kill()
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body, r.RequestURI, r.URL.Scheme, r.URL.Host = io.NopCloser(bytes.NewReader(body)), "", "http", "tandem"
	answer, err := p.forward.RoundTrip(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if kill {
		p.kill()
	}
	for key, values := range answer.Header {
		w.Header()[key] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(text)
}

// kill kills the engine and drops the call.
func (p *deadlyProxy) kill() {
	info, err := api.EngineInfo.Call(context.Background(), p.m.client, api.Empty{})
	if err == nil {
		_ = unix.Kill(info.EnginePID, unix.SIGKILL)
	}
	panic(http.ErrAbortHandler)
}

// killOn makes the proxy kill the engine on the next call of an operation.
func (p *deadlyProxy) killOn(name string, before bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target, p.before = name, before
}

// hasKilled reports whether the engine was killed on the call.
func (p *deadlyProxy) hasKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target == ""
}

// behindProxy returns a client connected to the machine's engine through a proxy.
func (m *machine) behindProxy() (*deadlyProxy, *retry.Conn) {
	m.Helper()
	dir, err := os.MkdirTemp("", "td") // short enough for a socket path
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { os.RemoveAll(dir) })
	engine, _ := sockets.Paths(m.dir)
	p := &deadlyProxy{m: m}
	p.forward.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", engine)
	}
	socket, _ := sockets.Paths(dir)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		m.Fatal(err)
	}
	serving := &http.Server{Handler: p}
	done := make(chan struct{})
	go func() { defer close(done); _ = serving.Serve(listener) }()
	m.Cleanup(func() { serving.Close(); <-done; p.forward.CloseIdleConnections() })
	conn, err := retry.Connect(m.Context(), func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: dir, Name: "test"})
	})
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(conn.Close)
	return p, conn
}

// A repeat is a call during which the engine is killed.
type repeat struct {
	operation string
	call      func(e api.Engine, p api.Process) error
	ended     bool // its process has exited
	check     func(m *machine, p, now api.Process) string
}

func repeats(m *machine) []repeat {
	keep, dir := true, m.TempDir()
	commands := filepath.Join(dir, "commands")
	if err := os.WriteFile(commands, []byte("make one\nmake two\n"), 0o600); err != nil {
		m.Fatal(err)
	}
	return []repeat{
		{operation: api.ProcessStop.Name, call: func(e api.Engine, p api.Process) error {
			stopped, err := api.ProcessStop.Call(context.Background(), e, api.ProcessStopInput{ID: p.ID})
			if err == nil && stopped.State != api.StateStopped {
				return errors.New("answered state " + string(stopped.State))
			}
			return err
		}, check: func(_ *machine, _, now api.Process) string {
			return wrongIf(now.State != api.StateStopped, "not stopped")
		}},
		{operation: api.ProcessRestart.Name, call: func(e api.Engine, p api.Process) error {
			return api.ProcessRestart.Run(context.Background(), e, api.ProcessRestartInput{ID: p.ID, RestartID: api.NewID()})
		}, check: func(_ *machine, _, now api.Process) string {
			return wrongIf(now.State != api.StateRunning || now.Supervision.Restarts != 1, "not restarted exactly once")
		}},
		{operation: api.ProcessRestart.Name, ended: true, call: func(e api.Engine, p api.Process) error {
			return api.ProcessRestart.Run(context.Background(), e, api.ProcessRestartInput{ID: p.ID, RestartID: api.NewID()})
		}, check: func(_ *machine, _, now api.Process) string {
			return wrongIf(now.State != api.StateRunning || now.Supervision.Restarts != 1, "not started again exactly once")
		}},
		{operation: api.ProcessRemove.Name, ended: true, call: func(e api.Engine, p api.Process) error {
			return api.ProcessRemove.Run(context.Background(), e, api.IDInput{ID: p.ID})
		}, check: func(_ *machine, _, now api.Process) string { return wrongIf(now.ID != "", "still exists") }},
		{operation: api.ProcessUpdate.Name, call: func(e api.Engine, p api.Process) error {
			return api.ProcessUpdate.Run(context.Background(), e, api.ProcessUpdateInput{ID: p.ID, KeepAlive: &keep, Revision: p.Revision})
		}, check: func(_ *machine, p, now api.Process) string {
			return wrongIf(!now.KeepAlive || now.Revision != p.Revision+1, "not changed exactly once")
		}},
		{operation: api.EnvSet.Name, call: func(e api.Engine, _ api.Process) error {
			return api.EnvSet.Run(context.Background(), e, api.EnvSetInput{Name: "COLOR", Value: "blue"})
		}, check: func(m *machine, _, _ api.Process) string {
			return wrongIf(call(m, api.EnvGet, api.EnvInput{Name: "COLOR"}).Value != "blue", "not set")
		}},
		{operation: api.EnvUnset.Name, call: func(e api.Engine, _ api.Process) error {
			return api.EnvUnset.Run(context.Background(), e, api.EnvInput{Name: "COLOR"})
		}, check: func(m *machine, _, _ api.Process) string {
			return wrongIf(len(call(m, api.EnvList, api.EnvListInput{}).Variables) != 0, "still set")
		}},
		{operation: api.LayoutChanges.Name, call: func(e api.Engine, p api.Process) error {
			return api.LayoutChanges.Run(context.Background(), e, addTabs(p.ID))
		}, check: func(m *machine, p, _ api.Process) string {
			tabs := call(m, api.LayoutGet, api.Empty{}).Current.Tabs
			return wrongIf(tabs[len(tabs)-1].Nodes[0].ID != p.ID, "not the changed layout")
		}},
		{operation: api.HistoryLoad.Name, call: func(e api.Engine, _ api.Process) error {
			return api.HistoryLoad.Run(context.Background(), e, api.HistoryLoadInput{Path: commands, At: time.Now()})
		}, check: func(m *machine, _, _ api.Process) string {
			found := len(call(m, api.HistorySearch, api.HistorySearchInput{Query: "make"}).Rows)
			call(m, api.HistoryClear, api.Empty{})
			return wrongIf(found != 2, "commands not added exactly once")
		}},
	}
}

// addTabs returns the input that gives each session a tab.
func addTabs(ids ...string) (in api.LayoutChangeInput) {
	for _, id := range ids {
		in.Changes = append(in.Changes, api.LayoutChange{Do: api.LayoutArrange, Nodes: []api.LayoutNode{{ID: id}}, Own: api.OwnEnd})
	}
	return in
}

func wrongIf(wrong bool, what string) string {
	if wrong {
		return what
	}
	return ""
}

func TestRepeatableCallsSucceedWhenEngineIsKilled(t *testing.T) {
	m := startMachine(t)
	m.pinned = true
	proxy, conn := m.behindProxy()
	call(m, api.LayoutChanges, addTabs("before"))
	for _, tc := range repeats(m) {
		for _, before := range []bool{true, false} {
			p := call(m, api.ProcessStart, api.ProcessStartInput{Command: []string{"sleep", "1000"}})
			if tc.ended {
				p = call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
			}
			proxy.killOn(tc.operation, before)
			err := tc.call(conn, p)
			var now api.Process
			m.eventually("the process", func() bool {
				var failed error
				now, failed = api.ProcessGet.Call(t.Context(), m.client, api.IDInput{ID: p.ID})
				return failed == nil || errors.Is(failed, api.CodeNotFound)
			})
			if wrong := tc.check(m, p, now); err != nil || wrong != "" || !proxy.hasKilled() {
				t.Errorf("%s, engine killed before the call %v: %v; %s; %+v", tc.operation, before, err, wrong, now)
			}
			if now.ID != "" && !now.State.Ended() {
				call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
			}
		}
	}
}

func TestRepeatedCallDoesNotUndoANewerChange(t *testing.T) {
	m := startMachine(t)
	p := call(m, api.ProcessStart, api.ProcessStartInput{Command: []string{"sleep", "1000"}, Name: "web"})
	name, other := "mine", "theirs"
	update := api.ProcessUpdateInput{ID: p.ID, Name: &name, Revision: p.Revision}
	call(m, api.ProcessUpdate, update)
	wait.Kill(m, m.info().EnginePID)
	call(m, api.ProcessUpdate, update)

	call(m, api.ProcessUpdate, api.ProcessUpdateInput{ID: p.ID, Name: &other})
	if err := api.ProcessUpdate.Run(t.Context(), m.client, update); !errors.Is(err, api.CodeConflict) || api.AsError(err).Hint == "" {
		t.Error(err)
	}
	if now := call(m, api.ProcessGet, api.IDInput{ID: p.ID}); now.Name != other {
		t.Errorf("name is %s", now.Name)
	}
}
