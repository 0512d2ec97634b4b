package project

import (
	"context"
	"net"
	"os"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/engine/api/server"
)

// serve returns a connection to an engine served by m.
func serve(t *testing.T, m *server.Mux) *retry.Conn {
	t.Helper()
	dir, err := os.MkdirTemp("", "td") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Cleanup(serveIn(t, dir, m))
	conn, err := retry.Connect(t.Context(), func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: dir, Name: "test"})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// serveIn serves m as the engine of a data directory until stop is called.
func serveIn(t *testing.T, dir string, m *server.Mux) (stop func()) {
	t.Helper()
	server.Handle(m, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{Protocol: api.Protocol}, nil
	})
	socket, _ := api.Sockets(dir)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- m.Serve(ctx, listener) }()
	return func() { cancel(); <-served }
}

func TestSaveLayoutRetriesOnAConflict(t *testing.T) {
	m := server.NewMux(nil)
	revision, saved, shown := int64(0), int64(0), ""
	server.Handle(m, api.LayoutGet, func(context.Context, api.Empty) (api.LayoutGetOutput, error) {
		revision++
		return api.LayoutGetOutput{Revision: revision}, nil
	})
	server.Handle(m, api.LayoutPut, func(_ context.Context, in api.LayoutPutInput) (out api.LayoutPutOutput, err error) {
		if in.Name == "" && in.Revision < 3 {
			return out, api.Errorf(api.CodeConflict, "save layout: changed since revision %d", in.Revision)
		}
		if in.ShowIn == "s" {
			shown = in.Name
		}
		saved = in.Revision
		return out, nil
	})
	r := &Run{Conn: serve(t, m), File: &File{Name: "shop"}, Session: "s"}
	if err := r.saveLayout(t.Context(), api.Layout{}); err != nil || saved != 3 || shown != "shop" {
		t.Errorf("saved on top of revision %d, want 3, and shown as %q: %v", saved, shown, err)
	}
}
