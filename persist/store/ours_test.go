package store

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/persist/datadir"
)

// A data folder that was opened to others is recognised, whatever files of Tandem are in it, and
// closed again.
func TestOpenRecognisesEveryOwnFile(t *testing.T) {
	for _, name := range append(datadir.Names(), "engine.log.old", "history.db-wal", "audit.jsonl.1", "layouts.json.bad.2", ".recent.json12") {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err != nil {
			t.Errorf("with %s: %v", name, err)
		}
		if got := mode(t, dir); got != 0o700 {
			t.Errorf("with %s the folder has mode %o", name, got)
		}
	}
}
