package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/api/sockets"
	"tandem/engine/api/wire"
)

func TestConnectErrorSaysThatNoEngineIsRunning(t *testing.T) {
	stale := shortDir(t)
	l, err := net.Listen("unix", filepath.Join(stale, "tandem.sock"))
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	for name, dir := range map[string]string{"no socket": shortDir(t), "a stale socket": stale} {
		_, err := Connect(t.Context(), Options{DataDir: dir})
		var e *api.Error
		if !errors.As(err, &e) || e.Code != api.CodeUnavailable || !strings.Contains(e.Message, dir) || e.Hint != hintStart {
			t.Errorf("with %s, Connect = %v, want CodeUnavailable that names %s, with a hint", name, err, dir)
		}
	}
}

func TestConnectRejectsAnEngineOfAnotherProtocol(t *testing.T) {
	m := server.NewMux(nil)
	server.Handle(m, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) { return api.Info{Protocol: api.Protocol + 1}, nil })
	if _, err := Connect(t.Context(), serve(t, m)); !errors.Is(err, api.CodeConflict) {
		t.Errorf("Connect = %v, want CodeConflict", err)
	}
}

func TestEngineCrashDuringACallIsUnavailable(t *testing.T) {
	dir := shortDir(t)
	l, err := server.Listen(filepath.Join(dir, "tandem.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // reads a request and hangs up, as often as one comes
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 1024))
			conn.Close()
		}
	}()
	_, err = Connect(t.Context(), Options{DataDir: dir})
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeUnavailable || e.Hint == "" {
		t.Errorf("Connect = %v, want CodeUnavailable with a hint", err)
	}
}

func TestClientStaysUsableWhenTheEngineIsReplaced(t *testing.T) {
	dir := shortDir(t)
	stop := serveAt(t, infoMux("1"), dir)
	c := connect(t, Options{DataDir: dir})
	for _, version := range []string{"2", "3"} {
		stop()
		if _, err := api.EngineInfo.Call(t.Context(), c, api.Empty{}); !errors.Is(err, api.CodeUnavailable) {
			t.Fatalf("without an engine, Call = %v, want CodeUnavailable", err)
		}
		stop = serveAt(t, infoMux(version), dir)
		info, err := api.EngineInfo.Call(t.Context(), c, api.Empty{})
		if err != nil || info.Version != version {
			t.Fatalf("Call = %+v, %v; want the engine of version %s", info, err, version)
		}
	}
}

// If the answer is lost, a write may have been carried out. Only reads may be sent again.
func TestOnlyReadsAreRetriedOnADeadConnection(t *testing.T) {
	for _, tc := range []struct {
		name string
		call func(context.Context, *Client) error
		want error
		runs int32
	}{
		{"a read", func(ctx context.Context, c *Client) error {
			_, err := api.SessionGet.Call(ctx, c, api.IDInput{})
			return err
		}, nil, 2},
		{"a write", func(ctx context.Context, c *Client) error {
			_, err := api.SessionRename.Call(ctx, c, api.SessionRenameInput{})
			return err
		}, api.CodeUnavailable, 1},
	} {
		var runs atomic.Int32
		answer := func() (api.Process, error) {
			if runs.Add(1) == 1 {
				panic(http.ErrAbortHandler) // the connection drops, nothing is answered
			}
			return api.Process{}, nil
		}
		m := infoMux("1")
		server.Handle(m, api.SessionGet, func(context.Context, api.IDInput) (api.Process, error) { return answer() })
		server.Handle(m, api.SessionRename, func(context.Context, api.SessionRenameInput) (api.Process, error) { return answer() })
		err := tc.call(t.Context(), connect(t, serve(t, m)))
		if !errors.Is(err, tc.want) || runs.Load() != tc.runs {
			t.Errorf("%s: error %v after %d runs, want %v after %d", tc.name, err, runs.Load(), tc.want, tc.runs)
		}
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	m := infoMux("1")
	entered := make(chan struct{})
	server.Handle(m, api.SessionGet, func(ctx context.Context, _ api.IDInput) (api.Process, error) {
		close(entered)
		<-ctx.Done()
		return api.Process{}, ctx.Err()
	})
	c := connect(t, serve(t, m))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	if _, err := api.SessionGet.Call(ctx, c, api.IDInput{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Call = %v, want context.Canceled", err)
	}
}

func TestOnlyThisUserAndRootAreTrusted(t *testing.T) {
	for _, tc := range []struct {
		uid, self int
		want      bool
	}{{1000, 1000, true}, {0, 1000, true}, {0, 0, true}, {1001, 1000, false}, {1000, 0, false}} {
		if got := wire.TrustFor(tc.self)(tc.uid); got != tc.want {
			t.Errorf("user %d trusts %d: %v, want %v", tc.self, tc.uid, got, tc.want)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	c := connect(b, serve(b, infoMux("1")))
	for b.Loop() {
		if _, err := api.EngineInfo.Call(b.Context(), c, api.Empty{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkConnect measures the time that every command needs before its own call.
func BenchmarkConnect(b *testing.B) {
	o := serve(b, infoMux("1"))
	for b.Loop() {
		c, err := Connect(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

func TestConnectErrorExplainsASocketOfAnotherUser(t *testing.T) {
	o, err := serve(t, infoMux("1")).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(o)
	defer c.Close()
	c.trust = func(int) bool { return false }
	_, err = api.EngineInfo.Call(t.Context(), c, api.Empty{})
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeConflict || !strings.Contains(e.Message, "belongs to user") || e.Hint == "" {
		t.Errorf("Call = %v, want CodeConflict that says whose it is, with a hint", err)
	}
}

func TestKeeperAliveReportsWhetherAKeeperIsRunning(t *testing.T) {
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c := newClient(Options{DataDir: dir})
	if c.KeeperAlive() {
		t.Error("there is a keeper in an empty folder")
	}
	_, socket := sockets.Paths(dir)
	keeper, err := net.Listen("unixpacket", socket)
	if err != nil {
		t.Fatal(err)
	}
	if !c.KeeperAlive() {
		t.Error("the keeper is not found")
	}
	keeper.Close()
	if c.KeeperAlive() {
		t.Error("a keeper that is gone is found")
	}
}
