package api

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(fakeKeeperRole); role != "" {
		os.Exit(fakeKeeper(role))
	}
	goleak.VerifyTestMain(m)
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

// serve runs m as the engine of a new data folder until the test ends.
func serve(t testing.TB, m *Mux) ConnectOptions {
	t.Helper()
	dir := shortDir(t)
	serveAt(t, m, dir)
	return ConnectOptions{DataDir: dir, Name: "test", Version: "1.2.3"}
}

// serveAt runs m as the engine of dir; stop ends it and waits.
func serveAt(t testing.TB, m *Mux, dir string) (stop func()) {
	t.Helper()
	socket, _ := Sockets(dir)
	l, err := Listen(socket)
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

// infoMux serves engine.info with a version.
func infoMux(version string) *Mux {
	m := NewMux(nil)
	Handle(m, EngineInfo, func(context.Context, Empty) (Info, error) {
		return Info{EnginePID: os.Getpid(), Version: version, Protocol: Protocol}, nil
	})
	return m
}

// connect connects to the engine of o until the test ends.
func connect(t testing.TB, o ConnectOptions) *Client {
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
