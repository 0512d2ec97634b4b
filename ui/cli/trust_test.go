package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/ui/cli/output"
)

func TestUpAndDownRefuseFilesWritableByOthers(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	open, here := filepath.Join(dir, "open"), filepath.Join(dir, "open", "here")
	if err := os.MkdirAll(here, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(open, "Procfile")
	if err := os.WriteFile(file, []byte("web: sleep 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	refused := func(says string, args ...string) {
		t.Helper()
		stdout, stderr, status := r.run(args...)
		if status != output.StatusFailed || stdout != "" || !strings.Contains(stderr, says) || !strings.Contains(stderr, "hint: ") || !strings.Contains(stderr, "--trust") {
			t.Errorf("%q: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
	for _, args := range [][]string{{"up"}, {"up", "--list"}, {"up", "--dry-run"}, {"up", "web"}, {"down"}} {
		refused("anyone can write to it", args...)
		if _, stderr, status := r.run(append(args, "--trust")...); strings.Contains(stderr, "everybody") || status != 0 {
			t.Errorf("%q --trust: status %d, %q", args, status, stderr)
		}
	}
	if got := r.succeeds("up", "--dry-run", "-f", file); !strings.Contains(got, "web") {
		t.Errorf("a file that is named: %q", got)
	}
	if os.Geteuid() != 0 {
		return // only root can change a file's owner
	}
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, 4242, -1); err != nil {
		t.Fatal(err)
	}
	refused("owned by user 4242", "up")
	refused("owned by user 4242", "down")
}
