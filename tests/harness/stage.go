package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/tests/places"
)

// Stage makes a data directory (dir/d) and an environment for one test. At the end of the test,
// everything started in it is shut down.
func Stage(t testing.TB) (env []string, dir string) {
	t.Helper()
	places.Take(t)
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	env = []string{AsProgram + "=1", "TANDEM_DATA_DIR=" + dir + "/d", "XDG_CONFIG_HOME=" + dir, "HOME=" + dir,
		"SHELL=/bin/sh", "PS1=ready> ", "TERM=xterm-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	t.Cleanup(func() {
		ShutDown(t, env)
		os.RemoveAll(dir)
	})
	return env, dir
}

// ShutDown shuts down the engine, the keeper and everything they run.
func ShutDown(t testing.TB, env []string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "shutdown", "--all", "--yes")
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("shut down: %v: %s", err, out)
	}
}

// HideTips creates a data directory whose dashboards show no tips.
func HideTips(dataDir string) error {
	if err := os.Mkdir(dataDir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dataDir, "tips.json"), []byte(`{"hidden":true}`), 0o600)
}

// OpenDashboard starts tandem in a terminal of cols × rows and waits for the
// prompt of its first shell.
func OpenDashboard(t testing.TB, cols, rows int, env []string, dir string) *Terminal {
	t.Helper()
	screen := OpenTerminal(t, cols, rows, env, dir)
	Await(t, screen, "ready>")
	return screen
}

// OpenTerminal runs tandem with args in a terminal. The terminal is closed at the end of the test.
func OpenTerminal(t testing.TB, cols, rows int, env []string, dir string, args ...string) *Terminal {
	t.Helper()
	screen, err := StartTerminal(cols, rows, env, dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Close)
	return screen
}

// Await waits until the screen shows text.
func Await(t testing.TB, screen *Terminal, text string) {
	t.Helper()
	if err := screen.WaitFor(func(s string) bool { return strings.Contains(s, text) }); err != nil {
		t.Fatalf("waiting for %q: %v", text, err)
	}
}

// Press types keys as Terminal.Press does.
func Press(t testing.TB, screen *Terminal, keys ...string) {
	t.Helper()
	if err := screen.Press(keys...); err != nil {
		t.Fatal(err)
	}
}

// AwaitScreen waits until the screen satisfies ok.
func AwaitScreen(t testing.TB, screen *Terminal, ok func(screen string) bool) {
	t.Helper()
	if err := screen.WaitFor(ok); err != nil {
		t.Fatal(err)
	}
}

// MakeLines returns at least size bytes of numbered lines, so that lost, repeated and misplaced
// lines are visible.
func MakeLines(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d the quick brown fox jumps over the lazy dog\n", i)
	}
	return b.String()
}

// IsStopped reports whether a process is stopped (proc(5), state T).
func IsStopped(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Contains(string(stat), ") T ")
}
