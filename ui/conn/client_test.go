package conn

import (
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/sockets"
)

func TestClientRetriesSafeChangesAfterEngineDeath(t *testing.T) {
	dir, err := os.MkdirTemp("", "td") // short enough for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket, _ := sockets.Paths(dir)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var dies atomic.Bool
	serving := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, api.EngineInfo.Name) && dies.CompareAndSwap(true, false) {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte(`{"protocol":1,"revision":7}`))
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = serving.Serve(listener) }()
	t.Cleanup(func() { serving.Close(); <-done })
	c, err := client.Connect(t.Context(), client.Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	e := NewClient(c)

	dies.Store(true)
	if out, err := api.LayoutChanges.Call(t.Context(), e, api.LayoutChangeInput{}); err != nil || out.Revision != 7 {
		t.Errorf("layout.change returns revision %d, %v; want 7", out.Revision, err)
	}
	dies.Store(true)
	if err := api.SessionWrite.Run(t.Context(), e, api.SessionWriteInput{}); !errors.Is(err, api.CodeUnsure) {
		t.Errorf("session.write returns %v, want unsure", err)
	}
}
