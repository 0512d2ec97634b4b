package history

import (
	"database/sql"
	"path/filepath"
	"testing"

	"tandem/engine/api"
	"tandem/persist/histdb"
)

// While writing fails, rows are listed under the ids they will keep.
func TestUnwrittenRowsAlreadyHaveTheirFinalIDs(t *testing.T) {
	dir := t.TempDir()
	h := newTestHistory(t, dir)
	h.addRuns("first")
	h.want(api.HistorySearchInput{}, "first")
	db, err := sql.Open("sqlite", filepath.Join(dir, "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TRIGGER refuse BEFORE INSERT ON history BEGIN SELECT RAISE(ABORT, 'disk full'); END`); err != nil {
		t.Fatal(err)
	}
	began := func(line, process string) {
		h.RecordRun(histdb.Row{Command: line, Process: process, StartedAt: historyBegin, Duration: -1, Running: true})
	}
	began("zero", "z")
	h.want(api.HistorySearchInput{}, "zero", "first") // the attempt to write it has failed by now
	began("one", "p")
	began("two", "q")
	code := 3
	h.RecordEnd(histdb.End{Process: "p", ExitCode: &code})
	check := func(when string) {
		t.Helper()
		ids := map[int64]bool{}
		for _, r := range h.search(api.HistorySearchInput{}).Rows {
			if r.ID == 0 || ids[r.ID] {
				t.Errorf("%s %q has id %d", when, r.Command.Command, r.ID)
			}
			ids[r.ID] = true
			if (r.Command.Command == "one") != (r.ExitCode != nil) {
				t.Errorf("%s %q exited with %v", when, r.Command.Command, r.ExitCode)
			}
		}
		if len(ids) != 4 {
			t.Errorf("%s there are %d rows", when, len(ids))
		}
	}
	check("while the disk refuses,")
	if _, err := db.Exec(`DROP TRIGGER refuse`); err != nil {
		t.Fatal(err)
	}
	h.Close()
	h = newTestHistory(t, dir)
	check("after a restart,")
}
