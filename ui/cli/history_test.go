package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/engine/api/sockets"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
)

// A historyRig is a command line connected to a fake engine with a history.
type historyRig struct {
	*rig
	found    api.HistorySearchOutput
	searched []api.HistorySearchInput
	added    []api.HistoryAddInput
	removed  []api.HistoryRemoveInput
	saved    []api.HistorySaveInput
	loaded   []api.HistoryLoadInput
	counted  []api.HistoryStatsInput
	cleared  int

	loading func() api.HistoryLoadingOutput // progress of a load that never finishes
}

func newHistoryRig(t *testing.T) *historyRig {
	r := &historyRig{rig: newRig(t)}
	mux := r.mux()
	note := func(n int) (api.HistoryCount, error) { return api.HistoryCount{Count: n}, nil }
	server.Handle(mux, api.HistorySearch, func(_ context.Context, in api.HistorySearchInput) (api.HistorySearchOutput, error) {
		r.searched = append(r.searched, in)
		return r.found, nil
	})
	server.Handle(mux, api.HistoryAdd, func(_ context.Context, in api.HistoryAddInput) (api.Command, error) {
		r.added = append(r.added, in)
		return api.Command{ID: 7, Command: in.Command}, nil
	})
	server.Handle(mux, api.HistoryRemove, func(_ context.Context, in api.HistoryRemoveInput) (api.HistoryCount, error) {
		r.removed = append(r.removed, in)
		return note(len(in.IDs))
	})
	server.Handle(mux, api.HistoryClear, func(context.Context, api.Empty) (api.HistoryCount, error) {
		r.cleared++
		return note(1)
	})
	server.Handle(mux, api.HistorySave, func(_ context.Context, in api.HistorySaveInput) (api.HistoryCount, error) {
		r.saved = append(r.saved, in)
		return note(2)
	})
	server.Handle(mux, api.HistoryLoad, func(ctx context.Context, in api.HistoryLoadInput) (api.HistoryCount, error) {
		r.loaded = append(r.loaded, in)
		if r.loading != nil {
			<-ctx.Done()
			return api.HistoryCount{}, ctx.Err()
		}
		return note(3)
	})
	server.Handle(mux, api.HistoryLoading, func(context.Context, api.Empty) (api.HistoryLoadingOutput, error) {
		return r.loading(), nil
	})
	server.Handle(mux, api.HistoryStats, func(_ context.Context, in api.HistoryStatsInput) (api.HistoryStatsOutput, error) {
		r.counted = append(r.counted, in)
		return api.HistoryStatsOutput{Total: 9, Unique: 4, Failed: 1, Programs: []api.NameCount{{Name: "ma\x1bke", Count: 5}}}, nil
	})
	dir := shortDir(t)
	r.serveMux(mux, dir)
	connect := func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: dir, Version: "1.2.3", Name: "cli"})
	}
	r.options.Connect, r.options.Reach = connect, connect
	return r
}

func (r *rig) serveMux(mux *server.Mux, dir string) {
	socket, _ := sockets.Paths(dir)
	listener, err := server.Listen(socket)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- mux.Serve(ctx, listener) }()
	r.t.Cleanup(func() {
		stop()
		<-served
	})
}

func TestEmptyHistoryMentionsADamagedDatabase(t *testing.T) {
	r := newHistoryRig(t)
	damaged := filepath.Join(os.Getenv("TANDEM_DATA_DIR"), "history.db.bad")
	if err := os.WriteFile(damaged, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, _ := r.run("history"); stderr != "no command was found; a damaged history is kept as "+damaged+"\n" {
		t.Errorf("%q", stderr)
	}
}

func TestHistoryPassesItsFlagsToTheSearch(t *testing.T) {
	r := newHistoryRig(t)
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{}, {"docker", "'run"}, {"--here", "--failed", "-u", "-n", "5"}, {"--cwd", "/x/../y", "--actor", "agent", "--kind", "exec"},
		{"--process", "web"}, {"--process", "nobody"}, {"--exact", "ls -la"}, {"--", "save", "--failed"},
	} {
		if _, stderr, status := r.run(append([]string{"history"}, args...)...); status != 0 || stderr != "no command was found\n" {
			t.Errorf("%q: status %d, %q", args, status, stderr)
		}
	}
	want := []api.HistorySearchInput{
		{Limit: 50}, {Query: "docker 'run", Limit: 50}, {CWD: cwd, Failed: true, Unique: true, Limit: 5},
		{CWD: "/y", Actor: "agent", Kind: "exec", Limit: 50}, {Process: "id-of-web", Limit: 50}, {Process: "nobody", Limit: 50},
		{Exact: "ls -la", Limit: 50}, {Query: "save --failed", Limit: 50},
	}
	if diff := cmp.Diff(want, r.searched); diff != "" {
		t.Error(diff)
	}
	if got := r.succeeds("history", "--json"); got != "[]\n" {
		t.Errorf("as JSON: %q", got)
	}
	if _, stderr, _ := r.run("history", "--kind", "bogus"); !strings.Contains(stderr, "must be session, exec, process or added") {
		t.Errorf("a wrong kind: %q", stderr)
	}
	for _, args := range [][]string{{"--limit", "0"}, {"--since", "yesterday"}, {"--kind", "bogus"}, {"--nonsense"}} {
		if _, _, status := r.run(append([]string{"history"}, args...)...); status != 2 {
			t.Errorf("%q: status %d", args, status)
		}
	}
}

func TestHistoryShowsRowsWithoutControlCharacters(t *testing.T) {
	r := newHistoryRig(t)
	zero, seven := 0, 7
	now := time.Now()
	r.found = api.HistorySearchOutput{Total: 5, Rows: []api.HistoryRow{
		{Command: api.Command{ID: 12, Command: "make\x1b[2J", CWD: "/x", StartedAt: now.Add(-2 * time.Hour), DurationMS: 1500, ExitCode: &seven, Actor: "agent:m/1"}, Runs: 3},
		{Command: api.Command{ID: 3, Command: "ls", StartedAt: now.Add(-3 * 24 * time.Hour), DurationMS: -1, Actor: "person"}, Runs: 1},
		{Command: api.Command{ID: 2, Command: "cat", StartedAt: now.Add(-time.Minute), DurationMS: 90_000, ExitSignal: "SIGKILL", Actor: "person"}, Runs: 1},
		{Command: api.Command{ID: 1, Command: "true", StartedAt: now.Add(-time.Minute), DurationMS: 12, ExitCode: &zero, Actor: "person"}, Runs: 1},
	}}
	stdout, stderr, status := r.run("history", "--unique")
	want := `ID  RUNS  WHEN  TOOK   EXIT     WHO        FOLDER  COMMAND
12  3     2h    1.5s   7        agent:m/1  /x      make^[[2J
3   1     3d    -      -        person     -       ls
2   1     1m    1m30s  SIGKILL  person     -       cat
1   1     1m    12ms   0        person     -       true
`
	if diff := cmp.Diff(want, stdout); diff != "" || status != 0 {
		t.Error(status, diff)
	}
	if stderr != "1 more; --limit shows them\n" {
		t.Errorf("%q", stderr)
	}
	var rows []api.HistoryRow
	if err := json.Unmarshal([]byte(r.succeeds("history", "--json")), &rows); err != nil || len(rows) != 4 || rows[0].Command.Command != "make\x1b[2J" {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestHistoryCommandsCallTheirOperations(t *testing.T) {
	r := newHistoryRig(t)
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"add", "--exit", "0", "--took", "1.5s", "--at", "2026-01-02T03:04:05Z", "--", "make", "--test"}, "7\n"},
		{[]string{"add", "ls"}, "7\n"},
		{[]string{"remove", "4", "5"}, "2 commands deleted\n"},
		{[]string{"save", "f", "--overwrite"}, "2 commands saved\n"},
		{[]string{"load", "f"}, "3 commands added\n"},
		{[]string{"clear", "--yes"}, "1 command deleted\n"},
		{[]string{"stats", "-n", "3"}, "9 runs of 4 commands, 1 failed\n\nPrograms\n       5  ma^[ke\n"},
	} {
		if got := r.succeeds(append([]string{"history"}, test.args...)...); got != test.want {
			t.Errorf("%q prints %q, want %q", test.args, got, test.want)
		}
	}
	zero, ms, at := 0, int64(1500), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if diff := cmp.Diff([]api.HistoryAddInput{{Command: "make --test", CWD: cwd, ExitCode: &zero, DurationMS: &ms, StartedAt: &at}, {Command: "ls", CWD: cwd}}, r.added); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]api.HistorySaveInput{{Path: filepath.Join(cwd, "f"), Overwrite: true}}, r.saved); diff != "" {
		t.Error(diff)
	}
	ignoreTime := cmpopts.IgnoreFields(api.HistoryLoadInput{}, "At")
	if diff := cmp.Diff([]api.HistoryLoadInput{{Path: filepath.Join(cwd, "f")}}, r.loaded, ignoreTime); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]api.HistoryRemoveInput{{IDs: []int64{4, 5}}}, r.removed); diff != "" {
		t.Error(diff)
	}
	if r.cleared != 1 || len(r.counted) != 1 || r.counted[0].Limit != 3 {
		t.Errorf("cleared %d, counted %+v", r.cleared, r.counted)
	}
	if _, stderr, status := r.run("history", "rm", "--command", "none"); status != 1 || !strings.Contains(stderr, "no such command") {
		t.Errorf("status %d, %q", status, stderr)
	}
	for _, args := range [][]string{{"add"}, {"remove"}, {"remove", "x"}, {"save"}, {"load", "a", "b"}, {"stats", "-n", "0"}, {"clear", "x"}} {
		if _, _, status := r.run(append([]string{"history"}, args...)...); status != 2 {
			t.Errorf("%q: status %d", args, status)
		}
	}
}

func TestHistoryFilesOfOtherProgramsAreFound(t *testing.T) {
	r := newHistoryRig(t)
	for _, args := range [][]string{{"atuin"}, {"fish"}, {"bash"}, {"zsh", "/old/history"}} {
		r.succeeds(append([]string{"history", "import"}, args...)...)
	}
	var ends []string
	for _, in := range r.loaded {
		ends = append(ends, filepath.Base(filepath.Dir(in.Path))+"/"+filepath.Base(in.Path))
	}
	if diff := cmp.Diff([]string{"atuin/history.db", "fish/fish_history"}, ends[:2]); diff != "" || filepath.Base(ends[2]) != ".bash_history" || ends[3] != "old/history" {
		t.Errorf("%q", ends)
	}
}

func TestHistoryFlagsAreCompleted(t *testing.T) {
	r := newHistoryRig(t)
	for _, test := range []struct{ args, want string }{
		{"history --actor ", "agent"}, {"history --kind ", "exec"}, {"history --since ", "1d"}, {"history sa", "save"},
	} {
		if got, _, _ := r.run(append([]string{"__complete"}, strings.Split(test.args, " ")...)...); !strings.Contains(got, test.want) {
			t.Errorf("%q offers %q", test.args, got)
		}
	}
}

func TestHistoryLoadShowsProgressUntilInterrupted(t *testing.T) {
	r := newHistoryRig(t)
	asked := 0
	r.loading = func() api.HistoryLoadingOutput {
		if asked++; asked == 2 { // the first answer is on screen
			if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
		return api.HistoryLoadingOutput{Loads: []api.HistoryProgress{{Path: "/other", Done: 1, Total: 2}, {Path: "/file", Done: 30, Total: 120}}}
	}
	master, slave := openTerminal(t)
	o := r.options
	o.Stdout, o.Stderr = io.Discard, slave
	if status := Main(t.Context(), o, []string{"history", "load", "/file"}); status != 130 {
		t.Errorf("status %d", status)
	}
	slave.Close()
	shown, _ := io.ReadAll(master) // reading ends with EIO once the terminal is closed
	text := string(shown)
	if !strings.Contains(text, "30 of 120 commands (25%)") || strings.Contains(text, "1 of 2") || !strings.Contains(text, "nothing was loaded") {
		t.Errorf("shown: %q", text)
	}
}
