package files

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestExtractRestoresPackedFiles(t *testing.T) {
	g := newOpenTree(t)
	g.addFile("src/a", "alpha")
	g.addFile("src/sub/b", "beta")
	if err := os.Symlink("sub/b", filepath.Join(g.root, "src/link")); err != nil {
		t.Fatal(err)
	}
	g.addFile("alone", "one")
	for _, name := range []string{"x.zip", "x.tar", "x.tar.gz", "x.tgz"} {
		if _, err := g.archiver().Pack(t.Context(), []string{"src", "alone"}, name); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := g.archiver().Extract(t.Context(), name, "out-"+name, false); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		g.checkContent("out-"+name+"/src/a", "alpha")
		g.checkContent("out-"+name+"/src/link", "beta")
		g.checkContent("out-"+name+"/alone", "one")
		if _, err := g.archiver().Extract(t.Context(), name, "out-"+name, false); !errors.Is(err, Exists) {
			t.Errorf("%s was extracted over existing files: %v", name, err)
		}
	}
	if _, err := g.archiver().Pack(t.Context(), []string{"src"}, "x.rar"); !errors.Is(err, Invalid) {
		t.Errorf("packed into an unknown format: %v", err)
	}
	g.checkNoTemp(t)
}

func TestExtractDoesNotNestFolderNamedLikeArchive(t *testing.T) {
	g := newOpenTree(t)
	g.addFile("src/a", "alpha")
	if _, err := g.archiver().Pack(t.Context(), []string{"src"}, "src.tar.gz"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(g.root, "src"), filepath.Join(g.root, "before")); err != nil {
		t.Fatal(err)
	}
	if _, err := g.archiver().Extract(t.Context(), "src.tar.gz", "src", false); err != nil {
		t.Fatal(err)
	}
	g.checkContent("src/a", "alpha")
	g.checkNoTemp(t)
}

func TestFailedExtractLeavesNothingBehind(t *testing.T) {
	g := newOpenTree(t)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range []string{"good", "../bad"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	g.addFile("bad.tar", b.String())
	_, err := g.archiver().Extract(t.Context(), "bad.tar", "bad", false)
	if err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("Extract = %v", err)
	}
	g.addFile("text.zip", "no archive")
	if _, err := g.archiver().Extract(t.Context(), "text.zip", "out", false); err == nil || !strings.Contains(err.Error(), "not a zip") {
		t.Errorf("Extract = %v", err)
	}
	for _, name := range []string{"bad", "out"} {
		if _, err := os.Lstat(filepath.Join(g.root, name)); err == nil {
			t.Errorf("%s exists", name)
		}
	}
	g.checkNoTemp(t)
}

// checkNoTemp fails if a temporary file is left.
func (g *testTree) checkNoTemp(t *testing.T) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(g.root, ".*.tmp")); len(left) > 0 {
		t.Errorf("temporary files left: %q", left)
	}
}

func TestArchivesCannotLeaveAllowedFolders(t *testing.T) {
	g := newOpenTree(t)
	g.addFile("in/a", "alpha")
	g.addFile("secret", "s")
	confined := &Tree{Roots: []string{filepath.Join(g.root, "in")}, Home: g.root}
	out := filepath.Join(g.root, "out")
	if _, err := (Archiver{confined}).Pack(t.Context(), []string{filepath.Join(g.root, "secret")}, "x.zip"); !errors.Is(err, Outside) {
		t.Errorf("packed from outside: %v", err)
	}
	if _, err := (Archiver{confined}).Pack(t.Context(), []string{"a"}, out+".zip"); !errors.Is(err, Outside) {
		t.Errorf("packed to outside: %v", err)
	}
	if _, err := (Archiver{confined}).Pack(t.Context(), []string{"a"}, "x.zip"); err != nil {
		t.Fatal(err)
	}
	if _, err := (Archiver{confined}).Extract(t.Context(), "x.zip", out, false); !errors.Is(err, Outside) {
		t.Errorf("extracted to outside: %v", err)
	}
	if _, err := (Trash{confined}).List(); !errors.Is(err, Outside) {
		t.Errorf("the trash is listed: %v", err)
	}
}

func TestListTrashSortsByDateAndDropsDeletedItems(t *testing.T) {
	g := newOpenTree(t)
	g.addFile("a b", "old")
	g.addFile("dir/c", "new")
	day := time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local)
	if _, err := g.trash().Put("a b", day); err != nil {
		t.Fatal(err)
	}
	to, err := g.trash().Put("dir", day.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	mine := func() (all []TrashItem) {
		listed, err := g.trash().List()
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range listed { // the machine may have others
			if strings.HasPrefix(one.Path, filepath.Dir(g.root)) {
				all = append(all, one)
			}
		}
		return all
	}
	all := mine()
	if len(all) != 2 || all[0].Path != to || all[0].From != filepath.Join(g.root, "dir") || !all[0].Deleted.Equal(day.Add(time.Hour)) || all[0].Info.Type != "dir" {
		t.Fatalf("ListTrash = %+v", all)
	}
	if all[1].From != filepath.Join(g.root, "a b") || all[1].Info.Size != 3 {
		t.Errorf("the other is %+v", all[1])
	}
	if err := g.Delete(t.Context(), to, true); err != nil {
		t.Fatal(err)
	}
	if records, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(to)), "info", "*")); len(records) != 1 {
		t.Errorf("the records are %q", records)
	}
	if all = mine(); len(all) != 1 {
		t.Errorf("after the delete, ListTrash = %+v", all)
	}
}
