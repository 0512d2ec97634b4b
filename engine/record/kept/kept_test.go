package kept

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/engine/record/logs"
	"tandem/engine/record/outputs"
	"tandem/persist/datadir"
	"tandem/tests/seed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A rig is the kept output of a data directory with the records of ended runs.
type rig struct {
	testing.TB
	*Output
	dir     string
	logs    *logs.Logs
	limit   limits
	free    int64
	notices []string
}

func newRig(t testing.TB) *rig {
	r := &rig{TB: t, dir: t.TempDir(), logs: logs.New(slog.New(slog.DiscardHandler)), limit: defaultLimits(), free: 1 << 40}
	t.Cleanup(r.logs.Close)
	r.start()
	t.Cleanup(func() { r.Output.Close() })
	return r
}

// start opens the output, and waits until it can be used.
func (r *rig) start() {
	ready := make(chan struct{})
	r.Output = Start(context.Background(), r.dir, r.logs, slog.New(slog.DiscardHandler), func(text string) { r.notices = append(r.notices, text) }, ready)
	r.Output.limits = r.limit
	r.Output.free = func(string) (free, size int64, err error) { return r.free, 1 << 40, nil }
	close(ready)
	<-r.Output.ready
	r.enforce()
}

func (r *rig) restart() {
	r.Output.Close()
	r.start()
}

// add writes the logs of a run that exited some minutes ago: one, or standard output and error.
func (r *rig) add(id string, ago int, texts ...string) outputs.Target {
	r.Helper()
	at, code := time.Now().Add(-time.Duration(ago)*time.Minute), 0
	p := api.Process{ID: id, Name: "n" + id, Kind: api.KindProcess, State: api.StateExited, StartedAt: at, ExitedAt: &at, ExitCode: &code,
		Supervision: &api.Supervision{Transient: true}}
	dir := filepath.Join(r.dir, datadir.Processes, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.Fatal(err)
	}
	s := logs.Source{Name: p.Name, Path: filepath.Join(dir, "process.log"), State: func() api.State { return p.State }}
	if len(texts) > 1 {
		s.Path, s.ErrPath = filepath.Join(dir, "stdout.log"), filepath.Join(dir, "stderr.log")
	}
	for i, stream := range s.Streams() {
		if err := os.WriteFile(s.PathOf(stream), []byte(texts[i]), 0o600); err != nil {
			r.Fatal(err)
		}
	}
	return outputs.Target{Process: p, Source: s}
}

// trim keeps runs, and removes their records.
func (r *rig) trim(runs ...outputs.Target) {
	r.Helper()
	if r.Keep(runs) == nil {
		r.Fatal("nothing is kept")
	}
	for _, t := range runs {
		if err := os.RemoveAll(filepath.Join(r.dir, datadir.Processes, t.Process.ID)); err != nil {
			r.Fatal(err)
		}
	}
}

// text returns the kept output of a stream, or "none".
func (r *rig) text(id, stream string) string {
	r.Helper()
	t, ok, err := r.Find(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	if !ok {
		return "none"
	}
	out, err := r.logs.Read(r.Context(), api.ProcessLogInput{Stream: stream, Max: logs.MaxRead}, t.Source)
	if err != nil {
		r.Fatal(err)
	}
	return out.Data
}

// ids returns the kept runs in the order of a search.
func (r *rig) ids() string {
	r.Helper()
	q := outputs.KeptFilter{Kinds: []string{"session", "process", "exec"}}
	all, err := r.List(r.Context(), q, outputs.KeptCursor{}, 1000)
	if err != nil {
		r.Fatal(err)
	}
	var ids []string
	for _, t := range all {
		ids = append(ids, t.Process.ID)
	}
	if runs, _ := r.Size(); runs != len(ids) {
		r.Errorf("the size is %d runs, of %q", runs, ids)
	}
	return strings.Join(ids, " ")
}

func TestKeptOutputIsReadAsBefore(t *testing.T) {
	r := newRig(t)
	large := strings.Repeat("a line\n", maxPacked/7+1)
	r.trim(r.add("aaaa1", 3, "one\ntwo\n"), r.add("aaaa2", 2, "out\n", large), r.add("bbbb3", 1, ""))
	for range 2 {
		for _, want := range [][3]string{{"aaaa1", "", "one\ntwo\n"}, {"aaaa2", "stdout", "out\n"}, {"aaaa2", "stderr", large}, {"bbbb3", "", ""}, {"bbbb", "", ""}, {"aaaa", "", "none"}, {"cccc", "", "none"}} {
			if got := r.text(want[0], want[1]); got != want[2] {
				t.Errorf("%s %s: %d bytes, want %d", want[0], want[1], len(got), len(want[2]))
			}
		}
		if got := r.ids(); got != "bbbb3 aaaa2 aaaa1" {
			t.Errorf("listed %s", got)
		}
		r.restart()
	}
	found, _, err := r.Find(t.Context(), "aaaa2")
	if err != nil || found.Process.LogPath != "" || found.Process.ErrorLogPath == "" || found.Process.Name != "naaaa2" || *found.Process.ExitCode != 0 {
		t.Errorf("%+v, %v", found.Process, err)
	}
	if info, err := os.Stat(filepath.Join(r.dir, datadir.Output, databaseName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestTimesOfLinesAreKept(t *testing.T) {
	r := newRig(t)
	p := r.add("p", 1, "one\n")
	before := time.Now()
	r.logs.Begin(p.Source.Path, 0)
	r.trim(p)
	r.logs.Forget(p.Source.Path)
	r.restart()
	found, _, err := r.Find(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.logs.Read(t.Context(), api.ProcessLogInput{Times: true}, found.Source)
	if err != nil || len(out.Times) != 1 || out.Times[0].At.Before(before.Truncate(time.Microsecond)) {
		t.Errorf("%+v, %v", out.Times, err)
	}
}

func TestLimitsRemoveTheOldest(t *testing.T) {
	const day = 24 * 60
	for want, limit := range map[string]func(*limits){
		"e d c b a": func(*limits) {},
		"e d":       func(l *limits) { l.runs = 2 },
		"e d c":     func(l *limits) { l.age = 72 * time.Hour },
		"":          func(l *limits) { l.age = 0 },
		"e d c ":    func(l *limits) { l.bytes = 350_000 },
	} {
		t.Run(want, func(t *testing.T) {
			r := newRig(t)
			text := strings.Repeat("x", 100_000)
			for i, id := range []string{"a", "b", "c", "d", "e"} {
				r.trim(r.add(id, (5-i)*day-10, text))
			}
			limit(&r.limit)
			r.restart()
			if got := r.ids(); got != strings.TrimSpace(want) {
				t.Errorf("%q is left", got)
			}
			entries, _ := names(filepath.Join(r.dir, datadir.Output))
			files := 0
			for _, name := range entries {
				if !strings.HasPrefix(name, databaseName) {
					files++
				}
			}
			if files != len(strings.Fields(want)) {
				t.Errorf("files of %d runs are left", files)
			}
		})
	}
}

func TestKeepEnforcesTheLimits(t *testing.T) {
	r := newRig(t)
	r.limit.runs = 3
	r.restart()
	for i := range 5 {
		r.trim(r.add(fmt.Sprint(i), 10-i, "x\n"))
	}
	if got := r.ids(); got != "4 3 2" {
		t.Errorf("%q is left", got)
	}
	r.KeepFor(0)
	if got := r.ids(); got != "" {
		t.Errorf("%q is left", got)
	}
	r.trim(r.add("x", 1, "x\n"))
	if got := r.ids(); got != "" {
		t.Errorf("%q was kept", got)
	}
}

func TestNearlyFullDiskLosesKeptOutputFirst(t *testing.T) {
	r := newRig(t)
	r.trim(r.add("a", 1, "x\n"), r.add("b", 2, strings.Repeat("x", 2*maxPacked)))
	r.Output.free = func(string) (free, size int64, err error) { return 19 << 30, 1 << 40, nil }
	r.enforce()
	if got := r.ids(); got != "" {
		t.Errorf("%q is left", got)
	}
	r.trim(r.add("c", 1, "x\n"))
	if got := r.ids(); got != "" {
		t.Errorf("%q was kept", got)
	}
}

func TestOnlyTheEndOfALongLogIsKept(t *testing.T) {
	r := newRig(t)
	r.limit.run = 100_000
	r.restart()
	var text strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	r.trim(r.add("p", 1, text.String()))
	found, _, err := r.Find(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.logs.Read(t.Context(), api.ProcessLogInput{Max: logs.MaxRead}, found.Source)
	if err != nil {
		t.Fatal(err)
	}
	if out.Data != text.String()[out.Start:] || out.Start < int64(text.Len())-100_000 || out.Start > int64(text.Len())-99_900 || !strings.HasPrefix(out.Data, "line ") {
		t.Errorf("%d bytes from %d on: %.20q", len(out.Data), out.Start, out.Data)
	}
	if _, size := r.Size(); size > 101_000 {
		t.Errorf("the size is %d", size)
	}
}

func TestRemovedOutputLeavesNoTrace(t *testing.T) {
	r := newRig(t)
	r.trim(r.add("p", 1, "a-secret\n"), r.add("q", 1, strings.Repeat("another-secret\n", 10_000)), r.add("s", 1, "stays\n"))
	for _, id := range []string{"p", "q"} {
		if found, err := r.Remove(id); !found || err != nil {
			t.Errorf("%s: %v, %v", id, found, err)
		}
		if found, err := r.Remove(id); found || err != nil {
			t.Errorf("%s again: %v, %v", id, found, err)
		}
	}
	if got := r.ids(); got != "s" {
		t.Errorf("%q is left", got)
	}
	err := filepath.WalkDir(filepath.Join(r.dir, datadir.Output), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "secret") {
			t.Errorf("%s has it", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Each subtest leaves what a crash would leave at a step of Keep and of the removal that follows.
func TestCrashWhileKeepingLosesNothing(t *testing.T) {
	large := strings.Repeat("line\n", maxPacked)
	for name, crash := range map[string]func(r *rig, p outputs.Target){
		"files without a row": func(r *rig, p outputs.Target) {
			if _, err := r.prepare(p); err != nil {
				r.Fatal(err)
			}
		},
		"a row and a record": func(r *rig, p outputs.Target) { r.Keep([]outputs.Target{p}) },
		"a row that was removed, and files": func(r *rig, p outputs.Target) {
			r.Keep([]outputs.Target{p})
			if _, err := r.db.remove([]string{p.Process.ID}); err != nil {
				r.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			small, p := r.add("small", 1, "one\n"), r.add("large", 2, large)
			crash(r, small)
			crash(r, p)
			r.restart()
			if got := r.ids(); got != "" {
				t.Errorf("%q has a record and is kept", got)
			}
			if all, err := names(filepath.Join(r.dir, datadir.Output, "large")); err != nil || len(all) > 0 {
				t.Errorf("left %q, %v", all, err)
			}
			for _, run := range []outputs.Target{small, p} {
				if _, err := os.Stat(run.Source.Path); err != nil {
					t.Error(err)
				}
			}
			r.trim(small, p)
			r.restart()
			if got := r.ids(); got != "small large" || r.text("large", "") != large {
				t.Errorf("kept %q", got)
			}
		})
	}
}

func TestKeepingAgainReplacesTheFirstCopy(t *testing.T) {
	r := newRig(t)
	p := r.add("p", 1, "one\n")
	drop := r.Keep([]outputs.Target{p})
	if err := os.WriteFile(p.Source.Path, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Keep([]outputs.Target{p})
	if got, text := r.ids(), r.text("p", ""); got != "p" || text != "one\ntwo\n" {
		t.Errorf("%q with %q", got, text)
	}
	drop([]string{"p"})
	if got := r.ids(); got != "" {
		t.Errorf("%q is left", got)
	}
}

func TestRunWithoutALogIsNotKept(t *testing.T) {
	r := newRig(t)
	p := r.add("p", 1, "one\n")
	if err := os.Remove(p.Source.Path); err != nil {
		t.Fatal(err)
	}
	r.trim(p, r.add("q", 1, "two\n"))
	if got := r.ids(); got != "q" {
		t.Errorf("%q is kept", got)
	}
}

func TestDamagedDatabaseIsSetAside(t *testing.T) {
	r := newRig(t)
	r.trim(r.add("p", 1, "one\n"))
	r.Output.Close()
	path := filepath.Join(r.dir, datadir.Output, databaseName)
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.trim(r.add("q", 1, "two\n"))
	if got := r.ids(); got != "q" || len(r.notices) != 1 {
		t.Errorf("%q is kept, notices %q", got, r.notices)
	}
	if _, err := os.Stat(path + ".bad"); err != nil {
		t.Error(err)
	}
}

func TestDeletedFolderIsStartedAnew(t *testing.T) {
	r := newRig(t)
	r.trim(r.add("p", 1, "one\n"))
	if err := os.RemoveAll(filepath.Join(r.dir, datadir.Output)); err != nil {
		t.Fatal(err)
	}
	if got := r.ids(); got != "" {
		t.Errorf("%q is listed", got)
	}
	r.trim(r.add("q", 1, "two\n"))
	if got := r.ids(); got != "q" {
		t.Errorf("%q is kept", got)
	}
}

func TestDeletedOutputCannotBeOpened(t *testing.T) {
	r := newRig(t)
	r.trim(r.add("p", 1, "one\n"), r.add("q", 1, strings.Repeat("x", 2*maxPacked)))
	for _, id := range []string{"p", "q"} {
		found, _, err := r.Find(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Remove(id); err != nil {
			t.Fatal(err)
		}
		if _, err := found.Source.Kept.Open(found.Source.Path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// Searches and reads of kept logs find what they found before.
func TestKeptLogsAreSearchedLikeOthers(t *testing.T) {
	r := newRig(t)
	searcher := outputs.Searcher{Logs: r.logs, Kept: r.Output}
	seed.Check(t, func(rt *rapid.T) {
		var runs []outputs.Target
		var ids []string
		for i := range rapid.IntRange(1, 6).Draw(rt, "runs") {
			var texts []string
			for range rapid.IntRange(1, 2).Draw(rt, "streams") {
				text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"needle", "nee", "dle\n", "\n", "\r", "\x1b[31m", "世", "\xff"}), 0, 40).Draw(rt, "text"), "")
				if rapid.IntRange(0, 3).Draw(rt, "long") == 0 {
					text += strings.Repeat("\na long line\n", maxPacked/10) + text
				}
				texts = append(texts, text)
			}
			ids = append(ids, fmt.Sprint(i))
			runs = append(runs, r.add(ids[i], i, texts...))
		}
		in := api.OutputSearchInput{Pattern: api.Pattern{Text: "needle"}, Limit: 1000}
		before := search(rt, &searcher, in, runs)
		r.trim(runs...)
		if diff := cmp.Diff(before, search(rt, &searcher, in, nil)); diff != "" {
			rt.Fatal(diff)
		}
		if found, err := r.Remove(ids...); !found || err != nil {
			rt.Fatal(found, err)
		}
	})
}

// search returns all hits.
func search(t *rapid.T, s *outputs.Searcher, in api.OutputSearchInput, targets []outputs.Target) (hits []api.OutputHit) {
	for {
		q, err := outputs.NewQuery(in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Search(context.Background(), q, targets)
		if err != nil || out.Skipped > 0 {
			t.Fatalf("%d skipped, %v", out.Skipped, err)
		}
		hits = append(hits, out.Hits...)
		if in.Cursor = out.Cursor; in.Cursor == nil {
			return hits
		}
	}
}

func TestRecordsStayIfKeepingFails(t *testing.T) {
	r := newRig(t)
	if err := os.MkdirAll(filepath.Join(r.Output.dir, databaseName), 0o700); err != nil { // cannot be opened
		t.Fatal(err)
	}
	run := r.add("a", 1, "text")
	if r.Keep([]outputs.Target{run}) != nil {
		t.Error("the record may be removed")
	}
	if r.Keep(slices.Repeat([]outputs.Target{run}, maxLater+1)) == nil {
		t.Error("records without end stay")
	}
	if err := os.RemoveAll(r.Output.dir); err != nil {
		t.Fatal(err)
	}
	r.trim(run)
	if got := r.text("a", ""); got != "text" {
		t.Errorf("kept later: %q", got)
	}
}

func TestNearlyFullDiskLosesOnlyTheOldest(t *testing.T) {
	r := newRig(t)
	large := strings.Repeat("x", 10<<20)
	for i, id := range []string{"a", "b", "c"} {
		r.trim(r.add(id, 3-i, large))
	}
	need := max(r.limit.minFree, 1<<40/50)
	r.Output.free = func(string) (free, size int64, err error) {
		_, kept := r.Size()
		return need + 25<<20 - kept, 1 << 40, nil
	}
	r.enforce()
	if got := r.ids(); got != "c b" {
		t.Errorf("%q are left", got)
	}
}

func TestUnreadableRunLosesNoOther(t *testing.T) {
	r := newRig(t)
	r.trim(r.add("a", 1, "one"), r.add("b", 2, "two"))
	if _, err := r.db.db.Exec(`UPDATE runs SET facts = '{' WHERE id = 'b'`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Find(t.Context(), "b"); err == nil {
		t.Error("facts that are no JSON were read")
	}
	if runs, _ := r.Size(); runs != 2 || r.text("a", "") != "one" || len(r.notices) > 0 {
		t.Errorf("%d runs are left, notices %q", runs, r.notices)
	}
}
