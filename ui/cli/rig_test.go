package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"tandem/engine/api/sockets"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
	"tandem/tests/leaks"
	"tandem/ui/cli/factory"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// A rig is a command line connected to a fake engine. Its fields hold the engine's answers and
// record the calls.
type rig struct {
	unread      []string // what engine.info reports as unreachable
	t           *testing.T
	options     factory.Options
	sessions    []api.Process
	started     []api.SessionStartInput
	written     []api.SessionWriteInput
	writeResult api.SessionWriteOutput // result of each write
	screens     []api.SessionScreenInput
	removed     []string
	stopped     []api.EngineStopInput
	screen      api.Screen
	fakeProcesses
	fakeRestores
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t}
	dir := shortDir(t)
	t.Setenv("TANDEM_DATA_DIR", dir)
	r.serve(dir)
	connect := func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: dir, Version: "1.2.3", Name: "cli"})
	}
	r.options = factory.Options{Version: "1.2.3", Connect: connect, Reach: connect, Stdin: strings.NewReader(""),
		Environ: []string{"TERM=xterm-256color", "SHELL=/bin/sh", "LANG=C.UTF-8"}}
	return r
}

func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (r *rig) serve(dir string) {
	socket, _ := sockets.Paths(dir)
	listener, err := server.Listen(socket)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	mux := r.mux()
	go func() { served <- mux.Serve(ctx, listener) }()
	r.t.Cleanup(func() {
		stop()
		<-served
	})
}

func (r *rig) mux() *server.Mux {
	mux := server.NewMux(nil)
	server.Handle(mux, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{EnginePID: 1<<30 + 10, KeeperPID: 1<<30 + 11, Version: "1.2.3", Protocol: api.Protocol, DataDir: "/data",
			Socket: "/data/tandem.sock", BootID: "boot", Running: len(r.sessions), Unread: r.unread}, nil
	})
	server.Handle(mux, api.EngineStop, func(_ context.Context, in api.EngineStopInput) (api.Empty, error) {
		r.stopped = append(r.stopped, in)
		return api.Empty{}, nil
	})
	server.Handle(mux, api.SessionStart, func(_ context.Context, in api.SessionStartInput) (api.Process, error) {
		r.started = append(r.started, in)
		return api.Process{ID: "0123456789ab", Kind: api.KindSession, Name: "new", State: api.StateRunning}, nil
	})
	server.Handle(mux, api.SessionList, func(context.Context, api.Empty) (api.SessionListOutput, error) {
		return api.SessionListOutput{Sessions: r.sessions}, nil
	})
	server.Handle(mux, api.SessionWrite, func(_ context.Context, in api.SessionWriteInput) (api.SessionWriteOutput, error) {
		r.written = append(r.written, in)
		return r.writeResult, nil
	})
	server.Handle(mux, api.SessionScreen, func(_ context.Context, in api.SessionScreenInput) (api.Screen, error) {
		r.screens = append(r.screens, in)
		return r.screen, r.find(in.ID)
	})
	server.Handle(mux, api.SessionGet, func(_ context.Context, in api.IDInput) (api.Process, error) {
		return api.Process{ID: "0123456789ab", Name: in.ID}, r.find(in.ID)
	})
	server.Handle(mux, api.SessionKill, func(_ context.Context, in api.IDInput) (api.Process, error) {
		return api.Process{Name: in.ID, State: api.StateStopped, ExitSignal: "SIGHUP"}, r.find(in.ID)
	})
	server.Handle(mux, api.ProcessRemove, func(_ context.Context, in api.IDInput) (api.Empty, error) {
		r.mu.Lock() // rm calls concurrently
		r.removed = append(r.removed, in.ID)
		r.mu.Unlock()
		return api.Empty{}, r.find(in.ID)
	})
	r.handleProcesses(mux)
	r.handleRestores(mux)
	mux.HandleAttach(func(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
		code := 3
		if err := v.Send(api.Output{Bytes: []byte("bye")}); err != nil {
			return err
		}
		return v.Send(api.Output{Ended: &api.Process{Name: "work", State: api.StateExited, ExitCode: &code}})
	})
	return mux
}

func (r *rig) find(id string) error {
	if id == "nobody" {
		return api.Errorf(api.CodeNotFound, "find session %q: there is none", id).WithHint("`tandem ls` lists them")
	}
	return nil
}

func (r *rig) run(args ...string) (stdout, stderr string, status int) {
	r.t.Helper()
	var out, err bytes.Buffer
	o := r.options
	o.Stdout, o.Stderr = &out, &err
	status = Main(r.t.Context(), o, args)
	return out.String(), err.String(), status
}

// succeeds runs a command line, fails the test unless its status is 0, and returns its output.
func (r *rig) succeeds(args ...string) string {
	r.t.Helper()
	stdout, stderr, status := r.run(args...)
	if status != 0 || stderr != "" {
		r.t.Fatalf("tandem %q: status %d, %q", args, status, stderr)
	}
	return stdout
}

func readJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

func code(n int) *int { return &n }

func openTerminal(t *testing.T) (master, slave *os.File) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		slave.Close()
		master.Close()
	})
	return master, slave
}

// ofOwnID lets cmp take an empty ID as equal to one that a command has made.
var ofOwnID = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".ID" },
	cmp.Comparer(func(a, b string) bool { return a == "" && isOwnID(b) || b == "" && isOwnID(a) || a == b }))

func isOwnID(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == 6
}
