package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"tandem/engine/api"
	"tandem/keys"
)

var update = flag.Bool("update", false, "write the generated pages anew")

func TestGeneratedPagesAreUpToDate(t *testing.T) {
	for page, want := range map[string]string{
		"docs/api.md":  api.Reference(),
		"docs/keys.md": keys.Reference(),

		"docs/config.md": configReference(),
	} {
		if *update {
			if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is stale; write it with: go test . -run GeneratedPages -update", page)
		}
	}
}
