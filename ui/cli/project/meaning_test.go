package project

import (
	"testing"

	"tandem/engine/api"
)

func TestNamesReferToTheCurrentProjectFirst(t *testing.T) {
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
		ours, other := findNamed(list, c.file, c.ref)
		if id(ours) != c.ours || id(other) != c.other {
			t.Errorf("%s in %s means %q, not %q; want %q and %q", c.ref, c.file, id(ours), id(other), c.ours, c.other)
		}
	}
}

func TestPrefixesReferToTheCurrentProjectFirst(t *testing.T) {
	t.Parallel()
	process := func(id, name, file, entry string) api.Process {
		return api.Process{ID: id, Name: name, State: api.StateRunning, Project: &api.ProjectEntry{File: file, Name: entry}}
	}
	list := []api.Process{
		process("1", "web", "/a", "web"), process("2", "b-web", "/b", "web"), process("3", "worker", "/a", "worker"),
		process("4", "cache", "/b", "cache"), process("5", "cart", "/b", "cart"), process("abc", "api", "/a", "api"), process("6", "absent", "/b", "absent"),
	}
	for ref, want := range map[string]struct {
		means string
		told  bool
	}{
		"we": {"2", true}, "wor": {"wor", true}, "cac": {"4", false}, "ca": {"ca", false}, "w": {"2", true}, "ab": {"ab", false}, "": {"", false},
	} {
		told := false
		got := ResolveNames("/b", list, []string{ref}, true, func(string, ...any) { told = true })
		if got[0] != want.means || told != want.told {
			t.Errorf("%q means %q, told %v; want %q, %v", ref, got[0], told, want.means, want.told)
		}
	}
}

func TestResolveNamesIgnoresAnEarlierProcessOfTheSameName(t *testing.T) {
	t.Parallel()
	list := []api.Process{
		{ID: "1", Name: "web", State: api.StateExited},
		{ID: "2", Name: "web", State: api.StateRunning, Project: &api.ProjectEntry{File: "/a", Name: "web"}},
	}
	got := ResolveNames("/a", list, []string{"web"}, true, func(format string, args ...any) { t.Errorf(format, args...) })
	if got[0] != "2" {
		t.Errorf("web means %q", got[0])
	}
}

func id(p *api.Process) string {
	if p == nil {
		return ""
	}
	return p.ID
}
