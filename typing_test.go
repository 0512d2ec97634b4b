package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stage is a data folder and environment for one test; what was started in it
// is ended with the test.
func stage(t *testing.T) (env []string, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	env = []string{asProgram + "=1", "TANDEM_DATA_DIR=" + dir + "/d", "XDG_CONFIG_HOME=" + dir, "HOME=" + dir,
		"SHELL=/bin/sh", "PS1=ready> ", "TERM=xterm-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	t.Cleanup(func() {
		cmd := exec.Command("/proc/self/exe", "shutdown", "--all", "--yes")
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("shut down: %v: %s", err, out)
		}
		os.RemoveAll(dir)
	})
	return env, dir
}

// openDashboard starts tandem and waits for its shell's prompt.
func openDashboard(t *testing.T, env []string, dir string) *terminal {
	t.Helper()
	screen, err := startTerminal(120, 36, env, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.close)
	await(t, screen, "ready>")
	return screen
}

func await(t *testing.T, screen *terminal, text string) {
	t.Helper()
	if err := screen.waitFor(func(s string) bool { return strings.Contains(s, text) }); err != nil {
		t.Fatalf("waiting for %q: %v", text, err)
	}
}

// numbered is lines that show when one is lost, doubled or out of place.
func numbered(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d the quick brown fox jumps over the lazy dog\n", i)
	}
	return b.String()
}

// typeInto has the dashboard's shell copy its input to a file while send
// types, and compares.
func typeInto(t *testing.T, want string, send func(*terminal) error) {
	env, dir := stage(t)
	screen := openDashboard(t, env, dir)
	target := filepath.Join(dir, "typed")
	if err := screen.press(":stty -echo; cat > typed; echo closed-$((1+1))", "enter"); err != nil {
		t.Fatal(err)
	}
	if err := screen.press(":first", "enter"); err != nil {
		t.Fatal(err)
	}
	if err := send(screen); err != nil {
		t.Fatal(err)
	}
	if err := screen.press("ctrl+d"); err != nil {
		t.Fatal(err)
	}
	await(t, screen, "closed-2")
	got, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	if want = "first\n" + want; string(got) != want {
		t.Errorf("%d bytes typed, %d arrived; first difference at %d", len(want), len(got), firstDifference(want, string(got)))
	}
}

func firstDifference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func TestFastTypingArrivesCompleteAndInOrder(t *testing.T) {
	want := numbered(10_000)
	typeInto(t, want, func(screen *terminal) error {
		_, err := screen.Write([]byte(strings.ReplaceAll(want, "\n", "\r")))
		return err
	})
}

func TestAPasteOfAMegabyteArrivesComplete(t *testing.T) {
	want := numbered(1 << 20)
	typeInto(t, want, func(screen *terminal) error { return screen.paste(want) })
}
