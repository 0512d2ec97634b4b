package histdb

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tandem/tests/needs"
)

// The changes of a commit are on disk whatever happens to the journal. After an error, the caller
// would write them again, under ids already taken.
func TestFailedCheckpointDoesNotUndoCommit(t *testing.T) {
	h := openTestHistory(t, t.TempDir())
	h.checkpoint = func() error { return errors.New("disk full") }
	apply(t, h, Change{Add: []Row{{ID: 1, Command: "one"}, {ID: 2, Command: "two"}}})
	apply(t, h, Change{Remove: []int64{1}}, Change{Add: []Row{{ID: 3, Command: "three"}}})
	tried := 0
	h.checkpoint = func() error { tried++; return nil }
	for id := range 2 {
		apply(t, h, Change{Add: []Row{{ID: int64(4 + id), Command: "more"}}})
	}
	if tried != 1 {
		t.Errorf("tried to empty the journal %d times after it had failed once", tried)
	}
}

// A reader prevents SQLite from emptying the journal. That is no error.
func TestRemovedRowsLeaveJournalOnceItHasNoReaders(t *testing.T) {
	needs.FullRun(t)
	dir := t.TempDir()
	h, reader := openTestHistory(t, dir), openTestHistory(t, dir)
	apply(t, h, Change{Add: []Row{{ID: 1, Command: "s3cret"}}})
	tx, err := reader.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow(`SELECT count(*) FROM history`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	apply(t, h, Change{Remove: []int64{1}})
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	apply(t, h, Change{Add: []Row{{ID: 2, Command: "next"}}})
	for _, name := range []string{fileName, fileName + "-wal"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || bytes.Contains(text, []byte("s3cret")) {
			t.Errorf("%s holds what was removed (%v)", name, err)
		}
	}
}
