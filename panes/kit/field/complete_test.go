package field

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCommandsAreCompletedWithProgramsAndFiles(t *testing.T) {
	folder := t.TempDir()
	for _, dir := range []string{"bin", "work", "work/src"} {
		if err := os.Mkdir(filepath.Join(folder, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"bin/serve": 0o700, "bin/server": 0o700, "bin/serves-not": 0o600, "work/site.conf": 0o600, "work/a b": 0o600} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(folder, "bin"))
	work := filepath.Join(folder, "work")
	for text, want := range map[string][]string{
		"se":                  {"serve", "serve", "server"},
		"serve":               {"serve", "serve", "server"},
		"server s":            {"server s", "server site.conf", "server src/"},
		"server si":           {"server site.conf", "server site.conf"},
		"server ../bin/serve": {"server ../bin/serve", "server ../bin/serve", "server ../bin/server", "server ../bin/serves-not"},
		"server a":            {""},
		"server 'si":          {""},
		"./si":                {"./site.conf", "./site.conf"},
		"server ":             {""},
		"":                    {""},
	} {
		common, lines := CompleteCommand(text, work, "/home/me")
		if got := append([]string{common}, lines...); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
