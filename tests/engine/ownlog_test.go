package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
)

// maxOwnLog is the size of engine.log before it is rotated.
const maxOwnLog = 1 << 20

func sizesOf(t *testing.T, path string) (now, old int64) {
	t.Helper()
	for suffix, size := range map[string]*int64{"": &now, ".old": &old} {
		if info, err := os.Stat(path + suffix); err == nil {
			*size = info.Size()
		}
	}
	return now, old
}

// A crash loop of a program, or agents working without a pause, must not fill the disk.
func TestEngineLogIsRotatedWhileTheEngineRuns(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	path := filepath.Join(m.dir, "engine.log")
	pid := m.info().EnginePID
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Repeat(strings.Repeat("x", 99)+"\n", maxOwnLog/100+1)); err != nil {
		t.Fatal(err)
	}
	_, err = api.ProcessStart.Call(m.Context(), m.client, api.ProcessStartInput{Command: []string{"no-such-program"}})
	if err == nil {
		t.Fatal("it was started")
	}
	now, old := sizesOf(t, path)
	if old < maxOwnLog || now == 0 || now > 10_000 || m.info().EnginePID != pid {
		t.Errorf("%d bytes, %d put aside", now, old)
	}
}
