package engine

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/record/history"
	"tandem/engine/system/keeper"
)

func (m *machine) history(in api.HistorySearchInput) []api.HistoryRow {
	m.Helper()
	return call(m, api.HistorySearch, in).Rows
}

// agent returns a client of an agent on the same machine.
func (m *machine) agent(owner string) *machine {
	m.Helper()
	o := m.options()
	o.Name, o.Owner = "agent:tester/1", owner
	conn, err := client.Connect(m.Context(), o)
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { conn.Close() })
	return &machine{TB: m.TB, dir: m.dir, client: conn}
}

func TestCommandsAndProcessesAreInTheHistory(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	m.keeper.program = func(c *memoryChild) {
		if strings.HasSuffix(strings.Join(c.spec.Argv, " "), "exit 3") {
			c.exit(exitCode(3))
		}
	}
	dir := t.TempDir()
	call(m.machine, api.Exec, api.ExecInput{Command: []string{"sh", "-c", "exit 3"}, CWD: dir})
	late := call(m.machine, api.Exec, api.ExecInput{Command: []string{"sh", "-c", "read x < /dev/zero; sleep 1000"}, TimeoutMS: 20, CWD: dir})
	p := m.startProcess(api.ProcessStartInput{Command: []string{"sleep", "1000"}, KeepAlive: true})
	m.start("sh")
	call(m.machine, api.SessionStart, api.SessionStartInput{Command: []string{"sh", "-c", "read line"}})

	rows := m.history(api.HistorySearchInput{})
	var got []string
	for _, r := range rows {
		got = append(got, r.Kind+" "+r.Command.Command)
	}
	want := []string{"process read line", "process sleep 1000", "exec read x < /dev/zero; sleep 1000", "exec exit 3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if r := rows[3]; r.ExitCode == nil || *r.ExitCode != 3 || r.DurationMS < 0 || r.CWD != dir || r.Actor != "person" {
		t.Errorf("%+v", r)
	}
	if r := rows[2]; r.ExitCode != nil || r.DurationMS != -1 || r.Process != late.Process.ID {
		t.Errorf("after the time-out: %+v", r)
	}
	m.stopProcess(late.Process, "SIGKILL")
	if r := m.history(api.HistorySearchInput{Kind: "exec"})[0]; r.ExitSignal != "SIGKILL" || r.DurationMS < 20 || !r.Stopped {
		t.Errorf("after its end: %+v", r)
	}

	m.child(p).exit(keeper.Exit{Signal: "SIGKILL"})
	m.awaitProcess(p.ID, "restarted", func(p api.Process) bool { return p.Supervision.Restarts == 1 })
	if rows := m.history(api.HistorySearchInput{Process: p.ID, Failed: true}); len(rows) != 1 || rows[0].ExitSignal != "SIGKILL" || rows[0].DurationMS < 0 {
		t.Errorf("after a restart that nobody asked for: %+v", rows)
	}
	m.awaitState(p.ID, api.StateRunning)
	m.child(p).exitAtStop(t, keeper.Exit{Signal: "SIGTERM"})
	call(m.machine, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID})
	m.stopProcess(p, "SIGTERM")
	rows = m.history(api.HistorySearchInput{Process: p.ID})
	if len(rows) != 3 || rows[0].ExitSignal != "SIGTERM" || rows[1].DurationMS < 0 || !rows[0].Stopped || !rows[1].Stopped {
		t.Errorf("after one that somebody asked for: %+v", rows)
	}
	failed := m.history(api.HistorySearchInput{Failed: true})
	if len(failed) != 2 || failed[1].Command.Command != "exit 3" || call(m.machine, api.HistoryStats, api.HistoryStatsInput{}).Failed != 2 {
		t.Errorf("failed: %+v", failed)
	}
}

func TestProcessStoppedInBackoffIsRecordedAsFailed(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	m.keeper.program = func(c *memoryChild) { c.exit(exitCode(3)) }
	p := m.startProcess(api.ProcessStartInput{Command: []string{"cat"}, Restart: &api.Restart{Policy: api.PolicyAlways, DelayMS: 100_000}})
	m.awaitState(p.ID, api.StateBackoff)
	call(m.machine, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	rows := m.history(api.HistorySearchInput{Failed: true})
	if len(rows) != 1 || rows[0].Stopped || rows[0].ExitCode == nil || *rows[0].ExitCode != 3 {
		t.Errorf("%+v", rows)
	}
}

func TestHistorySurvivesTheEngine(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	m.keeper.program = func(c *memoryChild) { c.exit(exitCode(0)) }
	for range 5 {
		call(m.machine, api.Exec, api.ExecInput{Command: []string{"true"}})
	}
	m.keeper.program = nil
	p := m.startProcess(api.ProcessStartInput{Command: []string{"sleep", "1000"}})
	m.eventually("the rows on disk", func() bool { return len(m.rowsOnDisk()) == 6 })
	m.restart()
	if rows := m.history(api.HistorySearchInput{}); len(rows) != 6 {
		t.Fatalf("rows: %+v", rows)
	}
	m.stopProcess(p, "SIGTERM")
	if r := m.history(api.HistorySearchInput{})[0]; r.ExitSignal != "SIGTERM" || r.Process != p.ID {
		t.Errorf("completed by the next engine: %+v", r)
	}
}

// rowsOnDisk returns the ids in the database's files, even while it is open elsewhere.
func (m *machine) rowsOnDisk() []int64 {
	m.Helper()
	dir := m.TempDir()
	for _, name := range []string{"history.db", "history.db-wal"} {
		b, err := os.ReadFile(filepath.Join(m.dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			m.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			m.Fatal(err)
		}
	}
	h := history.Start(dir, nil, slog.New(slog.DiscardHandler), func(string) {}, nil)
	defer h.Close()
	found, err := h.Search(m.Context(), api.HistorySearchInput{})
	if err != nil {
		m.Fatal(err)
	}
	var ids []int64
	for _, r := range found.Rows {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestSecretsAppearNowhere(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	m := startInMemory(t)
	m.keeper.program = func(c *memoryChild) {
		if c.spec.Argv[0] == "printf" {
			c.print(c.variable("A_KEY"))
		}
		if c.spec.Argv[0] != "sh" {
			c.exit(exitCode(0))
		}
	}
	p := m.startProcess(api.ProcessStartInput{Command: []string{"sh", "-c", "sleep 1000", "--password", secret, "X_TOKEN=" + secret + " " + secret},
		Env: map[string]string{"MY_SECRET": secret}})
	call(m.machine, api.EnvSet, api.EnvSetInput{Name: "A_KEY", Value: secret})
	call(m.machine, api.EnvSet, api.EnvSetInput{Name: "SERVER", Value: "https://u:" + secret + "@h"})
	call(m.machine, api.Exec, api.ExecInput{Command: []string{"true", "--password", secret}})
	call(m.machine, api.HistoryAdd, api.HistoryAddInput{Command: "curl -u me:" + secret + " h"})
	call(m.machine, api.CommandsAdd, api.CommandsInput{Commands: []string{"PASSWORD=" + secret + " x"}})
	_, err := api.ProcessStart.Call(m.Context(), m.client, api.ProcessStartInput{Command: []string{"no-such-program", "--token", secret}})
	told := []any{
		m.getProcess(p.ID), call(m.machine, api.ProcessList, api.ProcessListInput{}), call(m.machine, api.SessionList, api.Empty{}),
		m.history(api.HistorySearchInput{}), call(m.machine, api.HistoryStats, api.HistoryStatsInput{}), call(m.machine, api.CommandsList, api.Empty{}),
		call(m.machine, api.EnvList, api.EnvListInput{}), call(m.machine, api.EnvGet, api.EnvInput{Name: "A_KEY"}), call(m.machine, api.EnvGet, api.EnvInput{Name: "SERVER"}),
		m.log(), err,
	}
	for _, v := range told {
		if text := inText(v); strings.Contains(text, secret) {
			t.Errorf("told: %s", text)
		}
	}
	for _, name := range []string{"history.db", "history.db-wal"} {
		if b, _ := os.ReadFile(filepath.Join(m.dir, name)); strings.Contains(string(b), secret) {
			t.Errorf("%s holds it", name)
		}
	}
	if got := call(m.machine, api.EnvGet, api.EnvInput{Name: "A_KEY", Reveal: true}); got.Value != secret {
		t.Errorf("revealed as %+v", got)
	}
	out := call(m.machine, api.Exec, api.ExecInput{Command: []string{"printf"}})
	if out.Stdout != secret {
		t.Errorf("a program was given %q", out.Stdout)
	}
}

func inText(v any) string {
	b, err := json.Marshal(v)
	if e, ok := v.(error); ok {
		return e.Error()
	} else if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestRecentCommandsAreSavedAndLoaded(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	path := filepath.Join(t.TempDir(), "new", "commands")
	ctx := context.Background()
	if got := call(m.machine, api.CommandsList, api.Empty{}); got.Commands == nil || len(got.Commands) != 0 {
		t.Errorf("%+v", got)
	}
	lines := []string{"one", "two\nlines", `back\`}
	call(m.machine, api.CommandsAdd, api.CommandsInput{Commands: lines[:1]})
	call(m.machine, api.CommandsAdd, api.CommandsInput{Commands: lines[1:]})
	save := api.HistorySaveInput{Path: path, Recent: true}
	if got := call(m.machine, api.HistorySave, save); got != (api.HistoryCount{Count: 3}) {
		t.Errorf("%+v", got)
	}
	if _, err := api.HistorySave.Call(ctx, m.client, save); !errors.Is(err, api.CodeConflict) {
		t.Errorf("error %v", err)
	}
	save.Overwrite = true
	if got := call(m.machine, api.HistorySave, save); got != (api.HistoryCount{Count: 3, Replaced: true}) {
		t.Errorf("%+v", got)
	}
	call(m.machine, api.CommandsReplace, api.CommandsInput{})
	for _, c := range []struct {
		in   api.HistoryLoadInput
		code api.Code
	}{
		{api.HistoryLoadInput{Path: "relative", Recent: true}, api.CodeInvalid},
		{api.HistoryLoadInput{Path: path + ".none", Recent: true}, api.CodeNotFound},
		{api.HistoryLoadInput{Path: filepath.Dir(path)}, api.CodeInvalid},
		{api.HistoryLoadInput{Path: "/dev/zero", Recent: true}, api.CodeInvalid},
		{api.HistoryLoadInput{Path: path + "/below", Recent: true}, api.CodeInvalid},
	} {
		if _, err := api.HistoryLoad.Call(ctx, m.client, c.in); !errors.Is(err, c.code) {
			t.Errorf("%+v: %v", c.in, err)
		}
	}
	if got := call(m.machine, api.HistoryLoad, api.HistoryLoadInput{Path: path, Recent: true}); got.Count != 3 {
		t.Errorf("%+v", got)
	}
	if got := call(m.machine, api.CommandsList, api.Empty{}).Commands; !slices.Equal(got, lines) {
		t.Errorf("%q", got)
	}
	if rows := m.history(api.HistorySearchInput{}); len(rows) != 0 {
		t.Errorf("the history has %+v", rows)
	}
	if got := call(m.machine, api.HistoryLoad, api.HistoryLoadInput{Path: path}); got.Count != 3 {
		t.Errorf("%+v", got)
	}
	if rows := m.history(api.HistorySearchInput{Exact: "two\nlines"}); len(rows) != 1 || rows[0].Kind != "added" {
		t.Errorf("%+v", rows)
	}
}

func TestAtuinHistoryIsLoadedWithRunDetails(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	path := filepath.Join(t.TempDir(), "history.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // closed late, so that the data still in the -wal file counts
	_, err = db.Exec(`create table history (id text, timestamp integer, duration integer, exit integer, command text, cwd text, deleted_at integer);
		insert into history values ('a', 1700000001000000000, 1500000000, 2, 'make test', '/src', null)`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} { // the second load adds nothing
		if got := call(m.machine, api.HistoryLoad, api.HistoryLoadInput{Path: path}); got.Count != want {
			t.Errorf("%+v, want %d", got, want)
		}
	}
	rows := m.history(api.HistorySearchInput{Failed: true, CWD: "/src"})
	if len(rows) != 1 || rows[0].Command.Command != "make test" || *rows[0].ExitCode != 2 || rows[0].DurationMS != 1500 || rows[0].StartedAt.Unix() != 1700000001 {
		t.Errorf("%+v", rows)
	}
}

func TestClientsHaveTheirOwnVariables(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	a, b := m.agent("a"), m.agent("b")
	m.keeper.program = func(c *memoryChild) {
		c.print(c.variable("X") + " " + c.variable("TERM") + "\n")
		c.exit(exitCode(0))
	}
	call(m.machine, api.EnvSet, api.EnvSetInput{Name: "X", Value: "all"})
	call(m.machine, api.EnvSet, api.EnvSetInput{Name: "TERM", Value: "all"})
	call(a, api.EnvSet, api.EnvSetInput{Name: "X", Value: "mine", Client: true})
	prints := func(m *machine, env map[string]string) string {
		t.Helper()
		return call(m, api.Exec, api.ExecInput{Command: []string{"echo"}, Env: env}).Stdout
	}
	for _, test := range []struct{ got, want string }{
		{prints(m.machine, nil), "all all\n"}, {prints(a, nil), "mine all\n"}, {prints(b, nil), "all all\n"},
		{prints(a, map[string]string{"X": "own"}), "own all\n"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
	list := call(a, api.EnvList, api.EnvListInput{}).Variables
	want := []api.EnvVar{{Name: "TERM", Value: "all"}, {Name: "X", Value: "all"}, {Name: "X", Value: "mine", Client: true}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if got := call(a, api.EnvGet, api.EnvInput{Name: "X", Client: true}); got.Value != "mine" || !got.Client {
		t.Errorf("%+v", got)
	}
	if got := call(b, api.EnvGet, api.EnvInput{Name: "X", Client: true}); got.Value != "all" || got.Client {
		t.Errorf("without one of its own: %+v", got)
	}
	_, err := api.EnvSet.Call(t.Context(), m.client, api.EnvSetInput{Name: "X", Value: "y", Client: true})
	if e := api.AsError(err); e == nil || e.Code != api.CodeInvalid || e.Hint == "" {
		t.Error(err)
	}
	call(a, api.EnvUnset, api.EnvInput{Name: "X", Client: true})
	if got := prints(a, nil); got != "all all\n" {
		t.Errorf("after unset: %q", got)
	}
}

func TestPrivateCommandIsNotShown(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	private, other := m.startShell(), m.startShell()
	m.write(private.ID, " deploy k1\r")
	m.child(private).run(" deploy k1", "runs\n")
	m.awaitScreen(private.ID, "runs\n")
	m.write(other.ID, "make\r")
	m.child(other).run("make", "made\n")
	m.eventually("the name of the later command", func() bool { return m.get(other.ID).Terminal.Running == "make" })
	if running := m.get(private.ID).Terminal.Running; running != "" {
		t.Errorf("the private command is shown as %q", running)
	}
	m.reboot()
	if now := m.get(private.ID); now.Interrupted == nil || now.Interrupted.Program != "" {
		t.Errorf("became %+v, interrupted by %+v", now, now.Interrupted)
	}
}
