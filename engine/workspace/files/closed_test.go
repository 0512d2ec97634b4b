package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// newOffLimitsTree returns a test tree with an off-limits folder.
func newOffLimitsTree(t testing.TB) *testTree {
	g := newTestTree(t)
	g.addFile("own/secret", "secret")
	g.addFile("own/marker", "")
	g.OffLimits = []string{filepath.Join(g.root, "own")}
	return g
}

func TestOffLimitsPathsCannotBeReached(t *testing.T) {
	t.Parallel()
	for name, roots := range map[string]func(g *testTree) []string{
		"no roots":                  func(*testTree) []string { return nil },
		"root above the folder":     func(g *testTree) []string { return []string{g.root} },
		"root is the folder":        func(g *testTree) []string { return []string{g.root + "/own", g.root} },
		"root is a link to it":      func(g *testTree) []string { return []string{g.root + "/link", g.root} },
		"root below a missing path": func(g *testTree) []string { return []string{g.root + "/link/a/b", g.root} },
		"off-limits path is a link": func(g *testTree) []string { g.OffLimits = []string{g.root + "/link"}; return nil },
		"off-limits path is missing": func(g *testTree) []string {
			g.OffLimits = append(g.OffLimits, g.root+"/nothing/yet")
			return []string{g.root}
		},
		"off-limits file": func(g *testTree) []string { g.OffLimits = append(g.OffLimits, g.root+"/conf/file"); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			g := newOffLimitsTree(t)
			g.addFile("conf/file", "secret")
			g.addLink("own", "link")
			g.addLink(g.root+"/own", "absolute")
			g.addLink("own/secret", "file")
			g.addLink("own/new", "dangling")
			g.addLink("link", "chain")
			g.addLink("conf/file", "to file")
			g.addLink(".", "self")
			g.Roots, g.Base = roots(g), g.root
			paths := []string{
				"own", "own/secret", "own/new/er", g.root + "/own", "./own/../own/secret", "~/own/secret", "self/own/secret",
				"link", "link/secret", "link/new", "absolute/secret", "file", "dangling", "chain/secret", "link/../own",
			}
			for _, path := range g.OffLimits {
				paths = append(paths, path, path+"/x")
			}
			for _, path := range paths {
				if reached := g.tryEverything(path); reached != nil {
					t.Errorf("%s: reached by %s", path, strings.Join(reached, ", "))
				}
			}
			entries, err := os.ReadDir(filepath.Join(g.root, "own"))
			if err != nil || len(entries) != 2 {
				t.Errorf("there is %v, %v", entries, err)
			}
			g.checkContent("own/secret", "secret")
			g.checkContent("conf/file", "secret")
			if _, err := os.Lstat(g.root + "/nothing/yet"); err == nil {
				t.Error("the missing off-limits path was created")
			}
		})
	}
}

func TestOffLimitsErrorNamesThePath(t *testing.T) {
	g := newOffLimitsTree(t)
	_, err := g.Read(t.Context(), ReadRequest{Path: "own/secret"})
	if want := "read " + g.root + "/own/secret: it belongs to Tandem and is closed to agents"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestListingsOmitOffLimitsPaths(t *testing.T) {
	g := newOffLimitsTree(t)
	g.addFile("dir/deep/own/secret", "secret")
	g.addFile("dir/deep/file", "text")
	g.addFile("own.txt", "")
	g.OffLimits = append(g.OffLimits, filepath.Join(g.root, "dir/deep/own"), filepath.Join(g.root, "own.txt"))
	list, err := g.List(t.Context(), ListRequest{Hidden: true})
	if err != nil || len(list.Entries) != 2 || list.Entries[0].Name != ".keep" || list.Entries[1].Name != "dir" {
		t.Errorf("list: %+v, %v", list, err)
	}
	if out, err := g.searcher().Find(t.Context(), "*", "", 0); err != nil || !slices.Equal(out.Paths, []string{".keep", "dir/", "dir/deep/", "dir/deep/file"}) {
		t.Errorf("find: %v, %v", out, err)
	}
	if out, err := g.searcher().Grep(t.Context(), GrepRequest{Pattern: "secret|text"}); err != nil || len(out.Lines) != 1 || out.Lines[0].Path != "dir/deep/file" {
		t.Errorf("grep: %v, %v", out, err)
	}
	if n := g.Size(t.Context(), "."); n != int64(len("text")) {
		t.Errorf("size: %d", n)
	}
	if _, err := g.Copy(t.Context(), "dir", "copy", false); err != nil {
		t.Error(err)
	}
	g.checkContent("copy/deep/file", "text")
	if _, err := os.Lstat(g.root + "/copy/deep/own"); err == nil {
		t.Error("the off-limits folder was copied")
	}
}

func TestOffLimitsPathCannotBeMovedWithItsParent(t *testing.T) {
	g := newOffLimitsTree(t)
	g.addFile("a/b/own/secret", "secret")
	g.OffLimits = append(g.OffLimits, filepath.Join(g.root, "a/b/own"))
	g.Roots, g.Base = nil, g.root
	t.Setenv("XDG_DATA_HOME", g.outside)
	g.addLink("a", "alias")
	for _, path := range []string{"a", "a/b", "alias/b"} {
		if err := g.Delete(t.Context(), path, true); !errors.Is(err, Outside) {
			t.Errorf("delete %s: %v", path, err)
		}
		if _, err := g.Move(t.Context(), path, "moved", false); !errors.Is(err, Outside) {
			t.Errorf("move %s: %v", path, err)
		}
		if _, err := g.trash().Put(path, time.Now()); !errors.Is(err, Outside) {
			t.Errorf("trash %s: %v", path, err)
		}
	}
	g.checkContent("a/b/own/secret", "secret")
	if err := g.Delete(t.Context(), "alias", true); err != nil {
		t.Errorf("a link to a folder above: %v", err)
	}
}

// A program could make the trash a link to an off-limits folder.
func TestTrashCannotLeadToOffLimitsFolder(t *testing.T) {
	g := newOffLimitsTree(t)
	g.Roots, g.Base = nil, g.root
	t.Setenv("XDG_DATA_HOME", g.root+"/data")
	g.addFile("data/Trash/info/x", "")
	g.addLink("../../own", "data/Trash/files")
	g.addFile("f", "evil")
	if to, err := g.trash().Put("f", time.Now()); err == nil { // in the trash of the whole disk
		info := filepath.Join(filepath.Dir(to), "../info", filepath.Base(to)+".trashinfo")
		if err := errors.Join(os.Remove(to), os.Remove(info)); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(g.root + "/own"); err != nil || len(entries) != 2 {
		t.Errorf("there is %v, %v", entries, err)
	}
}

// The names cached for a folder are shared by all trees that list it.
func TestCachedNamesDoNotRevealOffLimitsPaths(t *testing.T) {
	g := newOffLimitsTree(t)
	g.Names = &Names{}
	open := *g.Tree
	open.OffLimits = nil
	for _, r := range []ListRequest{{After: "a"}, {Match: "own"}} {
		for range 2 {
			if out, err := open.List(t.Context(), r); err != nil || len(out.Entries) != 1 {
				t.Errorf("%+v: %+v, %v", r, out, err)
			}
			if out, err := g.List(t.Context(), r); err != nil || len(out.Entries) != 0 {
				t.Errorf("%+v: %+v, %v", r, out, err)
			}
		}
	}
}

func TestGitSkipsRepositoryWithOffLimitsPath(t *testing.T) {
	g := newGitTree(t)
	if g == nil {
		return
	}
	g.addFile("own/secret", "secret")
	g.checkMarks("", "main", map[string]string{"own": "??"})
	g.OffLimits = []string{g.root + "/own"}
	g.checkMarks("", "", nil)
	g.OffLimits = []string{g.root + "/.git"}
	g.checkMarks("", "", nil)
	g.OffLimits = []string{g.outside}
	g.checkMarks("", "main", map[string]string{"own": "??"})
}

func TestReportCannotReachOffLimitsFolder(t *testing.T) {
	g := newOffLimitsTree(t)
	g.addLink("own", "outputs")
	g.Roots = []string{g.outside}
	if _, err := g.Report(t.Context(), "name", "text", "", time.Now()); !errors.Is(err, Outside) {
		t.Error(err)
	}
	if err := os.Remove(g.root + "/outputs"); err != nil {
		t.Fatal(err)
	}
	if out, err := g.Report(t.Context(), "name", "text", "", time.Now()); err != nil || !strings.HasPrefix(out.Path, g.root+"/outputs/") {
		t.Errorf("%+v, %v", out, err)
	}
}
