package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/ui/cli/doctor"
)

func TestDoctorReportsAnUnresponsiveEngine(t *testing.T) {
	r := newRig(t)
	r.options.Reach = func(context.Context) (*client.Client, error) {
		return nil, api.Errorf(api.CodeUnavailable, "no engine is running")
	}
	lock, err := os.Create(filepath.Join(os.Getenv("TANDEM_DATA_DIR"), "engine.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := lock.WriteString("4711\n"); err != nil {
		t.Fatal(err)
	}
	if text, _, _ := r.run("doctor"); !strings.Contains(text, "ok    engine        not running") {
		t.Errorf("doctor reports a stale lock file:\n%s", text)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	unreachable := r.options.Reach
	suspended := func(context.Context) (*client.Client, error) {
		return nil, fmt.Errorf("call engine.info: %w", context.DeadlineExceeded)
	}
	for _, r.options.Reach = range []func(context.Context) (*client.Client, error){unreachable, suspended} {
		if text, _, _ := r.run("doctor"); !strings.Contains(text, "fail  engine        process 4711 holds engine.lock") || !strings.Contains(text, "kill -9 4711") {
			t.Errorf("doctor does not name the lock holder:\n%s", text)
		}
	}
}

func TestDoctorReportsSandboxSupport(t *testing.T) {
	r := newRig(t)
	here := doctor.Sandbox{Promises: []doctor.Promise{{Name: "Files cannot be read"}, {Name: "No signal gets out", Why: "this kernel has version 4"}}}
	r.options.Sandbox = func() doctor.Sandbox { return here }
	for _, c := range []struct {
		profile string
		fault   error
		want    string
		status  int
	}{
		{want: "warn  sandbox       none is set for agents"},
		{profile: "/a/b.json", want: "ok    sandbox       agents are confined by /a/b.json"},
		{fault: errors.New("read the agents' sandbox: no such file"), want: "fail  sandbox       read the agents' sandbox", status: 1},
	} {
		here.Profile, here.Fault = c.profile, c.fault
		stdout, _, status := r.run("doctor")
		for _, want := range []string{c.want, "ok                  Files cannot be read\n", "warn                not available here: No signal gets out\n", "→ this kernel has version 4\n"} {
			if !strings.Contains(stdout, want) || status != c.status {
				t.Errorf("status %d, and the doctor has no %q:\n%s", status, want, stdout)
			}
		}
	}
}

func TestDoctorAndInfoCompareProgramAndEngine(t *testing.T) {
	for version, want := range map[string]string{"1.3.0": "1.3.0, newer than the engine", "1.2.2": "1.2.2, older than the engine"} {
		r := newRig(t)
		r.options.Version = version
		for _, command := range []string{"doctor", "info"} {
			if text := r.succeeds(command); !strings.Contains(text, want) {
				t.Errorf("%s of %s does not say %q:\n%s", command, version, want, text)
			}
		}
		r.options.Version = "1.2.3"
		for _, command := range []string{"doctor", "info"} {
			if text := r.succeeds(command); strings.Contains(text, "than the engine") {
				t.Errorf("%s of the engine's version compares them:\n%s", command, text)
			}
		}
	}
}

func TestDoctorReportsProblemsWithFixes(t *testing.T) {
	r := newRig(t)
	text := r.succeeds("doctor")
	for _, want := range []string{"ok    data folder", "ok    engine", "version 1.2.3, pid 10", "ok    keeper", "warn  terminal", "ok    shell"} {
		if !strings.Contains(text, want) {
			t.Errorf("doctor has no %q:\n%s", want, text)
		}
	}
	dir := os.Getenv("TANDEM_DATA_DIR")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "processes", "aaaaaaaaaaaa")
	if err := os.MkdirAll(bad, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bad, "record.json.bad"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for id, text := range map[string]string{
		"bbbbbbbbbbbb": `{"schema":1,"id":"bbbbbbbbbbbb","na`,
		"cccccccccccc": `{"schema":1,"id":"cccccccccccc"}`,
		"dddddddddddd": `{"schema":2}`,
		"eeeeeeeeeeee": "",
	} {
		if err := os.Mkdir(filepath.Join(dir, "processes", id), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "processes", id, "record.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"history.db", "history.db.bad", "history.db.bad-wal"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.options.Version = "1.3.0"
	r.options.Environ = []string{"SHELL=/no/shell", "LANG=C"}
	stdout, stderr, status := r.run("doctor")
	if status != 1 || stderr != "" {
		t.Errorf("status %d, %q", status, stderr)
	}
	for _, want := range []string{"warn  data folder", "chmod 700", "warn  engine", "this program is 1.3.0", "3 of 5 are damaged",
		"warn  history       was damaged and set aside as " + dir + "/history.db.bad\n",
		"warn  locale", "fail  shell"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("doctor has no %q:\n%s", want, stdout)
		}
	}
	stdout, _, _ = r.run("doctor", "--json")
	for _, f := range readJSON(t, stdout).([]any) {
		row := f.(map[string]any)
		if row["status"] != "ok" && row["fix"] == nil {
			t.Errorf("%v has no fix", row)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".doctor-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("doctor leaves %q, %v", left, err)
	}
}

func TestDoctorStartsNoEngine(t *testing.T) {
	r := newRig(t)
	dir := filepath.Join(shortDir(t), "data")
	t.Setenv("TANDEM_DATA_DIR", dir)
	r.options.Reach, r.options.Connect = nil, nil
	if text := r.succeeds("doctor"); !strings.Contains(text, "not running") || !strings.Contains(text, "will be created") {
		t.Errorf("doctor prints %s", text)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("doctor made the data folder: %v", err)
	}
	file := filepath.Join(shortDir(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TANDEM_DATA_DIR", file)
	if stdout, _, status := r.run("doctor"); status != 1 || !strings.Contains(stdout, "fail  data folder") {
		t.Errorf("status %d, %s", status, stdout)
	}
}
