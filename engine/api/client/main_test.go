package client

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/api/sockets"
	"tandem/engine/api/wire"
	"tandem/tests/leaks"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(fakeKeeperRole); role != "" {
		os.Exit(fakeKeeper(role))
	}
	leaks.Main(m)
}

// shortDir is a temporary folder whose path leaves room for a socket's name.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// serve runs m as the engine of a new data folder, until the test ends.
func serve(t testing.TB, m *server.Mux) Options {
	t.Helper()
	dir := shortDir(t)
	serveAt(t, m, dir)
	return Options{DataDir: dir, Name: "test", Version: "1.2.3"}
}

// serveAt runs m as the engine of dir. stop ends it and waits.
func serveAt(t testing.TB, m *server.Mux, dir string) (stop func()) {
	t.Helper()
	socket, _ := sockets.Paths(dir)
	l, err := server.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Serve(ctx, l) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// serveRaw runs m as the engine of a new data folder. answer handles the operation called name.
func serveRaw(t testing.TB, m *server.Mux, name string, answer http.HandlerFunc) Options {
	t.Helper()
	dir := shortDir(t)
	socket, _ := sockets.Paths(dir)
	l, err := server.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	routes := http.NewServeMux()
	routes.Handle("/", m)
	routes.HandleFunc(wire.RoutePrefix+name, answer)
	s := &http.Server{Handler: routes}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // it ends with Close
	}()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
	return Options{DataDir: dir, Name: "test", Version: "1.2.3"}
}

// infoMux serves engine.info with a version.
func infoMux(version string) *server.Mux {
	m := server.NewMux(nil)
	server.Handle(m, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{EnginePID: os.Getpid(), Version: version, Protocol: api.Protocol}, nil
	})
	return m
}

// connect connects to the engine of o until the test ends.
func connect(t testing.TB, o Options) *Client {
	t.Helper()
	c, err := Connect(t.Context(), o)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// rawClient speaks plain HTTP to the engine of dir.
func rawClient(t testing.TB, dir string) *http.Client {
	t.Helper()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", filepath.Join(dir, "tandem.sock"))
	}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func ptr[T any](v T) *T { return &v }
