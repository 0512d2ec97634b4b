package histdb

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/persist/store"
)

func openTestHistory(t testing.TB, dir string) *History {
	t.Helper()
	h, aside, err := Open(dir)
	if err != nil || aside != "" {
		t.Fatalf("open: set aside %q, error %v", aside, err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func (h *History) all(t testing.TB) []Row {
	t.Helper()
	rows := []Row{}
	if err := h.Rows(t.Context(), func(r *Row) { rows = append(rows, *r) }); err != nil {
		t.Fatal(err)
	}
	return rows
}

func apply(t testing.TB, h *History, changes ...Change) {
	t.Helper()
	if err := h.Apply(changes); err != nil {
		t.Fatal(err)
	}
}

// someRows returns rows with all columns set, and with as few as possible.
func someRows() []Row {
	code := 7
	at := time.UnixMicro(1_700_000_000_123_456)
	return []Row{
		{ID: 1, Command: "make test\n\techo 'ä'", CWD: "/work", StartedAt: at, Duration: 1500 * time.Microsecond, ExitCode: &code,
			ExitSignal: "SIGTERM", Actor: "agent:x/1", From: "me@laptop", Kind: "session", Process: "abc", LogStart: 5, LogEnd: 1 << 40, Stopped: true},
		{ID: 2, Command: "ls", StartedAt: at.Add(time.Second), Duration: -1, Actor: "person", Kind: "exec"},
		{ID: 5, Command: "sleep 1", StartedAt: at.Add(2 * time.Second), Duration: -1, Kind: "process", Process: "def", Running: true},
	}
}

func TestHistoryReturnsRowsUnchanged(t *testing.T) {
	dir := t.TempDir()
	h := openTestHistory(t, dir)
	apply(t, h, Change{Add: someRows()})
	if diff := cmp.Diff(someRows(), h.all(t)); diff != "" {
		t.Error(diff)
	}
	if rows, bytes, err := h.Size(); rows != 3 || bytes != 29 || err != nil {
		t.Errorf("%d rows of %d bytes, %v", rows, bytes, err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	again := openTestHistory(t, dir)
	if diff := cmp.Diff(someRows(), again.all(t)); diff != "" {
		t.Errorf("after opening it again: %s", diff)
	}
}

func TestEndCompletesRunningRows(t *testing.T) {
	h := openTestHistory(t, t.TempDir())
	rows := someRows()
	zero := 0
	apply(t, h, Change{Add: rows}, Change{End: &End{Process: "def", At: rows[2].StartedAt.Add(time.Minute), ExitCode: &zero}})
	got := h.all(t)[2]
	if got.Running || got.Duration != time.Minute || got.ExitCode == nil || *got.ExitCode != 0 {
		t.Errorf("completed as %+v", got)
	}
	apply(t, h, Change{End: &End{Process: "def", ExitSignal: "SIGKILL"}}, Change{End: &End{Process: "abc"}})
	if diff := cmp.Diff(got, h.all(t)[2]); diff != "" {
		t.Errorf("a second end changed it: %s", diff)
	}
	if diff := cmp.Diff(rows[0], h.all(t)[0]); diff != "" {
		t.Errorf("what did not run was changed: %s", diff)
	}
}

func TestEndWithUnknownOrEarlierTimeLeavesDurationValid(t *testing.T) {
	h := openTestHistory(t, t.TempDir())
	rows := someRows()
	apply(t, h, Change{Add: rows[2:]}, Change{End: &End{Process: "def"}})
	if got := h.all(t)[0]; got.Running || got.Duration >= 0 || got.ExitCode != nil {
		t.Errorf("of unknown time: %+v", got)
	}
	rows[2].ID = 9
	apply(t, h, Change{Add: rows[2:]}, Change{End: &End{Process: "def", At: rows[2].StartedAt.Add(-time.Hour)}})
	if got := h.all(t)[1]; got.Duration != 0 {
		t.Errorf("before the start: %+v", got)
	}
}

func TestHistoryRemovesRowsAndNeverReusesIDs(t *testing.T) {
	dir := t.TempDir()
	h := openTestHistory(t, dir)
	if last, err := h.Last(); last != 0 || err != nil {
		t.Errorf("last of none is %d, %v", last, err)
	}
	apply(t, h, Change{Add: someRows()}, Change{Remove: []int64{1, 77}})
	if got := h.all(t); len(got) != 2 || got[0].ID != 2 {
		t.Errorf("left: %+v", got)
	}
	apply(t, h, Change{Clear: true})
	if got := h.all(t); len(got) != 0 {
		t.Errorf("left: %+v", got)
	}
	if last, err := h.Last(); last != 5 || err != nil {
		t.Errorf("last is %d, %v", last, err)
	}
	for _, name := range []string{fileName, fileName + "-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "make test") {
			t.Errorf("%s still holds what was removed", name)
		}
	}
}

func TestApplyMakesAllChangesOrNone(t *testing.T) {
	h := openTestHistory(t, t.TempDir())
	rows := someRows()
	apply(t, h, Change{Add: rows[:1]})
	if err := h.Apply([]Change{{Add: rows[1:]}, {Add: rows[:1]}}); err == nil {
		t.Error("an id was given twice")
	}
	if got := h.all(t); len(got) != 1 {
		t.Errorf("rows: %+v", got)
	}
}

func TestHistoryFileIsPrivate(t *testing.T) {
	dir := t.TempDir()
	h := openTestHistory(t, dir)
	apply(t, h, Change{Add: someRows()})
	names, _ := filepath.Glob(filepath.Join(dir, fileName+"*"))
	if len(names) == 0 {
		t.Fatal("there is no database")
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestHistoryOpensInDirectoryOfAnyName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a ?#%41&=b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h := openTestHistory(t, dir)
	apply(t, h, Change{Add: someRows()})
	if _, err := os.Stat(filepath.Join(dir, fileName)); err != nil {
		t.Error(err)
	}
}

func TestOpenSetsDamagedHistoryAside(t *testing.T) {
	for name, damage := range map[string]string{
		"no database":        strings.Repeat("these are no rows\n", 1000),
		"another's database": "",
		"a header alone":     "SQLite format 3\x00 and then something else that does not belong there at all, for more than a hundred bytes ....",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, fileName)
			if damage == "" {
				makeForeign(t, path)
			} else if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
				t.Fatal(err)
			}
			h, aside, err := Open(dir)
			if err != nil || aside != fileName+".bad" {
				t.Fatalf("set aside %q, error %v", aside, err)
			}
			defer h.Close()
			apply(t, h, Change{Add: someRows()})
			if got := h.all(t); len(got) != 3 {
				t.Errorf("rows: %+v", got)
			}
			if b, err := os.ReadFile(filepath.Join(dir, aside)); err != nil || damage != "" && string(b) != damage {
				t.Errorf("set aside %d bytes, %v", len(b), err)
			}
		})
	}
}

func makeForeign(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE history (words TEXT)`); err != nil {
		t.Fatal(err)
	}
}

func TestHistoryDamagedInUseReportsErrDamaged(t *testing.T) {
	dir := t.TempDir()
	h := openTestHistory(t, dir)
	rows := make([]Row, 5000)
	for i := range rows {
		rows[i] = Row{ID: int64(i + 1), Command: strings.Repeat("x", 100), StartedAt: time.Unix(1, 0)}
	}
	apply(t, h, Change{Add: rows})
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fileName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(b) / 4; i < len(b); i++ {
		b[i] = 0xff
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	h = openTestHistory(t, dir)
	if err := h.Rows(t.Context(), func(*Row) {}); !errors.Is(err, ErrDamaged) {
		t.Fatalf("error %v", err)
	}
	if aside, err := h.SetAside(); err != nil || aside != fileName+".bad" {
		t.Fatalf("set aside %q, error %v", aside, err)
	}
	if got := openTestHistory(t, dir).all(t); len(got) != 0 {
		t.Errorf("rows: %d", len(got))
	}
}

func TestOpenRejectsHistoryOfNewerTandem(t *testing.T) {
	dir := t.TempDir()
	h := openTestHistory(t, dir)
	if _, err := h.db.Exec(`PRAGMA user_version = 99`); err != nil {
		t.Fatal(err)
	}
	h.Close()
	if _, aside, err := Open(dir); !errors.Is(err, store.ErrNewer) || aside != "" {
		t.Errorf("set aside %q, error %v", aside, err)
	}
}

func TestOpenLoadsHistoryOfEachRelease(t *testing.T) {
	fixtures, err := filepath.Glob("testdata/history/v*.sql")
	if err != nil || len(fixtures) != len(migrations()) {
		t.Fatalf("%d fixtures, %v", len(fixtures), err)
	}
	for _, name := range fixtures {
		t.Run(filepath.Base(name), func(t *testing.T) {
			script, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			db, err := sql.Open("sqlite", filepath.Join(dir, fileName))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(string(script)); err != nil {
				t.Fatal(err)
			}
			db.Close()
			h := openTestHistory(t, dir)
			want := someRows()
			switch filepath.Base(name) {
			case "v1.sql": // it did not note who wanted an end
				want[0].Stopped, want[0].From = false, ""
			case "v2.sql": // nor from where it was run
				want[0].From = ""
			}
			if diff := cmp.Diff(want, h.all(t)); diff != "" {
				t.Error(diff)
			}
			end := End{Process: "def", At: want[2].StartedAt, ExitSignal: "SIGTERM", Stopped: true}
			if apply(t, h, Change{End: &end}); !h.all(t)[2].Stopped {
				t.Error("an end that was asked for is not kept")
			}
			if last, err := h.Last(); last != 8 || err != nil {
				t.Errorf("last is %d, %v", last, err)
			}
		})
	}
}

func TestOpenMigratesOlderHistory(t *testing.T) {
	dir := t.TempDir()
	openTestHistory(t, dir).Close()
	path := filepath.Join(dir, fileName)
	steps := append(migrations(), `ALTER TABLE history ADD COLUMN mood TEXT NOT NULL DEFAULT 'good'`)
	h, err := open(path, steps)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, h, Change{Add: someRows()})
	var mood string
	if err := h.db.QueryRow(`SELECT mood FROM history LIMIT 1`).Scan(&mood); err != nil || mood != "good" {
		t.Errorf("%q, %v", mood, err)
	}
	h.Close()

	broken := append(steps, `ALTER TABLE history ADD COLUMN more TEXT; ALTER TABLE nothing ADD COLUMN x`)
	if _, err := open(path, broken); err == nil {
		t.Error("a step that fails was taken")
	}
	h, err = open(path, steps)
	if err != nil {
		t.Fatalf("after a step that failed: %v", err)
	}
	defer h.Close()
	if _, err := h.db.Exec(`SELECT more FROM history`); err == nil {
		t.Error("half of a step was taken")
	}
}

func TestRowsStopsWhenContextEnds(t *testing.T) {
	h := openTestHistory(t, t.TempDir())
	apply(t, h, Change{Add: someRows()})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Rows(ctx, func(*Row) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := h.all(t); len(got) != 3 {
		t.Errorf("rows afterwards: %+v", got)
	}
}

func TestCancelledLoadAddsNothing(t *testing.T) {
	h := openTestHistory(t, t.TempDir())
	rows := make([]Row, 5*loadStep)
	for i := range rows {
		rows[i] = Row{ID: int64(i + 1), Command: "make", StartedAt: time.Unix(1, 0)}
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := h.Load(ctx, rows, func(n int) {
		if n == 2*loadStep {
			cancel()
		}
	})
	if n, _, sizeErr := h.Size(); !errors.Is(err, context.Canceled) || n != 0 || sizeErr != nil {
		t.Fatalf("%d rows, %v, %v", n, err, sizeErr)
	}
	var told []int
	if err := h.Load(t.Context(), rows, func(n int) { told = append(told, n) }); err != nil {
		t.Fatal(err)
	}
	if n, _, err := h.Size(); n != len(rows) || err != nil || !slices.IsSorted(told) || len(told) != 5 {
		t.Errorf("%d rows, told %d, %v", n, told, err)
	}
}

func TestOpeningDoesNotCountAsAWrite(t *testing.T) {
	dir := t.TempDir()
	written := func() time.Time {
		t.Helper()
		at, ok := Written(dir)
		if !ok {
			t.Fatal("the time of the last write is unknown")
		}
		return at
	}
	written() // creates the file
	past := time.Now().Add(-time.Hour)
	setTime := func() time.Time {
		t.Helper()
		if err := os.Chtimes(filepath.Join(dir, fileName), time.Time{}, past); err != nil {
			t.Fatal(err)
		}
		return written()
	}
	want := setTime()
	h := openTestHistory(t, dir)
	if got := written(); !got.Equal(want) {
		t.Errorf("creating the tables moves the last write from %v to %v", want, got)
	}
	apply(t, h, Change{Add: []Row{{ID: 1, Command: "make", StartedAt: past}}})
	if got := written(); !got.After(want) {
		t.Error("a write does not move the last write")
	}
	h.Close()
	want = setTime()
	h = openTestHistory(t, dir)
	h.all(t)
	if got := written(); !got.Equal(want) {
		t.Errorf("opening and reading move the last write from %v to %v", want, got)
	}
}
