package wire

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSocketFolderIsClosedToOtherUsers(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	sockets, other := filepath.Join(dir, "tandem"), filepath.Join(dir, "other")
	for _, folder := range []string{sockets, other} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := PrivateFolder(folder); err != nil {
			t.Error(err)
		}
	}
	for folder, want := range map[string]os.FileMode{sockets: 0o700, other: 0o777} {
		if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", folder, info.Mode(), err)
		}
	}
}
