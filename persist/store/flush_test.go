package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// recordSyncs makes s record the paths of files and folders instead of syncing them.
func recordSyncs(s *Store) (synced func() []string) {
	var mu sync.Mutex
	var paths []string
	s.Flusher.sync = func(f *os.File) error {
		mu.Lock()
		defer mu.Unlock()
		rel, err := filepath.Rel(s.dir, f.Name())
		paths = append(paths, rel)
		return err
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(paths)
		return paths
	}
}

func TestEverythingWrittenIsSyncedWithinASecondAndOnce(t *testing.T) {
	inFolder := func(names ...string) []string { return append([]string{".", "processes", "processes/p"}, names...) }
	for name, c := range map[string]struct {
		write func(*Store) error
		want  []string
	}{
		"record":  {func(s *Store) error { return s.Write(Record{ID: "p"}) }, inFolder("processes/p/record.json")[1:]},
		"update":  {func(s *Store) error { return s.Update(Record{ID: "p"}) }, inFolder("processes/p/record.json")[1:]},
		"sandbox": {func(s *Store) error { return s.SaveSandbox("p", []byte("{}"), false) }, inFolder("processes/p/sandbox.json")[1:]},
		"size":    {func(s *Store) error { return s.AppendResize("p", Resize{Cols: 80, Rows: 24}) }, inFolder("processes/p/sizes")[1:]},
		"removal": {func(s *Store) error { return s.Discard("p") }, []string{".", "processes"}},
		"layouts": {func(s *Store) error { return s.SaveLayouts(Layouts{}) }, []string{".", "layouts.json"}},
		"line":    {appendLine, []string{".", "audit.jsonl"}},
		"other file": {func(s *Store) error {
			s.Flusher.Add(filepath.Join(s.dir, "layouts.json"))
			return s.SaveLayouts(Layouts{})
		}, []string{".", "layouts.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := mustStore(t)
				mustSave(t, s, Record{ID: "p"})
				synced := recordSyncs(s)
				if err := errors.Join(c.write(s), c.write(s)); err != nil {
					t.Fatal(err)
				}
				if got := synced(); len(got) != 0 {
					t.Errorf("the writer waited for %q", got)
				}
				time.Sleep(time.Second)
				slices.Sort(c.want)
				if got := synced(); !slices.Equal(got, c.want) {
					t.Errorf("synced %q, want %q", got, c.want)
				}
			})
		})
	}
}

func appendLine(s *Store) error {
	l := NewLines(filepath.Join(s.dir, "audit.jsonl"))
	l.Flusher = &s.Flusher
	return l.Append(1)
}

func TestFlushWaitsUntilEverythingIsSyncedAndReportsErrors(t *testing.T) {
	s := mustStore(t)
	var got error
	s.Flusher.Failed = func(err error) { got = err }
	s.Flusher.sync = func(f *os.File) error { return &fs.PathError{Op: "sync", Path: f.Name(), Err: errTest} }
	if err := s.Write(Record{ID: "p"}); err != nil {
		t.Fatal(err)
	}
	s.Flusher.Flush()
	if !errors.Is(got, errTest) || !strings.Contains(got.Error(), "record.json") {
		t.Errorf("reported %v", got)
	}
}

var errTest = errors.New("the disk failed")

// A killed engine may have written a record without having synced it.
func TestLoadSyncsRecordsWrittenJustBefore(t *testing.T) {
	s := mustStore(t)
	for _, id := range []string{"old", "new"} {
		mustSave(t, s, Record{ID: id})
	}
	long := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(s.Dir("old"), recordName), long, long); err != nil {
		t.Fatal(err)
	}
	synced := recordSyncs(s)
	s.Load()
	s.Flusher.Flush()
	if got := synced(); !slices.Contains(got, "processes/new/record.json") || slices.Contains(got, "processes/old/record.json") {
		t.Errorf("synced %q", got)
	}
}

// afterPowerFailure simulates a power failure. It sets the time of everything in the data directory
// to before the boot, and that of one process's files to earlier before the power failure.
func afterPowerFailure(t *testing.T, s *Store, id string, earlier time.Duration) {
	t.Helper()
	booted := time.Now().Add(-time.Minute)
	failed := booted.Add(-time.Hour)
	s.power.bootedAt = func() time.Time { return booted }
	s.power.bornAt = func(path string) time.Time {
		if path == s.Dir(id) {
			return failed.Add(-earlier)
		}
		return failed.Add(-24 * time.Hour)
	}
	err := filepath.WalkDir(s.dir, func(path string, _ fs.DirEntry, err error) error {
		at := failed
		if strings.HasPrefix(path, s.Dir(id)) {
			at = failed.Add(-earlier)
		}
		return errors.Join(err, os.Chtimes(path, at, at))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesCutShortByPowerFailureCountAsNeverWritten(t *testing.T) {
	for name, content := range map[string]string{
		"empty":             "",
		"NULs":              "\x00\x00\x00\x00",
		"half":              `{"schema":1,"id":"bad","name":"x`,
		"half, then NULs":   `{"schema":1,"id":"bad",` + strings.Repeat("\x00", 4096),
		"no record":         "none",
		"only its temp":     "temp",
		"half, set aside":   "aside",
		"layouts and a log": "layouts",
	} {
		t.Run(name, func(t *testing.T) {
			s := mustStore(t)
			mustSave(t, s, Record{ID: "good"})
			put(t, s, "bad", "process.log", "")
			keeps := false
			switch content {
			case "none":
			case "temp":
				put(t, s, "bad", ".persist-record.json-1-77.tmp", "")
			case "aside":
				put(t, s, "bad", "record.json.bad", "")
				keeps = true
			case "layouts":
				if err := os.WriteFile(filepath.Join(s.dir, "layouts.json"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			default:
				put(t, s, "bad", "record.json", content)
			}
			afterPowerFailure(t, s, "bad", time.Second)
			records, problems := s.Load()
			if len(records) != 1 || records[0].ID != "good" || len(problems) != 0 {
				t.Errorf("loaded %v, problems %v", records, problems)
			}
			if _, err := os.Stat(s.Dir("bad")); (err == nil) != keeps {
				t.Errorf("folder: %v", err)
			}
			if _, err := s.LoadLayouts(); err != nil {
				t.Errorf("load layouts: %v", err)
			}
		})
	}
}

func TestOtherDamageIsReportedAfterPowerFailure(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		earlier time.Duration
	}{
		"synced long before": {"", time.Minute},
		"not cut short":      {"null", time.Second},
		"of another process": {`{"schema":1,"id":"other"}`, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustStore(t)
			mustSave(t, s, Record{ID: "good"})
			put(t, s, "bad", "record.json", c.content)
			afterPowerFailure(t, s, "bad", c.earlier)
			if _, problems := s.Load(); len(problems) != 1 || !strings.Contains(problems[0].Error(), "set aside as record.json.bad") {
				t.Errorf("problems %v", problems)
			}
		})
	}
}

func TestBirthTimeOfAFolderIsItsCreation(t *testing.T) {
	before := time.Now().Add(-time.Second)
	if born := birthTime(t.TempDir()); !born.IsZero() && (born.Before(before) || born.After(time.Now())) {
		t.Errorf("born at %v, after %v", born, before)
	}
	if booted := bootTime(); booted.IsZero() || booted.After(before) {
		t.Errorf("booted at %v", booted)
	}
}
