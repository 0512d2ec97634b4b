package service

import (
	"testing"

	"tandem/engine/api"
	"tandem/engine/sandbox"
	"tandem/persist/store"
)

func TestLayersAreWrittenDownButThoseThatAreNot(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &Starter{Store: data, Closed: []string{t.TempDir()}}
	open, closed := &api.Sandbox{}, &api.Sandbox{Network: &api.SandboxNetwork{}}
	for _, c := range []struct {
		id     string
		layers []*api.Sandbox
		want   int
	}{{"none", nil, 0}, {"nil", []*api.Sandbox{nil}, 0}, {"one", []*api.Sandbox{open}, 1}, {"both", []*api.Sandbox{open, nil, closed}, 2}} {
		r := store.Record{ID: c.id}
		if err := s.confine(&r, c.layers); err != nil || r.Sandboxed != (c.want > 0) {
			t.Errorf("%s: %+v, %v", c.id, r, err)
		}
		if !r.Sandboxed {
			continue
		}
		if got, err := sandbox.LoadLayers(data.SandboxPath(c.id)); err != nil || len(got) != c.want {
			t.Errorf("%s: %+v, %v", c.id, got, err)
		}
	}
}
