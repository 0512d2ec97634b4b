package project

import (
	"testing"

	"tandem/engine/api"
)

func TestNamesMeanTheProjectAtHandFirst(t *testing.T) {
	t.Parallel()
	entry := func(id, name, file, entry string, state api.State) api.Process {
		p := api.Process{ID: id, Name: name, State: state}
		if file != "" {
			p.Project = &api.ProjectEntry{File: file, Name: entry}
		}
		return p
	}
	list := []api.Process{
		entry("1", "web", "/a", "web", api.StateRunning),
		entry("2", "b-web", "/b", "web", api.StateStopped),
		entry("3", "b-web-2", "/b", "web", api.StateRunning),
		entry("4", "db", "", "", api.StateRunning),
		entry("5", "db", "/b", "db", api.StateStopped),
	}
	for _, c := range []struct{ file, ref, ours, other string }{
		{"/a", "web", "1", ""}, {"/b", "web", "3", "1"}, {"/c", "web", "", "1"}, {"/b", "b-web", "", "2"},
		{"/b", "db", "5", "4"}, {"/a", "db", "", "4"}, {"/b", "1", "", ""}, {"/b", "none", "", ""},
	} {
		ours, other := meant(list, c.file, c.ref)
		if id(ours) != c.ours || id(other) != c.other {
			t.Errorf("%s in %s means %q, not %q; want %q and %q", c.ref, c.file, id(ours), id(other), c.ours, c.other)
		}
	}
}

func id(p *api.Process) string {
	if p == nil {
		return ""
	}
	return p.ID
}
