package service

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/sandbox"
	"tandem/persist/store"
)

func TestSaveSandboxOmitsNilLayers(t *testing.T) {
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
		if err := s.saveSandbox(&r, c.layers); err != nil || r.Sandboxed != (c.want > 0) {
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

func TestSandboxFilesHaveThePublicFormat(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &Starter{Store: data, Closed: []string{t.TempDir()}}
	for _, c := range []struct {
		id, want string
		layers   []*api.Sandbox
	}{
		{"unconfined", `{"filesystem":{"denyRead":[],"allowWrite":["/"],"denyWrite":[]}}`, nil},
		{"confined", `{"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]},"network":{"allowedDomains":[],"deniedDomains":[]}}`,
			[]*api.Sandbox{{Network: &api.SandboxNetwork{}}}},
	} {
		if err := s.saveSandbox(&store.Record{ID: c.id}, c.layers); err != nil {
			t.Fatal(err)
		}
		if err := access.NoteUnconfined(data, c.id); err != nil { // has no effect on a confined process
			t.Fatal(err)
		}
		text, err := os.ReadFile(data.SandboxPath(c.id))
		var plain bytes.Buffer
		if err == nil {
			err = json.Compact(&plain, text)
		}
		if err != nil || plain.String() != c.want {
			t.Errorf("%s: %s, %v", c.id, plain.String(), err)
		}
	}
}
