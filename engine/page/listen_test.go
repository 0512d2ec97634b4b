package page

import (
	"context"
	"strconv"
	"testing"
)

func TestPageUsesPreviousPort(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	dir := t.TempDir()
	first, err := Listen(t.Context(), Where{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, dir, first, r.page) }()
	for served := false; !served; {
		if _, served, err = Served(dir); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if s, served, err := Served(dir); served || err != nil {
		t.Errorf("it is served still: %+v, %v", s, err)
	}
	again, err := Listen(t.Context(), Where{DataDir: dir})
	if err != nil || again.Origin.Port != first.Origin.Port {
		t.Fatalf("it is served at %s, then at %s: %v", first.URL, again.URL, err)
	}
	defer again.Close()
	other, err := Listen(t.Context(), Where{DataDir: dir})
	if err != nil || other.Origin.Port == first.Origin.Port {
		t.Fatalf("while that port is taken: %s, %v", other.URL, err)
	}
	if port := strconv.Itoa(first.Origin.Port); again.Moved != "" || other.Moved != port {
		t.Errorf("moved from %q and then from %q, want only the second move, from %s", again.Moved, other.Moved, port)
	}
	other.Close()
}
