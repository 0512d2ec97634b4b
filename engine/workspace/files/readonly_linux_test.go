package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tandem/tests/needs"
)

// A file that a shell could not write either is neither replaced nor edited.
func TestWriteProtectedFilesAreKept(t *testing.T) {
	if needs.OtherUser(t) {
		return
	}
	g := newTestTree(t)
	for _, mode := range []os.FileMode{0o444, 0o555, 0} {
		g.addFile("f", "old")
		path := filepath.Join(g.root, "f")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		for _, add := range []bool{false, true} {
			if _, err := g.Write(t.Context(), WriteRequest{Path: "f", Data: []byte("new"), Append: add}); !errors.Is(err, Denied) || err.Error() != "write "+path+": permission denied" {
				t.Errorf("%v, append %v: %v", mode, add, err)
			}
		}
		if _, _, err := g.EditFile(t.Context(), "f", []Edit{{Search: "old", Replace: "new"}}); !errors.Is(err, Denied) || err.Error() != "edit "+path+": permission denied" {
			t.Errorf("edit of %v: %v", mode, err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		g.checkContent("f", "old")
	}
	g.checkNames("", ".keep", "f")
}

func TestFailedCopyOfReadOnlyFoldersLeavesNothing(t *testing.T) {
	if needs.OtherUser(t) {
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
