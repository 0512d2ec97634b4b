package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/persist/logtest"
)

func mustStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustSave(t testing.TB, s *Store, r Record) {
	t.Helper()
	if err := s.Save(r); err != nil {
		t.Fatal(err)
	}
}

// put writes a file of a process with content as a crash, a bad disk or a user might leave it.
func put(t testing.TB, s *Store, id, name, content string) {
	t.Helper()
	if err := os.MkdirAll(s.Dir(id), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir(id), name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func fileNames(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func mode(t testing.TB, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestOpenCreatesPrivateDirectories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "tandem")
	for range 2 {
		if _, err := Open(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, filepath.Join(dir, "processes")} {
		if got := mode(t, d); got != 0o700 {
			t.Errorf("%s has mode %o", d, got)
		}
	}
	if got := fileNames(t, dir); len(got) != 1 {
		t.Errorf("open leaves %v", got)
	}
}

func TestOpenMakesOwnDirectoryPrivate(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"processes", "history.db-wal", "engine.lock", "engine.log", "tandem.sock"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Join(dir, "processes")} {
		if got := mode(t, d); got != 0o700 {
			t.Errorf("%s has mode %o", d, got)
		}
	}
}

func TestOpenRejectsDirectoryWithOtherFiles(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "letter.txt"), nil, 0o600), os.WriteFile(filepath.Join(dir, "engine.lock"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("open: %v", err)
	}
	if got := mode(t, dir); got != 0o755 || len(fileNames(t, dir)) != 2 {
		t.Errorf("the folder has mode %o and holds %v", got, fileNames(t, dir))
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err != nil {
		t.Errorf("a closed folder is refused: %v", err)
	}
}

func TestOpenRejectsDirectoryOfAnotherUser(t *testing.T) {
	root := os.Geteuid() == 0
	dir := "/" // of root
	if root {
		dir = t.TempDir()
		if err := errors.Join(os.Chown(dir, 12345, -1), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(dir); err == nil || root && !strings.Contains(err.Error(), "belongs to uid 12345") {
		t.Errorf("open: %v", err)
	}
}

func TestOpenReportsProblemAndAdvice(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink(filepath.Join(dir, "nowhere", "at", "all"), dangling); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "below", "it"), dangling, "/proc/self", "/proc/self/fd/none"} {
		_, err := Open(path)
		if err == nil {
			t.Errorf("%s was opened", path)
			continue
		}
		for _, want := range []string{"data folder ", path, "TANDEM_DATA_DIR"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not name %q", err, want)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is more than one line", err)
		}
	}
}

func TestUpdateReplacesFileOnlyIfLengthChanges(t *testing.T) {
	s := mustStore(t)
	file := func() os.FileInfo {
		info, err := os.Stat(filepath.Join(s.Dir("p"), "record.json"))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	var before os.FileInfo
	for i, step := range []struct {
		argv string
		same bool
	}{
		{"first", false},
		{"second, which is longer", true},
		{strings.Repeat("long", 500), false},
		{strings.Repeat("LONG", 500), true},
		{strings.Repeat("many pages", 5000), false},
		{strings.Repeat("MANY PAGES", 5000), false},
		{"short", false},
	} {
		want := Record{Schema: SchemaVersion, ID: "p", Command: Command{Argv: []string{step.argv}}}
		if err := s.Update(want); err != nil {
			t.Fatal(err)
		}
		after := file()
		if before != nil && os.SameFile(before, after) != step.same {
			t.Errorf("update %d: the same file: %v", i, !step.same)
		}
		before = after
		if got, problems := s.Load(); len(problems) > 0 || !cmp.Equal(got, []Record{want}) {
			t.Fatalf("update %d: got %v, %v", i, got, problems)
		}
	}
}

func TestUpdateDoesNotFollowLinks(t *testing.T) {
	s := mustStore(t)
	mustSave(t, s, Record{ID: "p"})
	path, other := filepath.Join(s.Dir("p"), "record.json"), filepath.Join(t.TempDir(), "other")
	old, err := os.ReadFile(path)
	if err := errors.Join(err, os.Rename(path, other), os.Symlink(other, path), s.Update(Record{ID: "p", Name: "new"})); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(other); err != nil || string(now) != string(old) {
		t.Errorf("the file behind the link holds %q, %v", now, err)
	}
}

func TestDiscardRemovesProcess(t *testing.T) {
	s := mustStore(t)
	mustSave(t, s, Record{ID: "p"})
	for range 2 {
		if err := s.Discard("p"); err != nil {
			t.Fatal(err)
		}
	}
	if names := fileNames(t, filepath.Dir(s.Dir("p"))); len(names) > 0 {
		t.Errorf("left are %v", names)
	}
}

func TestRecordRoundTrips(t *testing.T) {
	s := mustStore(t)
	want := Record{
		Schema: SchemaVersion, ID: "0123456789ab", Kind: "session", Name: "ünïcode \x00 name",
		Command:  Command{Argv: []string{"sh", "-c", "\n\t\"'"}, CWD: "/", Env: map[string]string{"A": "1", "": ""}},
		Terminal: Terminal{TTY: true, Cols: 80, Rows: 24}, Origin: Origin{Actor: "cli", From: "me@laptop"}, Desired: "running", State: "running",
		Identity: &Identity{BootID: "b", PID: 1, StartTime: 1<<64 - 1}, CreatedAt: time.Now().UTC().Round(0), StartedAt: time.Now().UTC().Round(0),
	}
	mustSave(t, s, Record{ID: want.ID, Name: "before"})
	mustSave(t, s, want)
	got, problems := s.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if diff := cmp.Diff([]Record{want}, got); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff([]string{"record.json"}, fileNames(t, s.Dir(want.ID))); diff != "" {
		t.Error("save leaves files:", diff)
	}
	if got := mode(t, s.Dir(want.ID)); got != 0o700 {
		t.Errorf("the folder has mode %o", got)
	}
	if got := mode(t, filepath.Join(s.Dir(want.ID), "record.json")); got != 0o600 {
		t.Errorf("the record has mode %o", got)
	}
}

func TestLoadReturnsOldestRecordFirst(t *testing.T) {
	s := mustStore(t)
	now := time.Now()
	for i, id := range []string{"c", "a", "d", "b"} {
		mustSave(t, s, Record{ID: id, CreatedAt: now.Add(time.Duration(i/2) * time.Second)})
	}
	records, problems := s.Load()
	var ids []string
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	if diff := cmp.Diff([]string{"a", "c", "b", "d"}, ids); diff != "" || len(problems) > 0 {
		t.Fatal(diff, problems)
	}
}

func TestLoadSetsOnlyDamagedRecordAside(t *testing.T) {
	whole := `{"schema":1,"id":"bad"}`
	for name, content := range map[string]string{
		"empty":         "",
		"NULs":          strings.Repeat("\x00", 512),
		"cut":           whole[:10],
		"twice":         whole + whole,
		"not an object": `[1]`,
		"wrong types":   `{"schema":1,"id":"bad","argv":"sh"}`,
		"wrong id":      `{"schema":1,"id":"other"}`,
		"no schema":     `{"id":"bad"}`,
		"old schema":    `{"schema":-1,"id":"bad"}`,
		"null":          `null`,
	} {
		t.Run(name, func(t *testing.T) {
			s := mustStore(t)
			mustSave(t, s, Record{ID: "good"})
			put(t, s, "bad", "record.json", content)
			put(t, s, "bad", "process.log", "output")
			records, problems := s.Load()
			if len(records) != 1 || records[0].ID != "good" || len(problems) != 1 {
				t.Fatalf("loaded %v, problems %v", records, problems)
			}
			for _, want := range []string{filepath.Join(s.Dir("bad"), "record.json"), "damaged", "set aside as record.json.bad"} {
				if !strings.Contains(problems[0].Error(), want) {
					t.Errorf("%q does not say %q", problems[0], want)
				}
			}
			if got, err := os.ReadFile(filepath.Join(s.Dir("bad"), "record.json.bad")); err != nil || string(got) != content {
				t.Errorf("set aside: %q, %v", got, err)
			}
			if records, problems = s.Load(); len(records) != 1 || len(problems) != 0 {
				t.Errorf("loaded again: %v, problems %v", records, problems)
			}
		})
	}
}

func TestSetAsideKeepsEarlierBadRecord(t *testing.T) {
	s := mustStore(t)
	for i := range 3 {
		put(t, s, "p", "record.json", fmt.Sprint("damage ", i))
		if _, problems := s.Load(); len(problems) != 1 {
			t.Fatal(problems)
		}
	}
	want := []string{"record.json.bad", "record.json.bad.2", "record.json.bad.3"}
	if diff := cmp.Diff(want, fileNames(t, s.Dir("p"))); diff != "" {
		t.Fatal(diff)
	}
	for i, name := range want {
		got, err := os.ReadFile(filepath.Join(s.Dir("p"), name))
		if err != nil || string(got) != fmt.Sprint("damage ", i) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestLoadRejectsRecordOfNewerTandem(t *testing.T) {
	s := mustStore(t)
	content := fmt.Sprintf(`{"schema":%d,"id":{"new":"shape"}}`, SchemaVersion+1)
	put(t, s, "p", "record.json", content)
	for range 2 {
		records, problems := s.Load()
		if len(records) != 0 || len(problems) != 1 || !errors.Is(problems[0], ErrNewer) {
			t.Fatalf("loaded %v, problems %v", records, problems)
		}
	}
	if got, err := os.ReadFile(filepath.Join(s.Dir("p"), "record.json")); err != nil || string(got) != content {
		t.Fatalf("the record is now %q, %v", got, err)
	}
}

func TestLoadSkipsOtherEntries(t *testing.T) {
	s := mustStore(t)
	mustSave(t, s, Record{ID: "good"})
	put(t, s, "norecord", "process.log", "output")
	if err := os.WriteFile(filepath.Join(s.processes(), "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.processes(), "not an id"), 0o700); err != nil {
		t.Fatal(err)
	}
	records, problems := s.Load()
	if len(records) != 1 || len(problems) != 0 {
		t.Fatalf("loaded %v, problems %v", records, problems)
	}
	if got := len(fileNames(t, s.processes())); got != 4 {
		t.Errorf("%d entries are left of 4", got)
	}
}

func TestUnreadableRecordIsNotSetAside(t *testing.T) {
	s := mustStore(t)
	if err := os.MkdirAll(filepath.Join(s.Dir("p"), "record.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	records, problems := s.Load()
	if len(records) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Error(), "not a regular file") {
		t.Fatalf("loaded %v, problems %v", records, problems)
	}
	if diff := cmp.Diff([]string{"record.json"}, fileNames(t, s.Dir("p"))); diff != "" {
		t.Error(diff)
	}
}

func TestLoadReportsMissingDirectory(t *testing.T) {
	s := mustStore(t)
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	if _, problems := s.Load(); len(problems) != 1 {
		t.Fatal(problems)
	}
	if err := s.Save(Record{ID: "p"}); err == nil {
		t.Fatal("saved into a data folder that is gone")
	}
}

func TestLoadRemovesFilesLeftByCrashes(t *testing.T) {
	s := mustStore(t)
	mustSave(t, s, Record{ID: "p"})
	put(t, s, "p", ".persist-record.json-1.tmp", "half")
	put(t, s, "p", ".persist-record.json-2.tmp", "being written")
	old := time.Now().Add(-2 * tempAge)
	if err := os.Chtimes(filepath.Join(s.Dir("p"), ".persist-record.json-1.tmp"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.processes(), removedPrefix+"q", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, problems := s.Load(); len(problems) != 0 {
		t.Fatal(problems)
	}
	if diff := cmp.Diff([]string{"p"}, fileNames(t, s.processes())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{".persist-record.json-2.tmp", "record.json"}, fileNames(t, s.Dir("p"))); diff != "" {
		t.Error(diff)
	}
}

// The next start may come within seconds. After that, there may be none for months.
func TestLoadRemovesTempFilesOfKilledWriters(t *testing.T) {
	s := mustStore(t)
	mustSave(t, s, Record{ID: "p"})
	var left []string
	for _, pid := range []int{os.Getpid(), os.Getppid()} {
		name := fmt.Sprintf(".persist-sizes-%d-1.tmp", pid)
		put(t, s, "p", name, "being written")
		left = append(left, name)
	}
	killed := logtest.Start(t, logtest.RoleWait)
	if err := killed.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.Cmd.Wait()
	put(t, s, "p", fmt.Sprintf(".persist-sizes-%d-2.tmp", killed.Cmd.Process.Pid), "half")
	if _, problems := s.Load(); len(problems) != 0 {
		t.Fatal(problems)
	}
	slices.Sort(left)
	if diff := cmp.Diff(append(left, "record.json"), fileNames(t, s.Dir("p"))); diff != "" {
		t.Error(diff)
	}
}

func TestRemoveDeletesOnlyItsProcess(t *testing.T) {
	s := mustStore(t)
	mustSave(t, s, Record{ID: "p"})
	mustSave(t, s, Record{ID: "q"})
	put(t, s, "p", "process.log", "output")
	for range 2 {
		if err := s.Remove("p"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"q"}, fileNames(t, s.processes())); diff != "" {
		t.Fatal(diff)
	}
	if err := s.SaveCheckpoint("p", Checkpoint{Cols: 1, Rows: 1}); err == nil {
		t.Error("a late checkpoint brought the removed folder back")
	}
}

func TestInvalidIDCannotLeaveDataDirectory(t *testing.T) {
	s := mustStore(t)
	mustSave(t, s, Record{ID: "p"})
	for _, id := range []string{"", ".", "..", "../p", "a/b", ".removed-p", "a\x00", "ä", strings.Repeat("a", 65)} {
		_, _, exitErr := s.Exit(id)
		_, sizesErr := s.ReadResizes(id)
		_, checkErr := s.ReadCheckpoints(id)
		for what, err := range map[string]error{
			"Save": s.Save(Record{ID: id}), "Remove": s.Remove(id), "Exit": exitErr, "ReadResizes": sizesErr, "ReadCheckpoints": checkErr,
			"AppendResize": s.AppendResize(id, Resize{Cols: 1, Rows: 1}), "SaveCheckpoint": s.SaveCheckpoint(id, Checkpoint{Cols: 1, Rows: 1}),
		} {
			if err == nil || !strings.Contains(err.Error(), "invalid id") {
				t.Errorf("%s(%q): %v", what, id, err)
			}
		}
	}
	if records, _ := s.Load(); len(records) != 1 {
		t.Fatal("the data folder was harmed")
	}
}

func TestExitReadsTheKeepersFormat(t *testing.T) {
	s := mustStore(t)
	if _, ok, err := s.Exit("p"); ok || err != nil {
		t.Fatal("an exit where there is none:", ok, err)
	}
	zero := 0
	id := Identity{BootID: "b", PID: 7, StartTime: 9}
	at := time.Date(2026, 11, 20, 1, 2, 3, 0, time.UTC)
	const head = `{"schema":1,"identity":{"boot_id":"b","pid":7,"start_time":9},"exited_at":"2026-11-20T01:02:03Z",`
	for content, want := range map[string]Exit{
		head + `"code":0}`:                       {Schema: 1, Identity: id, Code: &zero, ExitedAt: at},
		head + `"code":null,"signal":"SIGKILL"}`: {Schema: 1, Identity: id, Signal: "SIGKILL", ExitedAt: at},
		head + `"code":null,"unknown":true}`:     {Schema: 1, Identity: id, Unknown: true, ExitedAt: at},
	} {
		put(t, s, "p", "exit.json", content)
		got, ok, err := s.Exit("p")
		if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
			t.Errorf("%s: ok %v, %v, %s", content, ok, err, diff)
		}
	}
}

func TestDamagedExitIsAnError(t *testing.T) {
	s := mustStore(t)
	for _, content := range []string{"", "{", "{}", `{"schema":1}`, `{"schema":1,"code":"0"}`, `{"schema":2,"code":0}`, `{"code":0}`, "null", "\x00\x00"} {
		put(t, s, "p", "exit.json", content)
		_, ok, err := s.Exit("p")
		if ok || err == nil || !strings.Contains(err.Error(), s.Dir("p")) {
			t.Errorf("%q: ok %v, %v", content, ok, err)
		}
	}
}

func TestSaveIsSafeForConcurrentUse(t *testing.T) {
	s := mustStore(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			id := fmt.Sprint("p", i)
			for range 3 {
				if err := s.Save(Record{ID: id}); err != nil {
					t.Error(err)
				}
				if _, problems := s.Load(); len(problems) > 0 {
					t.Error(problems)
				}
			}
		})
	}
	wg.Wait()
	if records, problems := s.Load(); len(records) != 8 || len(problems) != 0 {
		t.Fatal(records, problems)
	}
}

func TestLoadReadsEveryReleasedSchema(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "v1"))); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	const id = "0a1b2c3d4e5f"
	who := Identity{BootID: "6e2f6a39-7a0b-4d0e-9f8e-0a2f2f0d9c11", PID: 4242, StartTime: 1<<64 - 1}
	records, problems := s.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if diff := cmp.Diff([]Record{{
		Schema: 1, ID: id, Kind: "session", Name: "build",
		Command:  Command{Argv: []string{"bash", "-c", "make; echo \"füñ\"; exec bash"}, CWD: "/home/ada/src", Env: map[string]string{"EDITOR": "vi", "EMPTY": ""}},
		Terminal: Terminal{TTY: true, Cols: 120, Rows: 36}, Origin: Origin{Actor: "dashboard"},
		Desired: "running", State: "running", Error: "last start: no such file or directory", Identity: &who,
		CreatedAt: time.Date(2026, 11, 20, 14, 4, 5, 123456789, time.UTC), StartedAt: time.Date(2026, 11, 20, 14, 4, 6, 0, time.UTC), Title: "make: build",
	}}, records); diff != "" {
		t.Error(diff)
	}
	seven := 7
	exit, ok, err := s.Exit(id)
	if diff := cmp.Diff(Exit{Schema: 1, Identity: who, Code: &seven, ExitedAt: time.Date(2026, 11, 20, 15, 5, 0, 0, time.UTC)}, exit); diff != "" || !ok || err != nil {
		t.Error(diff, ok, err)
	}
	sizes, err := s.ReadResizes(id)
	if diff := cmp.Diff([]Resize{{Cols: 80, Rows: 24}, {Offset: 100, Cols: 120, Rows: 36}}, sizes); diff != "" || err != nil {
		t.Error(diff, err)
	}
	checkpoints, err := s.ReadCheckpoints(id)
	if diff := cmp.Diff([]Checkpoint{{4096, 120, 36, []byte("\x1b[2J\x1b[Hhello\r\n$ ")}, {1024, 120, 36, []byte{}}}, checkpoints); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestOpenMakesDirectoryOfAllOurFilesPrivate(t *testing.T) {
	ours := []string{"tips.json", "recent.json", "layouts.json", "layouts.json.bad.2", "audit.jsonl.1", "history.db-wal", "agent-tokens", "engine.log", "env.json.bad"}
	for name, refused := range map[string]bool{"": false, "notes.txt": true, "tips.json.mine": true} {
		dir := t.TempDir()
		for _, file := range append([]string{name}, ours...) {
			if file == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		if (err != nil) != refused {
			t.Errorf("with %q: %v", name, err)
		}
		if info, _ := os.Stat(dir); !refused && info.Mode().Perm() != 0o700 {
			t.Errorf("with %q: %v", name, info.Mode())
		}
	}
}

func TestLoadRemovesEmptyDirectoriesLeftByCrashes(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"empty", "other", "young", "unborn"} {
		if err := os.Mkdir(s.Dir(id), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.Dir("other"), "process.log"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.SandboxPath("unborn"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"empty", "other", "unborn"} {
		if err := os.Chtimes(s.Dir(id), time.Time{}, time.Now().Add(-2*tempAge)); err != nil {
			t.Fatal(err)
		}
	}
	if records, problems := s.Load(); len(records)+len(problems) != 0 {
		t.Errorf("%v, %v", records, problems)
	}
	for _, id := range []string{"empty", "unborn"} {
		if _, err := os.Stat(s.Dir(id)); err == nil {
			t.Errorf("%s is there", id)
		}
	}
	for _, id := range []string{"other", "young"} {
		if _, err := os.Stat(s.Dir(id)); err != nil {
			t.Error(err)
		}
	}
}

func TestUnreadableRecordIsReportedAsUnread(t *testing.T) {
	unread := func(id string, problems []error) {
		t.Helper()
		var u *Unread
		if len(problems) != 1 || !errors.As(problems[0], &u) || u.ID != id {
			t.Errorf("problems %v, want record %q unread", problems, id)
		}
	}
	s := mustStore(t)
	mustSave(t, s, Record{ID: "good"})
	put(t, s, "newer", "record.json", `{"schema":2,"id":"newer"}`)
	records, problems := s.Load()
	if unread("newer", problems); len(records) != 1 {
		t.Errorf("loaded %v", records)
	}
	if err := os.RemoveAll(s.Dir("newer")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.Dir("loop"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir("loop"), "record.json")
	if err := os.Symlink("record.json", path); err != nil { // ELOOP, even for root
		t.Fatal(err)
	}
	records, problems = s.Load()
	if unread("loop", problems); len(records) != 1 {
		t.Errorf("loaded %v", records)
	}
	if r, err := s.LoadRecord("loop"); r != nil {
		t.Errorf("loaded %v", r)
	} else {
		unread("loop", []error{err})
	}
	if to, err := os.Readlink(path); err != nil || to != "record.json" {
		t.Errorf("link leads to %s, %v", to, err)
	}
	for _, why := range []error{syscall.EMFILE, syscall.EIO, syscall.EACCES} {
		s.readDir = func(string) ([]fs.DirEntry, error) { return nil, why }
		records, problems = s.Load()
		if unread("", problems); len(records) != 0 || !errors.Is(problems[0], why) {
			t.Errorf("loaded %v, problems %v", records, problems)
		}
	}
	if r, err := s.LoadRecord("absent"); r != nil || err != nil {
		t.Errorf("LoadRecord of a missing record: %v, %v", r, err)
	}
}
