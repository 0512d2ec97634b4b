package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

const nobody = 65534

func TestFailedCopyOfReadOnlyFoldersLeavesNothing(t *testing.T) {
	if os.Geteuid() == 0 { // root may write to any folder
		// The folder of tests may be closed to others.
		own, err := os.MkdirTemp("/tmp", "readonly")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(own)
		if err := os.Chown(own, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Env = append(os.Environ(), "TMPDIR="+own)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("as another user: %v\n%s", err, out)
		}
		return
	}
	g := newTestTree(t)
	g.addFile("from/module/sub/file", "text")
	g.addFile("from/unreadable", "")
	change := func(rel string, mode os.FileMode) {
		if err := os.Chmod(filepath.Join(g.root, rel), mode); err != nil {
			t.Fatal(err)
		}
	}
	change("from/unreadable", 0)
	for _, folder := range []string{"from/module/sub", "from/module"} {
		change(folder, 0o555)
		defer change(folder, 0o755)
	}
	if _, err := g.Copy(t.Context(), "from", "to", false); err == nil {
		t.Error("an unreadable file was copied")
	}
	entries, err := os.ReadDir(g.root)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}
