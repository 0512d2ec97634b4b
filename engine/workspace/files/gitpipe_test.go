package files

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/tests/needs"
)

// requireFifoWchan skips the test if the kernel does not report that a process is opening a FIFO.
func requireFifoWchan(t *testing.T) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cat", pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	proc := "/proc/" + strconv.Itoa(cmd.Process.Pid)
	for asleep := 0; asleep < 1000; {
		where, _ := os.ReadFile(proc + "/wchan")
		stat, _ := os.ReadFile(proc + "/stat")
		switch {
		case string(where) == "wait_for_partner" || string(where) == "fifo_open":
			return
		case strings.Contains(string(stat), "(cat) S "):
			asleep++
		default:
			asleep = 0
		}
	}
	needs.Kernel(t, "/proc/PID/wchan", "it does not name the function")
}

func TestPipeInRepositoryDoesNotBlockGit(t *testing.T) {
	requireFifoWchan(t)
	for _, name := range []string{".gitignore", "dir/.gitignore", ".git/index"} {
		t.Run(name, func(t *testing.T) {
			needs.Program(t, "git", "git")
			g := newGitTree(t)
			g.addFile("dir/new", "")
			path := filepath.Join(g.root, name)
			_ = os.Remove(path)
			if err := unix.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Git{g.Tree}.Status(t.Context(), g.root)
			if !errors.Is(err, Failed) || !strings.Contains(err.Error(), "named pipe") {
				t.Errorf("%v", err)
			}
		})
	}
}
