package host

import (
	"os"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/control/supervise"
	"tandem/persist/store"
)

func TestWritingAndPrintingCountAsUseOfAnInputSession(t *testing.T) {
	t.Parallel()
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	long, now := time.Now().Add(-time.Hour), time.Now()
	rec := supervise.NewRecord("0123456789ab", api.KindProcess)
	rec.Stdin, rec.StartedAt = true, long.Add(-time.Hour)
	if err := data.Save(rec); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{data.InputPath(rec.ID), data.LogPath(rec)} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	used := func(input, log, started time.Time) bool {
		t.Helper()
		rec.StartedAt = started
		for path, at := range map[string]time.Time{data.InputPath(rec.ID): input, data.LogPath(rec): log} {
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		return wasUsedSince(data, rec, now.Add(-30*time.Minute))
	}
	if used(long, long, long) || !used(now, long, long) || !used(long, now, long) || !used(long, long, now) {
		t.Error("idle and used processes are not told apart")
	}
}
