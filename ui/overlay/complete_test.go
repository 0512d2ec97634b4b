package overlay

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
	for text, want := range map[string]completion{
		"se":                  {whole: "serve", names: []string{"serve", "server"}},
		"serve":               {whole: "serve", names: []string{"serve", "server"}},
		"server s":            {whole: "server s", names: []string{"site.conf", "src/"}},
		"server si":           {whole: "server site.conf", names: []string{"site.conf"}},
		"server ../bin/serve": {whole: "server ../bin/serve", names: []string{"serve", "server", "serves-not"}},
		"server a":            {whole: "server a"},
		"server 'si":          {whole: "server 'si"},
		"./si":                {whole: "./site.conf", names: []string{"site.conf"}},
		"server ":             {whole: "server "},
		"":                    {},
	} {
		got := completeCommand(text, work, "/home/me")
		if got.whole != want.whole || !slices.Equal(got.names, want.names) || got.text != text {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
