package files

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"tandem/engine/base/panics"
)

// Each thread of a search calls Confine. Here the first call succeeds and the later ones, made by
// the search's goroutines, panic.
func TestGrepPanicReachesCaller(t *testing.T) {
	for name, harmless := range map[string]int32{"search": 0, "worker": 1} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			var calls atomic.Int32
			tree := Tree{Confine: func() error {
				if calls.Add(1) > harmless {
					stumble()
				}
				return nil
			}}
			c := panics.Catch(func() { _, _ = (Searcher{&tree}).Grep(t.Context(), GrepRequest{Pattern: "x", Path: dir}) })
			if c == nil || c.String() != "stumbled" || !strings.Contains(c.Stack, "stumble") {
				t.Errorf("caught %v", c)
			}
		})
	}
}

func stumble() { panic("stumbled") }
