package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/factory"

	"github.com/google/go-cmp/cmp"
)

func TestNewStartsASessionAndPrintsItsID(t *testing.T) {
	r := newRig(t)
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := r.succeeds("new"); got != "0123456789ab\n" {
		t.Errorf("new prints %q", got)
	}
	r.succeeds("new", "--name", "build", "--cwd", "/tmp", "--size", "100x30", "--", "make", "--watch", "-n")
	r.succeeds("new", "sh", "-c", "exit 7")
	environ := map[string]string{"SHELL": "/bin/sh", "LANG": "C.UTF-8"}
	want := []api.SessionStartInput{
		{CWD: cwd, Environ: environ},
		{Command: []string{"make", "--watch", "-n"}, Name: "build", CWD: "/tmp", Cols: 100, Rows: 30, Environ: environ},
		{Command: []string{"sh", "-c", "exit 7"}, CWD: cwd, Environ: environ},
	}
	for i := range want {
		want[i].Environ, want[i].Umask = map[string]string{"SHELL": "/bin/sh", "LANG": "C.UTF-8"}, api.Umask()
	}
	if diff := cmp.Diff(want, r.started, ofOwnID); diff != "" {
		t.Error(diff)
	}
	if got := readJSON(t, r.succeeds("new", "--json")).(map[string]any)["id"]; got != "0123456789ab" {
		t.Errorf("new --json has id %v", got)
	}
}

func TestSendTypesTextThenKeysThenEnter(t *testing.T) {
	r := newRig(t)
	r.succeeds("send", "build", "echo", "a  b")
	r.succeeds("send", "build", "--enter", "make")
	r.succeeds("send", "build", "--keys", "ctrl+c up  enter")
	r.succeeds("send", "build", "--enter", "--", "-n")
	r.succeeds("send", "build", "--json", "--enter")
	want := []api.SessionWriteInput{
		{ID: "build", Text: "echo a  b"},
		{ID: "build", Text: "make", Keys: []string{"enter"}},
		{ID: "build", Keys: []string{"ctrl+c", "up", "enter"}},
		{ID: "build", Text: "-n", Keys: []string{"enter"}},
		{ID: "build", Keys: []string{"enter"}},
	}
	if diff := cmp.Diff(want, r.written); diff != "" {
		t.Error(diff)
	}
}

func TestSendFailsIfTheProgramDoesNotReadEverything(t *testing.T) {
	r := newRig(t)
	r.writeResult = api.SessionWriteOutput{Written: 3, Dropped: 2}
	_, stderr, status := r.run("send", "build", "hello")
	if status != 1 || !strings.Contains(stderr, "wrote 3 of 5 bytes") || !strings.Contains(stderr, "without the first 3 bytes") {
		t.Errorf("status %d, %q", status, stderr)
	}
	stdout, _, status := r.run("send", "build", "--json", "hello")
	if out := readJSON(t, stdout).(map[string]any); status != 1 || out["written"] != 3.0 || out["dropped"] != 2.0 {
		t.Errorf("status %d, %q", status, stdout)
	}
}

func TestScreenPrintsASessionsScreen(t *testing.T) {
	r := newRig(t)
	r.screen = api.Screen{Cols: 80, Rows: 4, Lines: []string{"\x1b[31mred\x1b[0m", "", "two", "", ""}}
	if got := r.succeeds("screen", "build", "--ansi"); got != "\x1b[31mred\x1b[0m\x1b[0m\n\x1b[0m\ntwo\x1b[0m\n" {
		t.Errorf("screen --ansi prints %q", got)
	}
	r.screen.Lines = []string{"one", "wide 你好"}
	if got := r.succeeds("screen", "build", "--scrollback", "7"); got != "one\nwide 你好\n" {
		t.Errorf("screen prints %q", got)
	}
	if got := readJSON(t, r.succeeds("screen", "build", "--json")).(map[string]any)["lines"]; len(got.([]any)) != 2 {
		t.Errorf("screen --json has lines %v", got)
	}
	want := []api.SessionScreenInput{{ID: "build", ANSI: true}, {ID: "build", Scrollback: 7}, {ID: "build"}}
	if diff := cmp.Diff(want, r.screens); diff != "" {
		t.Error(diff)
	}
}

func TestListShowsRunningSessionsFirst(t *testing.T) {
	r := newRig(t)
	start := time.Now().Add(-90 * time.Second)
	r.processes = []api.Process{
		{ID: "aaaaaaaaaaaa", Name: "old", State: api.StateExited, ExitCode: code(7), CWD: "/", Command: "make", StartedAt: start},
		{ID: "bbbbbbbbbbbb", Name: "你好", State: api.StateRunning, PID: 42, CWD: "/srv", Command: "vim \x1b[31mx", StartedAt: start},
		{ID: "cccccccccccc", Name: "c", State: api.StateStopped, ExitSignal: "SIGHUP", CWD: "/", Command: "sh", StartedAt: start},
	}
	want := "ID            NAME  STATE           PID  AGE  FOLDER  COMMAND\n" +
		"bbbbbbbbbbbb  你好  running         42   1m   /srv    vim ^[[31mx\n" +
		"aaaaaaaaaaaa  old   exited 7        -    1m   /       make\n" +
		"cccccccccccc  c     stopped SIGHUP  -    1m   /       sh\n"
	if diff := cmp.Diff(want, r.succeeds("ls")); diff != "" {
		t.Error(diff)
	}
	rows := readJSON(t, r.succeeds("ls", "--json")).([]any)
	for _, key := range []string{"id", "kind", "name", "state", "pid", "cwd", "command", "exit_code"} {
		if _, ok := rows[0].(map[string]any)[key]; !ok {
			t.Errorf("ls --json has no %q", key)
		}
	}
	if got := rows[1].(map[string]any)["exit_code"]; got != 7.0 {
		t.Errorf("the exit code is %v", got)
	}
}

func TestEmptyListSuggestsACommand(t *testing.T) {
	r := newRig(t)
	stdout, stderr, status := r.run("ls")
	if stdout != "" || status != 0 || !strings.Contains(stderr, "tandem new") {
		t.Errorf("ls prints %q and %q, status %d", stdout, stderr, status)
	}
	if got := r.succeeds("ls", "--json"); got != "[]\n" {
		t.Errorf("ls --json prints %q", got)
	}
}

func TestKillAndRemoveContinueAfterAFailure(t *testing.T) {
	r := newRig(t)
	if got := r.succeeds("kill", "a", "b"); got != "a: stopped SIGHUP\nb: stopped SIGHUP\n" {
		t.Errorf("kill prints %q", got)
	}
	stdout, stderr, status := r.run("kill", "a", "nobody", "b")
	if status != 1 || stdout != "a: stopped SIGHUP\nb: stopped SIGHUP\n" ||
		stderr != "tandem: find session \"nobody\": there is none\nhint: `tandem ls` lists them\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	if got := readJSON(t, r.succeeds("kill", "--json", "a")).([]any); len(got) != 1 {
		t.Errorf("kill --json prints %v", got)
	}
	if got := r.succeeds("rm", "a", "b"); got != "" || !cmp.Equal(r.removed, []string{"a", "b"}) {
		t.Errorf("rm prints %q and removes %q", got, r.removed)
	}
	if _, stderr, status := r.run("rm", "nobody", "nobody"); status != 1 || strings.Count(stderr, "tandem: ") != 2 {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestInvalidArgumentsAreUsageErrors(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"frobnicate"}, "frobnicate"},
		{[]string{"run", "ls"}, "tandem exec"},
		{[]string{"version"}, "tandem --version"},
		{[]string{"status"}, "tandem ps"},
		{[]string{"config", "edit"}, "$EDITOR \"$(tandem config path)\""},
		{[]string{"--host", "box", "tmux", "ls"}, "tandem tmux works on this machine only"},
		{[]string{"--all-hosts", "tmux", "ls"}, "tandem tmux works on this machine only"},
		{[]string{"rename", "a"}, "rename which session to what"},
		{[]string{"lss"}, "did you mean `tandem ls`?"},
		{[]string{"atach"}, "did you mean `tandem attach`?"},
		{[]string{"ls", "--frobnicate"}, "--frobnicate"},
		{[]string{"ls", "x"}, "unexpected argument \"x\""},
		{[]string{"attach", "a", "b"}, "unexpected argument \"b\""},
		{[]string{"shell", "x"}, "unexpected argument \"x\""},
		{[]string{"with-tmux"}, "run what?"},
		{[]string{"ps", "--wath"}, "did you mean --watch?"},
		{[]string{"send"}, "which session"},
		{[]string{"send", "a"}, "send what"},
		{[]string{"send", "a", "--keys", "ctrl+foo"}, "ctrl+foo"},
		{[]string{"screen"}, "which session"},
		{[]string{"screen", "a", "--scrollback", "-1"}, "-1"},
		{[]string{"screen", "a", "--scrollback", "x"}, "x"},
		{[]string{"screen", "a", "--png", "a", "--svg", "b"}, "give --png or --svg, not both"},
		{[]string{"service", "install", "--print", "--force"}, "--print cannot be used with --force or --linger"},
		{[]string{"kill"}, "which session"},
		{[]string{"rm"}, "which session"},
		{[]string{"new", "--size", "80"}, "80x24"},
		{[]string{"new", "--size", "80x24x"}, "80x24"},
		{[]string{"new", "--size", "0x5"}, "80x24"},
		{[]string{"completion"}, "which shell"},
		{[]string{"completion", "tcsh"}, "no completion for tcsh"},
		{[]string{"help", "nosuch"}, "unknown command"},
		{[]string{"help", "completion", "tcsh"}, "unknown command"},
		{[]string{"screen", "a", "--scrollback", "many"}, "read --scrollback many: must be a whole number\n"},
		{[]string{"screen", "a", "--scrollback", "99999999999999999999"}, "too large"},
		{[]string{"play", "a", "--speed", "fast"}, "read -s, --speed fast: must be a number\n"},
		{[]string{"ls", "--json=perhaps"}, "must be true or false"},
	} {
		stdout, stderr, status := r.run(c.args...)
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, "tandem: ") || !strings.Contains(stderr, c.says) ||
			!strings.Contains(stderr, "\nhint: ") {
			t.Errorf("%q: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
	if len(r.started)+len(r.written) > 0 {
		t.Error("an invalid command had an effect")
	}
}

func TestRootOpensTheDashboard(t *testing.T) {
	r := newRig(t)
	opened := 0
	r.options.Dashboard = func(context.Context, factory.DashboardOptions) error {
		opened++
		return nil
	}
	r.succeeds()
	if opened != 1 {
		t.Errorf("the dashboard was opened %d times", opened)
	}
}

func TestVersionNamesItsCommit(t *testing.T) {
	r := newRig(t)
	r.options.Commit, r.options.Date = "0123456789abcdef", "2026-11-20T21:01:50Z"
	if got := r.succeeds("--version"); got != "tandem 1.2.3\ncommit 0123456789abcdef, 2026-11-20\n" {
		t.Errorf("--version prints %q", got)
	}
	want := "{\n  \"version\": \"1.2.3\",\n  \"commit\": \"0123456789abcdef\",\n  \"date\": \"2026-11-20T21:01:50Z\"\n}\n"
	if got := r.succeeds("--version", "--json"); got != want {
		t.Errorf("--version --json prints %q", got)
	}
	var built versionAnswer
	built.readStamp([]debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-11-20T21:01:50Z"}, {Key: "vcs.modified", Value: "true"}})
	if got := built.text(); got != "tandem \ncommit abc, 2026-11-20, with changes\n" {
		t.Errorf("a build from a checkout prints %q", got)
	}
}

func TestVersionAndHelpArePrinted(t *testing.T) {
	r := newRig(t)
	if got := r.succeeds("--version"); got != "tandem 1.2.3\n" {
		t.Errorf("--version prints %q", got)
	}
	if got := r.succeeds("--version", "--json"); got != "{\n  \"version\": \"1.2.3\"\n}\n" {
		t.Errorf("--version --json prints %q", got)
	}
	for _, c := range newRoot(factory.New(r.options)).Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		help := r.succeeds(c.Name(), "--help")
		for _, want := range []string{"Usage\n  tandem " + c.Name(), "Examples\n  ", "--json", c.Example[:6]} {
			if !strings.Contains(help, want) {
				t.Errorf("the help of %s has no %q: %s", c.Name(), want, help)
			}
		}
		if !strings.Contains(r.succeeds("--help"), "  "+c.Name()) {
			t.Errorf("the help does not list %s", c.Name())
		}
		for line := range strings.Lines(help) {
			if len([]rune(line)) > 100 {
				t.Errorf("the help of %s has a long line: %q", c.Name(), line)
			}
		}
	}
}

func TestFilesOpensAtAPathAndPrintsTheLastFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var began factory.DashboardOptions
	var out, stderr bytes.Buffer
	o := factory.Options{Version: "1", Stdout: &out, Stderr: &stderr, Environ: []string{"TERM=dumb"}, Dashboard: func(_ context.Context, o factory.DashboardOptions) error {
		if began = o; o.OnLeave != nil {
			o.OnLeave("/where it was left")
		}
		return nil
	}}
	if status := Main(t.Context(), o, []string{"files", "--cd", filepath.Join(dir, "a.txt")}); status != 0 || out.String() != "/where it was left\n" {
		t.Errorf("status %d, it prints %q, %q", status, out.String(), stderr.String())
	}
	if began.Folder != dir || began.Name != "a.txt" {
		t.Errorf("it begins with %+v", began)
	}
	Main(t.Context(), o, []string{"files", dir})
	if began.Folder != dir || began.Name != "" || began.OnLeave != nil {
		t.Errorf("it begins with %+v", began)
	}
	if status := Main(t.Context(), o, []string{"files", dir + "/none"}); status != 1 || !strings.Contains(stderr.String(), "none does not exist") {
		t.Errorf("status %d, %q", status, stderr.String())
	}
}
