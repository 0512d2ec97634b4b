package dashboard

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tandem/engine/api"
	"tandem/tests/harness"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// A reboot is simulated: engine and keeper are killed, and what they recorded gets another boot id.
func TestDashboardComesBackAfterAReboot(t *testing.T) {
	t.Parallel()
	env, dir := harness.Stage(t)
	env = append(env, "SHELL="+needs.Program(t, "bash", "bash"))
	work := filepath.Join(dir, "work")
	if err := errors.Join(os.Mkdir(work, 0o700), os.WriteFile(filepath.Join(dir, ".bashrc"), []byte("PS1='ready> '\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	screen := harness.OpenDashboard(t, 120, 40, env, dir)
	harness.Press(t, screen, ":cd work; touch never; echo first-$((6*7))", "enter")
	harness.Await(t, screen, "first-42")
	harness.Press(t, screen, "ctrl+b", "%")
	harness.AwaitScreen(t, screen, func(s string) bool { return strings.Count(s, "ready>") == 3 })
	harness.Press(t, screen, ":echo second-$((6*7)); rm -f never; cat", "enter")
	harness.Await(t, screen, "second-42")
	wait.Poll(t, "the command to run", func() (error, bool) {
		_, err := os.Stat(filepath.Join(work, "never"))
		return err, err != nil
	})
	if err := os.WriteFile(filepath.Join(work, "never"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	harness.Press(t, screen, "ctrl+b", "c")
	harness.Press(t, screen, ":echo third-$((6*7))", "enter")
	harness.Await(t, screen, "third-42")
	harness.Press(t, screen, "ctrl+b", "b", "ctrl+b", "z")
	harness.AwaitScreen(t, screen, func(s string) bool { return strings.Contains(s, "second-42") && !strings.Contains(s, "sessions") })
	if err := syscall.Kill(screen.PID(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-screen.Done()

	reboot(t, env, dir)
	again := harness.OpenTerminal(t, 120, 40, env, dir)
	harness.AwaitScreen(t, again, func(s string) bool {
		return strings.Contains(s, "second-42") && strings.Contains(s, "; was running: echo second-") && !strings.Contains(s, "first-42")
	})
	harness.Press(t, again, "ctrl+b", "z")
	harness.AwaitScreen(t, again, func(s string) bool { return strings.Contains(s, "first-42") && strings.Contains(s, "second-42") })
	harness.Press(t, again, "R")
	harness.AwaitScreen(t, again, func(s string) bool {
		return !strings.Contains(s, "rebooted") && strings.Count(s, "rm -f never; ca") == 2
	})
	harness.Press(t, again, "ctrl+u", ":echo $PWD-$((6*7))", "enter")
	harness.Await(t, again, "work-42")
	if _, err := os.Stat(filepath.Join(work, "never")); err != nil {
		t.Error("the command at the prompt was run")
	}
	harness.Press(t, again, "ctrl+b", "n")
	harness.AwaitScreen(t, again, func(s string) bool { return strings.Contains(s, "third-42") && !strings.Contains(s, "first-42") })
}

// reboot kills engine and keeper, and changes the boot id in everything they recorded.
func reboot(t *testing.T, env []string, dir string) {
	t.Helper()
	stdout, stderr, status := harness.Run(t, env, dir, "info", "--json")
	var info api.Info
	if err := json.Unmarshal([]byte(stdout), &info); err != nil || status != 0 {
		t.Fatal(stderr, err)
	}
	for _, pid := range []int{info.EnginePID, info.KeeperPID} { // neither may start the other again
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range []int{info.EnginePID, info.KeeperPID} {
		wait.Kill(t, pid)
	}
	records, err := filepath.Glob(filepath.Join(dir, "d", "processes", "*", "record.json"))
	if err != nil || len(records) == 0 {
		t.Fatal("no records", err)
	}
	for _, path := range append(records, filepath.Join(dir, "d", "last-engine.json")) {
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(strings.ReplaceAll(string(text), info.BootID, "another boot")), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
