package project

import (
	"context"
	"net"
	"os"
	"testing"

	"tandem/engine/api/sockets"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/engine/api/layout"
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
	socket, _ := sockets.Paths(dir)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- m.Serve(ctx, listener) }()
	return func() { cancel(); <-served }
}

func TestTabsOfAProjectAreAddedSavedAndShown(t *testing.T) {
	m := server.NewMux(nil)
	saved, current, shown := api.LayoutPutInput{}, api.Layout{}, ""
	server.Handle(m, api.LayoutPut, func(_ context.Context, in api.LayoutPutInput) (api.Empty, error) {
		saved = in
		return api.Empty{}, nil
	})
	server.Handle(m, api.LayoutChanges, func(_ context.Context, in api.LayoutChangeInput) (out api.LayoutChangeOutput, err error) {
		current, shown = layout.Apply(current, in.Changes...), in.Show+" in "+in.ShowIn
		return out, nil
	})
	r := &Run{Conn: serve(t, m), File: &File{Name: "shop"}, Session: "s"}
	tabs := api.Layout{Tabs: []api.LayoutTab{
		{Nodes: []api.LayoutNode{{Axis: api.AxisBeside, Share: 3000}, {ID: "a"}, {ID: "b"}}, Focus: 1}, {Nodes: []api.LayoutNode{{ID: "c"}}},
	}}
	current = layout.Apply(current, api.LayoutChange{Do: api.LayoutArrange, Nodes: []api.LayoutNode{{ID: "s"}}},
		api.LayoutChange{Do: api.LayoutArrange, Nodes: []api.LayoutNode{{ID: "c"}}}) // c has its tab already
	if err := r.saveLayout(t.Context(), tabs); err != nil {
		t.Fatal(err)
	}
	want := api.Layout{Tabs: []api.LayoutTab{{Nodes: []api.LayoutNode{{ID: "s"}}}, tabs.Tabs[1], tabs.Tabs[0]}, Current: 2}
	if diff := cmp.Diff(want, current); diff != "" || shown != "a in s" || saved.Name != "shop" || len(saved.Layout.Tabs) != 2 {
		t.Errorf("%s; saved %+v, shown %s", diff, saved, shown)
	}
}
