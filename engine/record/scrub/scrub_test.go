package scrub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/persist/datadir"
	"tandem/persist/histdb"
	"tandem/persist/sqlitefile"
	"tandem/persist/store"
)

const (
	word    = "hunter22"
	session = "0123456789ab"
	other   = "ba9876543210"
)

func writeFile(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// newDataDir returns a data directory with the word in every kind of file.
func newDataDir(t *testing.T) (dir string, data *store.Store) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "d")
	data, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{session, other} {
		r := store.Record{ID: id, Kind: "session", Name: word, Desired: "running", State: "running"}
		r.Argv, r.Environ, r.CWD = []string{"sh", "-c", "echo " + word}, map[string]string{"TOKEN": word}, "/tmp"
		err := errors.Join(data.Save(r), data.SaveCheckpoint(id, store.Checkpoint{
			Offset: 100, Cols: 80, Rows: 24, Repaint: []byte("\x1b[1;1H$ echo " + word + "\x1b[2;1H\x1b[1mhun\x1b[mter22\x1b]2;" + word + "\x1b\\\x1b_T\x1b\\"),
		}))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(data.Dir(id), store.LogName), []byte("$ echo "+word+"\r\n\x1b[1mhun\x1b[mter22\r\nother\r\n"))
	}
	for name, text := range map[string]string{
		datadir.Audit:            `{"time":"2026-01-02T15:04:05Z","operation":"exec","arguments":{"command":["echo","` + word + `"]}}` + "\n",
		datadir.Audit + ".1":     `{"error":"` + word + `"}` + "\n",
		datadir.EngineLog:        "time=x level=INFO msg=" + word + "\n",
		datadir.Environment:      `{"schema":1,"variables":{"A":"` + word + `"}}`,
		datadir.Layouts:          `{"schema":1,"current":{"title":"` + word + `"}}`,
		datadir.Recent:           `["` + word + `"]`,
		datadir.Transfers:        `{"schema":1,"transfers":[{"id":"1","error":"` + word + `"}]}`,
		datadir.Bookmarks:        "/home/" + word + "\n",
		"tmux/default.json":      `{"buffers":[{"name":"b","data":"aHVudGVyMjI="}],"set":{"A":"` + word + `"}}`, // base64 of the word
		"history.db.bad":         "SQLite " + word + "\x00\n",
		"output/1/process.log":   word + "\n",
		"processes/x/stdout.log": word + "\n",
		".recent.json123":        `["` + word + `"]`,
	} {
		writeFile(t, filepath.Join(dir, name), []byte(text))
	}
	h, _, err := histdb.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	row := histdb.Row{StartedAt: time.Now(), Actor: "person", Kind: "session", LogStart: 17, LogEnd: 45, Duration: 1}
	var rows []histdb.Row
	for i, process := range []string{session, other} {
		row.ID, row.Command, row.CWD, row.Process = int64(i+1), "echo "+word, "/"+word, process
		rows = append(rows, row)
	}
	if err := errors.Join(h.Apply([]histdb.Change{{Add: rows}}), h.Close()); err != nil {
		t.Fatal(err)
	}
	db, err := sqlitefile.Open(filepath.Join(dir, datadir.Output, "output.db"), "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`CREATE TABLE runs (id TEXT PRIMARY KEY, name TEXT, facts TEXT, first BLOB, second BLOB);
		INSERT INTO runs VALUES ('1', ?1, '{"process":{"id":"1","command":"' || ?1 || '"},"logs":[{"name":"process.log"}]}', CAST(?1 AS BLOB), NULL)`, word)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return dir, data
}

// holders returns the files with the word, in plain text or in base64.
func holders(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		plain := bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\x1b[m"), nil), []byte("\x1b[1m"), nil)
		if bytes.Contains(plain, []byte(word)) || bytes.Contains(text, []byte("aHVudGVyMjI")) {
			rel, _ := filepath.Rel(dir, path)
			paths = append(paths, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.Contains(path, ".db") {
			info, infoErr := e.Info()
			err, all[path] = infoErr, info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func find(t *testing.T, dir string, q Query, earlier *Result) *Result {
	t.Helper()
	r, err := Find(context.Background(), dir, q, earlier)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNoFileHasTheTextAfterwards(t *testing.T) {
	dir, data := newDataDir(t)
	before := sizes(t, dir)
	q := Query{Texts: []string{word}}
	if err := find(t, dir, q, nil).Plan.Run(dir); err != nil {
		t.Fatal(err)
	}
	if with := holders(t, dir); len(with) > 0 {
		t.Errorf("these still have the text: %q", with)
	}
	for path, size := range sizes(t, dir) {
		if before[path] != size {
			t.Errorf("%s has %d bytes, not %d", path, size, before[path])
		}
	}
	if left := find(t, dir, q, nil); !left.Plan.IsEmpty() {
		t.Errorf("found again: %+v", left.Places)
	}
	records, problems := data.Load()
	if len(records) != 2 || len(problems) > 0 || records[0].Environ["TOKEN"] != "xxxxxxxx" || records[0].Desired != "running" {
		t.Errorf("records: %+v, %v", records, problems)
	}
	checkpoints, err := data.ReadCheckpoints(session)
	if err != nil || len(checkpoints) != 1 || !strings.Contains(string(checkpoints[0].Repaint), "$ echo xxxxxxxx\x1b[2;1H\x1b[1mxxx\x1b[mxxxxx\x1b]2;xxxxxxxx\x1b\\") {
		t.Errorf("checkpoints: %+v, %v", checkpoints, err)
	}
}

func TestOnlyFilesOfTheGivenSessionAndSharedOnesChange(t *testing.T) {
	dir, _ := newDataDir(t)
	if err := find(t, dir, Query{Texts: []string{word}, IDs: []string{session}}, nil).Plan.Run(dir); err != nil {
		t.Fatal(err)
	}
	want := []string{"history.db", "output/1/process.log", "output/output.db", "processes/" + other + "/checkpoint", "processes/" + other + "/process.log", "processes/" + other + "/record.json", "processes/x/stdout.log"}
	if with := holders(t, dir); !slices.Equal(with, want) {
		t.Errorf("the text is left in %q, want %q", with, want)
	}
}

func TestHistoryThatWasNeverUsedHasNoPlaces(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, datadir.History), nil)
	if found := find(t, dir, Query{Texts: []string{word}}, nil); !found.Plan.IsEmpty() {
		t.Errorf("found %+v", found.Places)
	}
}

func TestInterruptedScrubIsFinished(t *testing.T) {
	dir, _ := newDataDir(t)
	plan := find(t, dir, Query{Texts: []string{word}}, nil).Plan
	text, err := json.Marshal(plan)
	if err != nil || bytes.Contains(text, []byte(word)) {
		t.Fatalf("the list of places: %s, %v", text, err)
	}
	writeFile(t, filepath.Join(dir, datadir.Scrub), text)
	// What was overwritten before the interruption, and a checkpoint that was written in part.
	for _, f := range plan.Files[:len(plan.Files)/2] {
		if err := f.overwrite(dir); err != nil {
			t.Fatal(err)
		}
	}
	checkpoint := filepath.Join(dir, datadir.Processes, other, "checkpoint")
	content, err := os.ReadFile(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	writeAt(t, checkpoint, bytes.Replace(content, []byte(word), []byte("xxxxxxxx"), 1))
	if err := Finish(dir); err != nil {
		t.Fatal(err)
	}
	if with := holders(t, dir); len(with) > 0 {
		t.Errorf("these still have the text: %q", with)
	}
	if err := Finish(dir); err != nil {
		t.Errorf("without a list: %v", err)
	}
}

// writeAt changes the content of a file in place.
func writeAt(t *testing.T, path string, content []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.Write(content)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestReplacedFileIsLeftAlone(t *testing.T) {
	dir, _ := newDataDir(t)
	plan := find(t, dir, Query{Texts: []string{word}}, nil).Plan
	path := filepath.Join(dir, datadir.Recent)
	if err := store.Replace(path, []byte(`["new"]`)); err != nil {
		t.Fatal(err)
	}
	if err := plan.Run(dir); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(path); string(text) != `["new"]` {
		t.Errorf("a file that was replaced meanwhile has %q", text)
	}
}

func TestFileChangedInPlaceIsLeftAlone(t *testing.T) {
	dir, _ := newDataDir(t)
	plan := find(t, dir, Query{Texts: []string{word}}, nil).Plan
	path := filepath.Join(dir, datadir.Bookmarks)
	now := "/root/another1\n" // as long as before
	writeAt(t, path, []byte(now))
	if err := plan.Run(dir); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(path); string(text) != now {
		t.Errorf("a file that was changed meanwhile has %q, not %q", text, now)
	}
}

func TestOutputSinceTheFirstSearchIsSearchedToo(t *testing.T) {
	dir, data := newDataDir(t)
	q := Query{Texts: []string{word}}
	path := filepath.Join(data.Dir(session), store.LogName)
	writeAt(t, path, []byte("hunt"))
	earlier := find(t, dir, q, nil)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString("and " + word + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := find(t, dir, q, earlier).Plan.Run(dir); err != nil {
		t.Fatal(err)
	}
	if with := holders(t, dir); len(with) > 0 {
		t.Errorf("these still have the text: %q", with)
	}
}

func TestLastCommandIsOverwrittenWithItsLineAndScreen(t *testing.T) {
	dir, data := newDataDir(t)
	log := "old\n\x1b]133;B;aid=n\als\r\n\x1b]133;C;aid=n\aa\r\nb\r\n\x1b]133;D\anext\n"
	from, to := strings.Index(log, "a\r\nb"), strings.Index(log, "\x1b]133;D")
	writeFile(t, filepath.Join(data.Dir(session), store.LogName), []byte(log))
	q := Query{IDs: []string{session}, Last: &Command{ID: session, Row: "1", From: int64(from), To: int64(to)}}
	if err := find(t, dir, q, nil).Plan.Run(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(data.Dir(session), store.LogName))
	if want := "old\n\x1b]133;B;aid=n\axx\r\n\x1b]133;C;aid=n\ax\r\nx\r\n\x1b]133;D\anext\n"; string(got) != want || err != nil {
		t.Errorf("log %q, %v; want %q", got, err, want)
	}
	if c, err := data.ReadCheckpoints(session); err != nil || len(c) != 1 || strings.Contains(string(c[0].Repaint), "echo") {
		t.Errorf("checkpoints %+v, %v", c, err)
	}
	h, _, err := histdb.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var commands []string
	err = h.Rows(context.Background(), func(r *histdb.Row) { commands = append(commands, r.Command) })
	if !slices.Equal(commands, []string{strings.Repeat("x", len("echo "+word)), "echo " + word}) || err != nil {
		t.Errorf("commands %q, %v", commands, err)
	}
}
