package engine

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newLimitedLog returns an engine.log with the given limit in bytes.
func newLimitedLog(t *testing.T, most int64) *ownLog {
	t.Helper()
	path := filepath.Join(t.TempDir(), "engine.log")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &ownLog{path: path, out: f, limit: most, rotateAt: most}
}

func TestEngineLogStaysWithinItsLimit(t *testing.T) {
	t.Parallel()
	const most = 10_000
	l := newLimitedLog(t, most)
	log := slog.New(slog.NewTextHandler(l, nil))
	for i := range 1000 {
		log.Info("something happened", "number", i)
		if now, old := sizesOf(t, l.path); now > most+200 || old > most+200 {
			t.Fatalf("after %d lines: %d and %d bytes", i, now, old)
		}
	}
	text, err := os.ReadFile(l.path)
	if err != nil || !strings.HasSuffix(string(text), "number=999\n") {
		t.Errorf("it ends with %q, error %v", text[max(0, len(text)-100):], err)
	}
	if _, old := sizesOf(t, l.path); old == 0 {
		t.Error("nothing was put aside")
	}
}

func TestEngineLogGrowsIfItCannotBeRotated(t *testing.T) {
	t.Parallel()
	l := newLimitedLog(t, 1000)
	if err := os.MkdirAll(filepath.Join(l.path+".old", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		fmt.Fprintln(l, strings.Repeat("x", 99))
	}
	text, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	if lines, complaints := strings.Count(string(text), "xxx\n"), strings.Count(string(text), "rotate "); lines != 100 || complaints == 0 || complaints > 20 {
		t.Errorf("%d lines and %d complaints", lines, complaints)
	}
}

func sizesOf(t *testing.T, path string) (now, old int64) {
	t.Helper()
	for suffix, size := range map[string]*int64{"": &now, ".old": &old} {
		if info, err := os.Stat(path + suffix); err == nil {
			*size = info.Size()
		}
	}
	return now, old
}
