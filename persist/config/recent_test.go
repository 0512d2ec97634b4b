package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tandem/persist/datadir"
)

func TestWhatWasChosenIsKeptForTheNextDashboard(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	names, keep := Recent(dir)
	if names != nil {
		t.Errorf("a new data folder has %q", names)
	}
	keep([]string{"action pane.zoom", "session s1"})
	if names, _ = Recent(dir); !slices.Equal(names, []string{"action pane.zoom", "session s1"}) {
		t.Errorf("kept are %q", names)
	}
	if err := os.WriteFile(filepath.Join(dir, datadir.Recent), []byte(`["half`), 0o600); err != nil {
		t.Fatal(err)
	}
	if names, _ = Recent(dir); names != nil {
		t.Errorf("of a damaged file there are %q", names)
	}
}
