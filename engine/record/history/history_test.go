package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/persist/histdb"
)

// A testHistory is a history with its notices.
type testHistory struct {
	testing.TB
	*History
	dir string

	mu      sync.Mutex
	notices []string
}

func newTestHistory(t testing.TB, dir string, ignore ...string) *testHistory {
	t.Helper()
	h := &testHistory{TB: t, dir: dir}
	h.History = Start(dir, ignore, slog.New(slog.NewTextHandler(io.Discard, nil)), func(text string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.notices = append(h.notices, text)
	}, nil)
	t.Cleanup(h.Close)
	return h
}

func (h *testHistory) sentNotices() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.notices
}

func (h *testHistory) search(in api.HistorySearchInput) api.HistorySearchOutput {
	h.Helper()
	out, err := h.Search(h.Context(), in)
	if err != nil {
		h.Fatal(err)
	}
	return out
}

// commands returns the command lines found by a search.
func (h *testHistory) commands(in api.HistorySearchInput) []string {
	h.Helper()
	lines := []string{}
	for _, r := range h.search(in).Rows {
		lines = append(lines, r.Command.Command)
	}
	return lines
}

func (h *testHistory) want(in api.HistorySearchInput, want ...string) {
	h.Helper()
	if diff := cmp.Diff(append([]string{}, want...), h.commands(in)); diff != "" {
		h.Errorf("%+v: %s", in, diff)
	}
}

var historyBegin = time.Unix(1_700_000_000, 0)

// addRuns adds runs of commands, a minute apart.
func (h *testHistory) addRuns(lines ...string) {
	for i, line := range lines {
		h.RecordRun(histdb.Row{Command: line, StartedAt: historyBegin.Add(time.Duration(i) * time.Minute), Kind: KindSession, Actor: "person"})
	}
}

func TestSearchFindsRowsJustRecorded(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	h.addRuns("make test", "git status")
	h.want(api.HistorySearchInput{}, "git status", "make test")
	h.addRuns("ls")
	h.want(api.HistorySearchInput{Query: "ls"}, "ls")
	h.Close()

	h = newTestHistory(t, h.dir)
	h.want(api.HistorySearchInput{Query: "mktst"}, "make test")
	if got := h.search(api.HistorySearchInput{}).Total; got != 3 {
		t.Errorf("%d rows after a restart", got)
	}
}

func TestLogRangeOfARunIsKept(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	h.RecordRun(histdb.Row{Command: "make", StartedAt: historyBegin, Kind: KindSession, LogStart: 10, LogEnd: 25})
	for _, when := range []string{"in memory", "after a restart"} {
		if r := h.search(api.HistorySearchInput{}).Rows[0]; r.LogStart != 10 || r.LogEnd != 25 {
			t.Errorf("%s: from %d to %d", when, r.LogStart, r.LogEnd)
		}
		h.Close()
		h = newTestHistory(t, h.dir)
	}
}

// The engine may be killed right after it has answered a search.
func TestShownRowsAreOnDisk(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	for i, line := range []string{"first", "second"} {
		h.addRuns(line)
		h.want(api.HistorySearchInput{Query: line}, line)

		db, _, err := histdb.Open(h.dir)
		if err != nil {
			t.Fatal(err)
		}
		rows, _, err := db.Size()
		if err := errors.Join(err, db.Close()); err != nil || rows != i+1 {
			t.Errorf("%d rows on disk after %q, error %v", rows, line, err)
		}
	}
}

func TestHistoryIgnoresExcludedCommands(t *testing.T) {
	h := newTestHistory(t, t.TempDir(), "^secret ", "(broken", "passw[o]rd")
	h.addRuns(" ls", "", " \n", "secret plan", "my password", strings.Repeat("x", MaxLine+1), "TOKEN=abc run", "kept  \n")
	h.want(api.HistorySearchInput{}, "kept", "TOKEN=*** run")
	for _, line := range []string{" ls", "secret x"} {
		if _, err := h.Add(t.Context(), api.HistoryAddInput{Command: line}); !errors.Is(err, api.CodeConflict) {
			t.Errorf("add %q: %v", line, err)
		}
	}
}

func TestSearchRanksByScoreThenTime(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	h.addRuns("git push", "grep -i t file", "git pull", "go install thing")
	h.want(api.HistorySearchInput{Query: "git"}, "git pull", "git push", "grep -i t file", "go install thing")
	h.want(api.HistorySearchInput{Query: "git", Limit: 1, Offset: 1}, "git push")
	h.want(api.HistorySearchInput{Query: "git", Offset: 99})
	out := h.search(api.HistorySearchInput{Query: "git pul"})
	if len(out.Rows) != 1 || out.Total != 1 || !cmp.Equal(out.Rows[0].Matched, []int{0, 1, 2, 4, 5, 6}) {
		t.Errorf("%+v", out)
	}
}

func TestSearchSupportsFZFSyntax(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	h.addRuns("make build", "cmake .", "make Test", "echo caf\u00e9 \u6f22\u5b57", "ls my dir", "git log | less")
	for query, want := range map[string][]string{
		"'make":              {"make Test", "make build", "cmake ."},
		"^make":              {"make Test", "make build"},
		"build$":             {"make build"},
		"^cmake\\ .$":        {"cmake ."},
		"make !build !cmake": {"make Test"},
		"Test":               {"make Test"},
		"TEST":               {},
		"build | 'less":      {"make build", "git log | less"},
		"| less":             {"git log | less"},
		"cafe":               {"echo caf\u00e9 \u6f22\u5b57"},
		"\u5b57":             {"echo caf\u00e9 \u6f22\u5b57"},
		"my\\ dir":           {"ls my dir"},
		"test build":         {},
		"MAKE tst":           {},
		"make TEST":          {},
		"mk Tst":             {"make Test"},
		"ake ld":             {"make build"},
		"!":                  {"git log | less", "ls my dir", "echo caf\u00e9 \u6f22\u5b57", "make Test", "cmake .", "make build"},
	} {
		h.want(api.HistorySearchInput{Query: query}, want...)
	}
	got := h.search(api.HistorySearchInput{Query: "\u5b57"}).Rows[0].Matched
	if !cmp.Equal(got, []int{11}) { // characters, not bytes
		t.Errorf("matched %v", got)
	}
}

func TestSearchFiltersRows(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	zero, one := 0, 1
	for i, r := range []histdb.Row{
		{Command: "a", CWD: "/x", Actor: "person", Kind: KindSession, Process: "p1", ExitCode: &zero},
		{Command: "b", CWD: "/x/y", Actor: "agent:m/1", Kind: KindExec, Process: "p2", ExitCode: &one},
		{Command: "c", CWD: "/x", Actor: "agent:n/2", From: "me@laptop", Kind: KindExec, Process: "p3", ExitSignal: "SIGKILL"},
		{Command: "a", CWD: "/x", Actor: "person", Kind: KindProcess, Process: "p4"},
	} {
		r.StartedAt = historyBegin.Add(time.Duration(i) * time.Hour)
		h.RecordRun(r)
	}
	since := historyBegin.Add(2 * time.Hour)
	for _, test := range []struct {
		in   api.HistorySearchInput
		want []string
	}{
		{api.HistorySearchInput{CWD: "/x"}, []string{"a", "c", "a"}},
		{api.HistorySearchInput{CWD: "/nowhere"}, nil},
		{api.HistorySearchInput{Actor: "agent"}, []string{"c", "b"}},
		{api.HistorySearchInput{Actor: "agent:m/1"}, []string{"b"}},
		{api.HistorySearchInput{Actor: "agent:m"}, []string{"b"}},
		{api.HistorySearchInput{Actor: "agent:"}, nil},
		{api.HistorySearchInput{Actor: "person"}, []string{"a", "a"}},
		{api.HistorySearchInput{From: "Lap"}, []string{"c"}},
		{api.HistorySearchInput{From: "me@"}, []string{"c"}},
		{api.HistorySearchInput{From: "top"}, nil},
		{api.HistorySearchInput{From: "p3"}, nil},
		{api.HistorySearchInput{Kind: "exec"}, []string{"c", "b"}},
		{api.HistorySearchInput{Process: "p3"}, []string{"c"}},
		{api.HistorySearchInput{Failed: true}, []string{"c", "b"}},
		{api.HistorySearchInput{Since: &since}, []string{"a", "c"}},
		{api.HistorySearchInput{Exact: "a"}, []string{"a", "a"}},
		{api.HistorySearchInput{Exact: "A"}, nil},
		{api.HistorySearchInput{Unique: true}, []string{"a", "c", "b"}},
		{api.HistorySearchInput{Query: "a", CWD: "/x", Kind: "session"}, []string{"a"}},
	} {
		h.want(test.in, test.want...)
	}
	if rows := h.search(api.HistorySearchInput{Unique: true, CWD: "/x"}).Rows; rows[0].Runs != 2 || rows[1].Runs != 1 {
		t.Errorf("runs: %+v", rows)
	}
	for _, in := range []api.HistorySearchInput{{Limit: -1}, {Offset: -1}} {
		if _, err := h.Search(t.Context(), in); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

// Rows of earlier versions have nothing but the status.
func TestInterruptIsRecognisedByStatus(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	for code, command := range map[int]string{130: "ctrl+c", 131: "ctrl+backslash", 143: "terminated"} {
		h.RecordRun(histdb.Row{Command: command, StartedAt: historyBegin, Kind: KindSession, Actor: "person", ExitCode: &code})
	}
	h.want(api.HistorySearchInput{Failed: true}, "terminated")
	for _, r := range h.search(api.HistorySearchInput{}).Rows {
		if r.Stopped == (r.Command.Command == "terminated") {
			t.Errorf("%+v", r)
		}
	}
}

func TestRowsAreOrderedByStartTime(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	at := func(line string, minutes int) {
		h.RecordRun(histdb.Row{Command: line, StartedAt: historyBegin.Add(time.Duration(minutes) * time.Minute), Kind: KindSession})
	}
	h.want(api.HistorySearchInput{})
	at("third", 3)
	at("first", 1)
	at("fourth", 4)
	at("second", 2)
	h.want(api.HistorySearchInput{}, "fourth", "third", "second", "first")
	h.Close()
	newTestHistory(t, h.dir).want(api.HistorySearchInput{}, "fourth", "third", "second", "first")
}

func TestChangesReachDiskAndMemory(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	code, ms := 3, int64(1500)
	c, err := h.Add(t.Context(), api.HistoryAddInput{Command: "one two ", CWD: "/x", StartedAt: &historyBegin, ExitCode: &code, DurationMS: &ms})
	want := api.Command{ID: 1, Command: "one two", CWD: "/x", StartedAt: historyBegin, DurationMS: 1500, ExitCode: &code, Actor: "person", Kind: "added"}
	if diff := cmp.Diff(want, c); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	h.addRuns("one two", "three", "three", "four")
	if got, err := h.Remove(t.Context(), api.HistoryRemoveInput{IDs: []int64{c.ID, 999}}); got.Count != 1 || err != nil {
		t.Error(got, err)
	}
	if got, err := h.Remove(t.Context(), api.HistoryRemoveInput{Command: "three"}); got.Count != 2 || err != nil {
		t.Error(got, err)
	}
	if _, err := h.Remove(t.Context(), api.HistoryRemoveInput{}); !errors.Is(err, api.CodeInvalid) {
		t.Error(err)
	}
	h.want(api.HistorySearchInput{}, "four", "one two")
	h.Close()
	h = newTestHistory(t, h.dir)
	h.want(api.HistorySearchInput{}, "four", "one two")
	if got, err := h.Clear(t.Context(), api.Empty{}); got.Count != 2 || err != nil {
		t.Error(got, err)
	}
	h.want(api.HistorySearchInput{})
	h.addRuns("five")
	if rows := h.search(api.HistorySearchInput{}).Rows; len(rows) != 1 || rows[0].ID != 6 {
		t.Errorf("%+v", rows)
	}
}

func TestExitCompletesRunningRow(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	h.want(api.HistorySearchInput{}) // loads the index
	code := 0
	exited := historyBegin.Add(time.Second)
	h.RecordRun(histdb.Row{Command: "serve", Process: "p", StartedAt: historyBegin, Duration: -1, Running: true})
	check := func(ms int64, code *int, signal string) {
		t.Helper()
		r := h.search(api.HistorySearchInput{}).Rows[0]
		if r.DurationMS != ms || !cmp.Equal(r.ExitCode, code) || r.ExitSignal != signal {
			t.Errorf("%+v", r)
		}
	}
	check(-1, nil, "")
	h.RecordEnd(histdb.End{Process: "p", At: exited, ExitCode: &code})
	check(1000, &code, "")

	again := exited.Add(time.Second)
	h.RecordRun(histdb.Row{Command: "serve", Process: "p", StartedAt: again, Duration: -1, Running: true})
	h.RecordEnd(histdb.End{Process: "p", At: again.Add(time.Minute), ExitSignal: "SIGTERM", Stopped: true})
	check(60_000, nil, "SIGTERM")
	h.RecordEnd(histdb.End{Process: "p", At: again.Add(time.Hour), ExitCode: &code}) // has ended already
	check(60_000, nil, "SIGTERM")
	h.Close()
	h = newTestHistory(t, h.dir)
	check(60_000, nil, "SIGTERM")
	h.want(api.HistorySearchInput{Failed: true})
	if got := h.search(api.HistorySearchInput{Exact: "serve"}).Total; got != 2 {
		t.Errorf("%d runs", got)
	}
}

func TestDamagedHistoryIsReportedAndReplaced(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "history.db"), []byte(strings.Repeat("no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newTestHistory(t, dir)
	h.addRuns("ls")
	h.want(api.HistorySearchInput{}, "ls")
	if notices := h.sentNotices(); len(notices) != 1 || !strings.Contains(notices[0], "history.db.bad") {
		t.Errorf("notices %q", notices)
	}
}

func TestRunsAreKeptWhileDatabaseCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "history.db")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	h := newTestHistory(t, dir)
	h.addRuns("one", "two")
	if _, err := h.Search(t.Context(), api.HistorySearchInput{}); !errors.Is(err, api.CodeUnavailable) {
		t.Errorf("error %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	h.addRuns("three")
	h.want(api.HistorySearchInput{Query: "!one"}, "two", "three")
	h.want(api.HistorySearchInput{Query: "one"}, "one")
}

func TestSearchStopsOnCancel(t *testing.T) {
	x := newHistoryIndex()
	for _, r := range generateRows(2000) {
		x.appendRow(&r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.search(ctx, api.HistorySearchInput{Query: "e"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// New runs alone must not keep the index in memory.
func TestIndexIsReleasedAMinuteAfterLastSearch(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHistory(t, dir)
		defer h.Close()
		inMemory := func() bool {
			synctest.Wait()
			h.History.mu.RLock()
			defer h.History.mu.RUnlock()
			return h.index != nil
		}
		h.addRuns("make")
		h.want(api.HistorySearchInput{Query: "make"}, "make")
		if !inMemory() {
			t.Fatal("not in memory after a search")
		}
		for range 60 {
			time.Sleep(time.Second)
			h.addRuns("make test")
		}
		if inMemory() {
			t.Error("in memory a minute after the last search")
		}
		if got := h.search(api.HistorySearchInput{Query: "test"}).Total; got != 60 {
			t.Errorf("%d rows found", got)
		}
	})
}

func TestHistoryHandlesConcurrentCalls(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 50 {
				id := fmt.Sprintf("%d-%d", i, n)
				h.RecordRun(histdb.Row{Command: "run " + id, Process: id, StartedAt: time.Now(), Duration: -1, Running: true})
				switch n % 10 {
				case 3:
					h.search(api.HistorySearchInput{Query: "run"})
				case 5:
					if _, err := h.Remove(t.Context(), api.HistoryRemoveInput{Command: "run " + id}); err != nil {
						t.Error(err)
					}
				}
				code, at := 0, time.Now()
				h.RecordEnd(histdb.End{Process: id, At: at, ExitCode: &code})
			}
		})
	}
	all.Wait()
	check := func() {
		t.Helper()
		out := h.search(api.HistorySearchInput{Query: "run", Limit: 1000})
		if out.Total != 8*45 {
			t.Errorf("%d rows", out.Total)
		}
		ids := make(map[int64]bool)
		for _, r := range out.Rows {
			if ids[r.ID] || r.DurationMS < 0 || r.ExitCode == nil {
				t.Errorf("%+v", r)
			}
			ids[r.ID] = true
		}
	}
	check()
	h.Close()
	h = newTestHistory(t, h.dir)
	check()
}

func TestStatsCountRuns(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	one := 1
	for i, line := range []string{"FOO=1 make", "make test", "make", "git push", "make"} {
		r := histdb.Row{Command: line, CWD: "/x", Actor: "person", StartedAt: historyBegin.Add(time.Duration(i) * time.Hour)}
		if i == 3 {
			r.ExitCode, r.Actor, r.CWD = &one, "agent:m/1", ""
		}
		h.RecordRun(r)
	}
	lastDay := historyBegin.Add(4 * time.Hour).Format(time.DateOnly)
	runs := 0
	for i := range 5 {
		if historyBegin.Add(time.Duration(i)*time.Hour).Format(time.DateOnly) == lastDay {
			runs++
		}
	}
	got, err := h.Stats(t.Context(), api.HistoryStatsInput{Limit: 1})
	want := api.HistoryStatsOutput{Total: 5, Unique: 4, Failed: 1, Programs: []api.NameCount{{Name: "make", Count: 4}},
		Commands: []api.NameCount{{Name: "make", Count: 2}}, Folders: []api.NameCount{{Name: "/x", Count: 4}}, Actors: []api.NameCount{{Name: "person", Count: 4}},
		Failures: []api.NameCount{{Name: "git push", Count: 1}}, Days: []api.NameCount{{Name: lastDay, Count: runs}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	person, err := h.Stats(t.Context(), api.HistoryStatsInput{Actor: "person"})
	if person.Total != 4 || person.Failed != 0 || len(person.Failures) != 0 || len(person.Actors) != 2 || err != nil {
		t.Errorf("of the user: %+v, %v", person, err)
	}
	since := historyBegin.Add(3 * time.Hour)
	if got, err := h.Stats(t.Context(), api.HistoryStatsInput{Since: &since}); got.Total != 2 || len(got.Actors) != 2 || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestLinesReturnsOnlyRequestedRuns(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	h.addRuns("one", "two", "three", "one")
	rows := h.search(api.HistorySearchInput{}).Rows
	lines, err := h.Lines(t.Context(), []int64{rows[0].ID, rows[2].ID, 99})
	if diff := cmp.Diff([]string{"two", "one"}, lines); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	lines, err = h.Lines(t.Context(), nil)
	if diff := cmp.Diff([]string{"one", "two", "three", "one"}, lines); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
}

func TestLoadReportsProgressAndStopsOnCancel(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	commands := make([]histdb.TextCommand, 10_000)
	for i := range commands {
		commands[i] = histdb.TextCommand{Line: fmt.Sprint("run ", i), Duration: -1}
	}
	l := h.loads.begin("/file", len(commands))
	progress := func() api.HistoryProgress {
		out, err := h.Loading(t.Context(), api.Empty{})
		if err != nil || len(out.Loads) != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
		return out.Loads[0]
	}
	if p := progress(); p != (api.HistoryProgress{Path: "/file", Total: len(commands)}) {
		t.Errorf("%+v", p)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := h.addCommands(ctx, commands, time.Now(), l); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d added, %v", n, err)
	}
	h.want(api.HistorySearchInput{})
	if n, err := h.addCommands(t.Context(), commands, time.Now(), l); n != len(commands) || err != nil {
		t.Errorf("%d added, %v", n, err)
	}
	if p := progress(); p.Done < len(commands)*9/10 || p.Done > len(commands) {
		t.Errorf("%+v", p)
	}
	if got := h.search(api.HistorySearchInput{Query: "run"}).Total; got != len(commands) {
		t.Errorf("%d found", got)
	}
	h.loads.end(l)
	if out, err := h.Loading(t.Context(), api.Empty{}); len(out.Loads) != 0 || err != nil {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestIgnoreReplacesPatterns(t *testing.T) {
	h := newTestHistory(t, t.TempDir(), "^vault ")
	if !h.Ignores("vault read x") || h.Ignores("make") {
		t.Error("the first patterns do not hold")
	}
	h.Ignore([]string{"make", "("}) // the second is invalid
	if h.Ignores("vault read x") || !h.Ignores("make") {
		t.Error("the later patterns do not hold")
	}
}

func TestProgramOfSkipsAssignments(t *testing.T) {
	for line, want := range map[string]string{
		"ls": "ls", "ls; git status": "ls", "(cd x && make)": "cd", "A=1 B='2' go test|tee log": "go", "A=1": "A=1", "": "", ";": "",
	} {
		if got := programOf(line); got != want {
			t.Errorf("%q runs %q", line, got)
		}
	}
}

func TestDeletedHistoryIsReportedAndReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "history.db")
	remove := func() {
		t.Helper()
		if err := os.Remove(path); err != nil { // but keep its side files
			t.Fatal(err)
		}
	}
	h := newTestHistory(t, dir)
	h.addRuns("one")
	h.want(api.HistorySearchInput{}, "one")
	remove()
	h.want(api.HistorySearchInput{})
	h.addRuns("two")
	h.want(api.HistorySearchInput{}, "two")
	remove()
	h.addRuns("three")
	h.want(api.HistorySearchInput{}, "three")
	if notices := h.sentNotices(); len(notices) != 2 || !strings.Contains(notices[0], "deleted") {
		t.Errorf("notices %q, want one for each deletion", notices)
	}
	h.Close()
	h = newTestHistory(t, dir)
	h.want(api.HistorySearchInput{}, "three")
}

func TestRecordMissedAddsUnwrittenRunsOnce(t *testing.T) {
	dir := t.TempDir()
	h := newTestHistory(t, dir)
	now := time.Now()
	row := func(process string, at time.Time) histdb.Row {
		return histdb.Row{Command: process, StartedAt: at, Duration: -1, Process: process, Kind: KindExec, Running: true}
	}
	h.RecordRun(row("written", now))
	h.want(api.HistorySearchInput{}, "written")
	h.Close()
	if h = newTestHistory(t, dir); h.LastWritten().IsZero() || time.Since(h.LastWritten()) > time.Minute {
		t.Fatalf("Written returned %v, want a time within the last minute", h.LastWritten())
	}
	code := 3
	end := h.LastWritten().Add(2 * time.Second)
	ended := func(r histdb.Row) histdb.Row {
		r.Complete(histdb.End{Process: r.Process, At: end, ExitCode: &code})
		return r
	}
	lost := h.LastWritten().Add(time.Second)
	missed := []histdb.Row{
		ended(row("written", now)), ended(row("lost", lost)), ended(row("removed", h.LastWritten().Add(-time.Hour))),
		row("running", h.LastWritten().Add(time.Minute)), row("written", h.LastWritten().Add(time.Hour)), // its next run
	}
	for range 2 {
		h.RecordMissed(missed)
		h.want(api.HistorySearchInput{}, "written", "running", "lost", "written")
		for i, r := range h.search(api.HistorySearchInput{}).Rows {
			if ended := r.ExitCode != nil && *r.ExitCode == 3 && r.DurationMS >= 0; ended != (i >= 2) {
				t.Errorf("%+v", r)
			}
		}
	}
	h.RecordEnd(histdb.End{Process: "running", At: end, ExitCode: &code})
	if r := h.search(api.HistorySearchInput{Query: "running"}).Rows; len(r) != 1 || r[0].ExitCode == nil {
		t.Errorf("%+v", r)
	}
}

func TestRecordMissedDoesNotRestoreDeletedRuns(t *testing.T) {
	dir := t.TempDir()
	h := newTestHistory(t, dir)
	run := histdb.Row{Command: "secret", StartedAt: time.Now(), Duration: -1, Process: "p", Kind: KindExec, Running: true}
	h.RecordRun(run)
	if _, err := h.Clear(t.Context(), api.Empty{}); err != nil {
		t.Fatal(err)
	}
	h.Close()
	h = newTestHistory(t, dir)
	h.RecordMissed([]histdb.Row{run})
	h.want(api.HistorySearchInput{})
}

// After an upgrade, the new engine may fail to start, and the previous one must still be able to
// read the database.
func TestDatabaseIsLeftAloneUntilTheEngineIsReady(t *testing.T) {
	for _, serves := range []bool{true, false} {
		dir, ready := t.TempDir(), make(chan struct{})
		h := Start(dir, nil, slog.New(slog.DiscardHandler), func(string) {}, ready)
		h.RecordRun(histdb.Row{Command: "make", StartedAt: time.Now()})
		if serves {
			close(ready)
		}
		h.Close()
		file, err := os.Stat(filepath.Join(dir, "history.db"))
		if err != nil || (file.Size() > 0) != serves {
			t.Errorf("ready %v: %v, %v", serves, file, err)
		}
	}
}
