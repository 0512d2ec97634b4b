package cli

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

func TestStartPassesItsFlags(t *testing.T) {
	r := newRig(t)
	r.start = api.Process{ID: "0123456789ab", Name: "web", State: api.StateRunning}
	r.options.Environ = append(r.options.Environ, "HERE=yes")
	sandbox := filepath.Join(t.TempDir(), "sandbox.json")
	if err := os.WriteFile(sandbox, []byte(`{"filesystem":{"allowWrite":["/tmp/x"]},"network":{"allowedDomains":[]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := r.succeeds("start", "--", "sleep", "--really", "5"); got != "0123456789ab\n" {
		t.Errorf("start prints %q", got)
	}
	r.succeeds("start", "--name", "web", "--keep-alive", "--cwd", "/tmp", "--env", "A=1=2", "--env", "HERE", "--split-log",
		"--sandbox", sandbox, "--ready-log", "up on .*", "--ready-port", "80", "sh", "-c", "exit 7")
	r.succeeds("start", "--restart", "unless-stopped", "true")
	r.succeeds("start", "--restart", "always", "--max-restarts", "3", "--log-limit", "1.5mb", "--tty", "top")
	r.succeeds("start", "--max-restarts", "3", "top")
	r.succeeds("start", "--max-restarts", "unlimited", "top")
	environ := map[string]string{"SHELL": "/bin/sh", "LANG": "C.UTF-8", "HERE": "yes"}
	want := []api.ProcessStartInput{
		{Command: []string{"sleep", "--really", "5"}, CWD: cwd, Environ: environ},
		{Command: []string{"sh", "-c", "exit 7"}, Name: "web", CWD: "/tmp", KeepAlive: true, SplitLog: true,
			Env: map[string]string{"A": "1=2", "HERE": "yes"}, Environ: environ,
			Ready: &api.Readiness{Log: "up on .*", Port: 80},
			Sandbox: &api.Sandbox{Filesystem: api.SandboxFilesystem{AllowWrite: []string{"/tmp/x"}},
				Network: &api.SandboxNetwork{AllowedDomains: []string{}}}},
		{Command: []string{"true"}, CWD: cwd, Environ: environ, Restart: &api.Restart{Policy: "unless-stopped"}},
		{Command: []string{"top"}, CWD: cwd, Environ: environ, TTY: true, Restart: &api.Restart{Policy: api.PolicyAlways, Max: 3},
			LogLimit: 3 << 19},
		{Command: []string{"top"}, CWD: cwd, Environ: environ, Restart: &api.Restart{Policy: api.PolicyOnFailure, Max: 3}},
		{Command: []string{"top"}, CWD: cwd, Environ: environ, Restart: &api.Restart{Policy: api.PolicyOnFailure}},
	}
	for i := range want {
		want[i].Environ, want[i].Umask = map[string]string{"SHELL": "/bin/sh", "LANG": "C.UTF-8", "HERE": "yes"}, api.Umask()
	}
	if diff := cmp.Diff(want, r.starts, ofOwnID); diff != "" {
		t.Error(diff)
	}
}

func TestStartFailsIfTheProcessFails(t *testing.T) {
	r := newRig(t)
	r.start = api.Process{ID: "0123456789ab", Name: "web", State: api.StateFailed, Error: "no such program"}
	stdout, stderr, status := r.run("start", "web")
	if status != 1 || stdout != "0123456789ab\n" || stderr != "tandem: start web: no such program\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

func TestSandboxExampleInHelpIsValid(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(t.TempDir(), "sandbox.json")
	_, example, _ := strings.Cut(r.succeeds("start", "--help"), "A --sandbox file:\n")
	example, _, _ = strings.Cut(example, "\nOnly paths")
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	r.succeeds("start", "--sandbox", path, "x")
	if s := r.starts[0].Sandbox; s == nil || len(s.Filesystem.AllowWrite) == 0 || s.Network == nil || s.Limits == nil || s.Limits.OpenFiles == 0 {
		t.Errorf("asked for %+v", s)
	}
	if help := r.succeeds("exec", "--help"); !strings.Contains(help, example) {
		t.Error("the help of exec has no example")
	}
}

func TestInvalidSandboxFileIsRejected(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(t.TempDir(), "sandbox.json")
	for text, says := range map[string]string{
		"{\n\"filesystem\": {\"allowWrites\": []}}": "allowWrites",
		"{\n\"filesystem\": {]}":                    "line 2",
		"{\n\"filesystem\": {\"allowWrite\": 1}}":   "line 2",
		"{} {}": "one JSON object",
		"null":  "one JSON object",
		"":      "EOF",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stderr, status := r.run("start", "--sandbox", file, "true")
		if status != 1 || !strings.Contains(stderr, "sandbox") || !strings.Contains(stderr, says) {
			t.Errorf("%q: status %d, %q", text, status, stderr)
		}
	}
	if _, stderr, status := r.run("start", "--sandbox", file+"x", "true"); status != 1 || !strings.Contains(stderr, "no such file") {
		t.Errorf("status %d, %q", status, stderr)
	}
	if len(r.starts) > 0 {
		t.Error("a process was started despite the invalid sandbox")
	}
}

func TestPsReportsAnEmptyList(t *testing.T) {
	r := newRig(t)
	if got := r.succeeds("ps", "--json"); got != "[]\n" {
		t.Errorf("ps --json prints %q", got)
	}
	if _, stderr, status := r.run("ps"); status != 0 || !strings.Contains(stderr, "tandem start") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestPsReportsWhatIsUnreachable(t *testing.T) {
	r := newRig(t)
	r.unread = []string{"read record: permission denied"}
	if _, stderr, status := r.run("ps"); status != 0 || !strings.Contains(stderr, "1 unreachable") {
		t.Errorf("ps: %d %q", status, stderr)
	}
	if out, _, _ := r.run("doctor"); !strings.Contains(out, "read record: permission denied") {
		t.Errorf("doctor: %q", out)
	}
}

func TestPsWatchRedrawsAndRestoresTheTerminal(t *testing.T) {
	r := newRig(t)
	r.processes = slices.Repeat([]api.Process{{Name: "sh", State: api.StateRunning, PID: 44, StartedAt: time.Now()}}, 9)
	master, slave := openTerminal(t)
	if err := pty.Setsize(master, &pty.Winsize{Cols: 60, Rows: 5}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := r.options
	o.Stdin, o.Stdout = slave, slave
	status := make(chan int, 1)
	go func() { status <- Main(ctx, o, []string{"ps", "--watch"}) }()
	var seen strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(seen.String(), "more lines\x1b[0m\x1b[K\x1b[J") {
		n, err := master.Read(buf)
		if err != nil {
			t.Fatalf("%v, after %q", err, &seen)
		}
		seen.Write(buf[:n])
	}
	cancel()
	if got := <-status; got != 0 {
		t.Errorf("status %d", got)
	}
	for !strings.Contains(seen.String(), "\x1b[?1049l") {
		n, err := master.Read(buf)
		if err != nil {
			t.Fatalf("%v, after %q", err, &seen)
		}
		seen.Write(buf[:n])
	}
	if got := seen.String(); !strings.HasPrefix(got, "\x1b[?1049h\x1b[?25l\x1b[H") || strings.Count(got, "\n")%4 != 0 {
		t.Errorf("drawn: %q", got)
	}
}

func TestStopStopsManyAndPrintsTheirStates(t *testing.T) {
	r := newRig(t)
	if got := r.succeeds("stop", "a", "b", "c", "--signal", "INT"); got != "a: stopped SIGTERM\nb: stopped SIGTERM\nc: stopped SIGTERM\n" {
		t.Errorf("stop prints %q", got)
	}
	slices.SortFunc(r.stops, func(a, b api.ProcessStopInput) int { return strings.Compare(a.ID, b.ID) })
	want := []api.ProcessStopInput{{ID: "a", Signal: "INT"}, {ID: "b", Signal: "INT"}, {ID: "c", Signal: "INT"}}
	if diff := cmp.Diff(want, r.stops); diff != "" {
		t.Error(diff)
	}
	if stdout, stderr, status := r.run("stop", "nobody", "b"); status != 1 || stdout != "b: stopped SIGTERM\n" || !strings.Contains(stderr, "nobody") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

func TestStopAllStopsEveryProcess(t *testing.T) {
	r := newRig(t)
	if _, stderr, status := r.run("stop", "--all"); status != 0 || stderr != "no process is running\n" {
		t.Errorf("status %d, %q", status, stderr)
	}
	if got := r.succeeds("stop", "--all", "--json"); got != "[]\n" {
		t.Errorf("stop --all --json prints %q", got)
	}
	r.processes = []api.Process{{Name: "web", State: api.StateStopped, ExitCode: code(0)}}
	if got := r.succeeds("stop", "--all", "--signal", "KILL"); got != "web: stopped 0\n" || r.stops[len(r.stops)-1].Signal != "KILL" {
		t.Errorf("stop --all prints %q and asks %+v", got, r.stops)
	}
}

func TestRestartAndSignalCallTheirOperations(t *testing.T) {
	r := newRig(t)
	if got := r.succeeds("restart", "a", "b"); got != "a: running\nb: running\n" {
		t.Errorf("restart prints %q", got)
	}
	r.succeeds("signal", "web", "HUP")
	if diff := cmp.Diff([]api.ProcessSignalInput{{ID: "web", Signal: "HUP"}}, r.signalled); diff != "" {
		t.Error(diff)
	}
	if _, stderr, status := r.run("signal", "nobody", "HUP"); status != 1 || !strings.Contains(stderr, "nobody") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestWaitReportsTheConditionThatWasMet(t *testing.T) {
	r := newRig(t)
	web := api.Process{Name: "web", State: api.StateRunning}
	gone := api.Process{Name: "web", State: api.StateExited, ExitCode: code(3)}
	meets := func(met string, p api.Process) {
		r.waits = nil
		r.wait = func(in api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
			return api.ProcessWaitOutput{Met: met, Line: "up\x1b", Process: p}, nil
		}
	}
	for _, c := range []struct {
		met  string
		args []string
		want string
	}{
		{"exit", nil, "web: exited 3\n"},
		{"ready", []string{"--ready"}, "web: ready\n"},
		{"log", []string{"--log", "u."}, "up^[\n"},
		{"port", []string{"--port", "80"}, "web: port 80 is open\n"},
		{"idle", []string{"--idle", "1.5"}, "web: idle\n"},
	} {
		p := web
		if c.met == "exit" {
			p = gone
		}
		meets(c.met, p)
		if got := r.succeeds(append([]string{"wait", "web"}, c.args...)...); got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
	if last := r.waits[len(r.waits)-1]; last.IdleMS != 1500 || last.TimeoutMS != 50_000 {
		t.Errorf("asked for %+v", last)
	}
	meets("exit", api.Process{Name: "web", State: api.StateBackoff, ExitSignal: "SIGKILL"})
	if got := r.succeeds("wait", "web"); got != "web: exited with SIGKILL, now backoff\n" {
		t.Errorf("with a restart: %q", got)
	}
	r.wait = func(api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
		return api.ProcessWaitOutput{Process: web, OpenCheck: "port 59999"}, nil
	}
	if _, stderr, status := r.run("wait", "web", "--ready", "--timeout", "1ms"); status != 1 || stderr != "tandem: wait for web: timed out after 1ms: not ready: port 59999\n" {
		t.Errorf("with an open check: status %d, %q", status, stderr)
	}
	meets("", gone)
	if _, stderr, status := r.run("wait", "web", "--port", "80"); status != 1 || stderr != "tandem: wait for web: it exited: exited 3\n" {
		t.Errorf("of an exited process: status %d, %q", status, stderr)
	}
}

func TestWaitRetriesUntilItsTimeout(t *testing.T) {
	r := newRig(t)
	r.wait = func(in api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
		if len(r.waits) == 2 {
			return api.ProcessWaitOutput{}, api.ErrEnding()
		}
		if len(r.waits) < 4 {
			return api.ProcessWaitOutput{Process: api.Process{Name: "web", State: api.StateRunning}}, nil
		}
		return api.ProcessWaitOutput{Met: "ready", Process: api.Process{Name: "web"}}, nil
	}
	r.succeeds("wait", "web", "--ready")
	if len(r.waits) != 4 {
		t.Errorf("%d calls", len(r.waits))
	}
	r.wait = func(in api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
		return api.ProcessWaitOutput{Process: api.Process{Name: "web", State: api.StateRunning}}, nil
	}
	stdout, stderr, status := r.run("wait", "web", "--timeout", "20ms")
	if status != 1 || stdout != "" || stderr != "tandem: wait for web: timed out after 20ms\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

func TestEnvSetsGetsAndHidesVariables(t *testing.T) {
	r := newRig(t)
	if _, stderr, status := r.run("env"); status != 0 || !strings.Contains(stderr, "tandem env set") {
		t.Errorf("status %d, %q", status, stderr)
	}
	r.succeeds("env", "set", "PORT=8080", "API_KEY=s=e", "ODD=a\x1b")
	want := "PORT=8080\nAPI_KEY=(hidden; --reveal shows it)\nODD=a^[\n"
	if got := r.succeeds("env"); got != want || r.succeeds("env", "list") != want {
		t.Errorf("env prints %q", got)
	}
	if got := r.succeeds("env", "--reveal", "list"); !strings.Contains(got, "API_KEY=s=e\n") {
		t.Errorf("env list --reveal prints %q", got)
	}
	if got := r.succeeds("env", "get", "ODD"); got != "a\x1b\n" {
		t.Errorf("env get prints %q", got)
	}
	if stdout, stderr, status := r.run("env", "get", "API_KEY"); status != 1 || stdout != "" || !strings.Contains(stderr, "hint: --reveal") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	if got := r.succeeds("env", "get", "API_KEY", "--reveal"); got != "s=e\n" {
		t.Errorf("env get --reveal prints %q", got)
	}
	r.succeeds("env", "unset", "ODD", "API_KEY")
	if rows := readJSON(t, r.succeeds("env", "--json")).([]any); len(rows) != 1 {
		t.Errorf("env --json prints %v", rows)
	}
	if _, _, status := r.run("env", "unset", "ODD"); status != 1 {
		t.Errorf("of an unset variable: status %d", status)
	}
}

func TestProcessCommandsRejectInvalidArguments(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"start"}, "start what"},
		{[]string{"start", "--restart", "maybe", "x"}, "must be no, on-failure, always"},
		{[]string{"start", "--keep-alive", "--restart", "no", "x"}, "one of the two"},
		{[]string{"start", "--max-restarts", "-1", "x"}, "-1"},
		{[]string{"start", "--max-restarts", "0", "x"}, "or unlimited; use --restart no"},
		{[]string{"start", "--max-restarts", "2", "--restart", "no", "x"}, "cannot be used with"},
		{[]string{"start", "--ready-port", "http", "x"}, "read --ready-port http: must be a whole number\n"},
		{[]string{"logs", "web", "-n", "x"}, "read -n, --lines x: must be a whole number\n"},
		{[]string{"logs", "web", "--since", "1h"}, "read --since 1h: must be a whole number\n"},
		{[]string{"wait", "web", "--timeout", "soon"}, "read --timeout soon: must be a duration of at least 1ms"},
		{[]string{"start", "--ready-port", "65536", "x"}, "65536"},
		{[]string{"start", "--tty", "--split-log", "x"}, "one output"},
		{[]string{"start", "--env", "NOWHERE", "x"}, "K=V"},
		{[]string{"start", "--env", "=v", "x"}, "no name"},
		{[]string{"start", "--env", "A B=v", "x"}, "letters, digits and _"},
		{[]string{"start", "--ready-port", "0", "x"}, "must be from 1 to 65535"},
		{[]string{"ps", "x"}, "unexpected argument"},
		{[]string{"stop"}, "which process"},
		{[]string{"stop", "--all", "x"}, "not both"},
		{[]string{"restart"}, "which process"},
		{[]string{"signal", "web"}, "HUP"},
		{[]string{"signal", "web", "HUP", "x"}, "unexpected argument"},
		{[]string{"logs"}, "which process"},
		{[]string{"logs", "web", "-n", "-1"}, "-1"},
		{[]string{"logs", "web", "-n", "1", "--since", "5"}, "one of the two"},
		{[]string{"logs", "web", "--grep", "("}, "missing closing"},
		{[]string{"logs", "web", "--context", "1"}, "--grep"},
		{[]string{"logs", "web", "--grep", "x", "--context", "-1"}, "-1"},
		{[]string{"logs", "web", "--stream", "all"}, "stdout, stderr or both"},
		{[]string{"logs", "web", "--project"}, "not both"},
		{[]string{"logs", "web", "api", "--since", "5"}, "negative"},
		{[]string{"wait"}, "which process"},
		{[]string{"wait", "web", "--log", "("}, "missing closing"},
		{[]string{"wait", "web", "--port", "-1"}, "-1"},
		{[]string{"wait", "web", "--timeout", "soon"}, "500ms"},
		{[]string{"wait", "web", "--idle", "-1s"}, "500ms"},
		{[]string{"exec"}, "run what"},
		{[]string{"exec", "--timeout", "0", "x"}, "500ms"},
		{[]string{"env", "frobnicate"}, "unexpected argument"},
		{[]string{"env", "set", "PORT"}, "K=V"},
		{[]string{"env", "get"}, "name"},
	} {
		stdout, stderr, status := r.run(c.args...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, c.says) || !strings.Contains(stderr, "\nhint: ") {
			t.Errorf("%q: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
	if len(r.starts)+len(r.stops)+len(r.execs) > 0 {
		t.Error("an invalid command had an effect")
	}
}

func TestProcessCommandsCompleteNames(t *testing.T) {
	r := newRig(t)
	r.processes = []api.Process{
		{ID: "aaaaaaaaaaaa", Name: "web", State: api.StateRunning, Command: "serve"},
		{ID: "bbbbbbbbbbbb", Name: "old", State: api.StateExited, ExitCode: code(1), Command: "sh"},
	}
	r.variables = []api.EnvVar{{Name: "PORT", Value: "1"}}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"stop", ""}, "web\trunning: serve\n:4\n"},
		{[]string{"logs", "o"}, "old\texited 1: sh\n:4\n"},
		{[]string{"logs", "old", ""}, "web\trunning: serve\n:4\n"},
		{[]string{"signal", "w"}, "web\trunning: serve\n:4\n"},
		{[]string{"logs", "--stream", ""}, "stdout\nstderr\nboth\n:4\n"},
		{[]string{"start", "--restart", ""}, "no\non-failure\nalways\n:4\n"},
		{[]string{"env", "unset", ""}, "PORT\n:4\n"},
	} {
		if got, _, status := r.run(append([]string{"__complete"}, c.args...)...); got != c.want || status != 0 {
			t.Errorf("%q: status %d, %q, want %q", c.args, status, got, c.want)
		}
	}
	if got, _, _ := r.run("__complete", "signal", "web", ""); !regexp.MustCompile(`(?m)^HUP$`).MatchString(got) {
		t.Errorf("signals: %q", got)
	}
}
