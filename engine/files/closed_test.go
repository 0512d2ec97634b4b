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

// closedGround is a ground with a folder that is closed.
func closedGround(t testing.TB) *ground {
	g := newGround(t)
	g.file("own/secret", "secret")
	g.file("own/marker", "")
	g.Closed = []string{filepath.Join(g.root, "own")}
	return g
}

func TestNothingClosedIsReached(t *testing.T) {
	t.Parallel()
	for name, roots := range map[string]func(g *ground) []string{
		"anywhere":                func(*ground) []string { return nil },
		"below a folder above":    func(g *ground) []string { return []string{g.root} },
		"below it":                func(g *ground) []string { return []string{g.root + "/own", g.root} },
		"below a link to it":      func(g *ground) []string { return []string{g.root + "/link", g.root} },
		"below what is missing":   func(g *ground) []string { return []string{g.root + "/link/a/b", g.root} },
		"closed by way of a link": func(g *ground) []string { g.Closed = []string{g.root + "/link"}; return nil },
		"closed where nothing is": func(g *ground) []string { g.Closed = append(g.Closed, g.root+"/nothing/yet"); return []string{g.root} },
		"a file":                  func(g *ground) []string { g.Closed = append(g.Closed, g.root+"/conf/file"); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			g := closedGround(t)
			g.file("conf/file", "secret")
			g.link("own", "link")
			g.link(g.root+"/own", "absolute")
			g.link("own/secret", "file")
			g.link("own/new", "dangling")
			g.link("link", "chain")
			g.link("conf/file", "to file")
			g.link(".", "self")
			g.Roots, g.Base = roots(g), g.root
			paths := []string{
				"own", "own/secret", "own/new/er", g.root + "/own", "./own/../own/secret", "~/own/secret", "self/own/secret",
				"link", "link/secret", "link/new", "absolute/secret", "file", "dangling", "chain/secret", "link/../own",
			}
			for _, path := range g.Closed {
				paths = append(paths, path, path+"/x")
			}
			for _, path := range paths {
				if reached := g.reach(path); reached != nil {
					t.Errorf("%s: reached by %s", path, strings.Join(reached, ", "))
				}
			}
			entries, err := os.ReadDir(filepath.Join(g.root, "own"))
			if err != nil || len(entries) != 2 {
				t.Errorf("there is %v, %v", entries, err)
			}
			g.holds("own/secret", "secret")
			g.holds("conf/file", "secret")
			if _, err := os.Lstat(g.root + "/nothing/yet"); err == nil {
				t.Error("it was made")
			}
		})
	}
}

func TestWhatIsClosedSaysSo(t *testing.T) {
	g := closedGround(t)
	_, err := g.Read(t.Context(), ReadRequest{Path: "own/secret"})
	if want := "read " + g.root + "/own/secret: it belongs to Tandem and is closed to agents"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhatIsClosedIsLeftOut(t *testing.T) {
	g := closedGround(t)
	g.file("dir/deep/own/secret", "secret")
	g.file("dir/deep/file", "text")
	g.file("own.txt", "")
	g.Closed = append(g.Closed, filepath.Join(g.root, "dir/deep/own"), filepath.Join(g.root, "own.txt"))
	list, err := g.List(t.Context(), ListRequest{Hidden: true})
	if err != nil || len(list.Entries) != 2 || list.Entries[0].Name != ".keep" || list.Entries[1].Name != "dir" {
		t.Errorf("list: %+v, %v", list, err)
	}
	if out, err := g.Find(t.Context(), "*", "", 0); err != nil || !slices.Equal(out.Paths, []string{".keep", "dir/", "dir/deep/", "dir/deep/file"}) {
		t.Errorf("find: %v, %v", out, err)
	}
	if out, err := g.Grep(t.Context(), GrepRequest{Pattern: "secret|text"}); err != nil || len(out.Lines) != 1 || out.Lines[0].Path != "dir/deep/file" {
		t.Errorf("grep: %v, %v", out, err)
	}
	if n := g.Size(t.Context(), "."); n != int64(len("text")) {
		t.Errorf("size: %d", n)
	}
	if _, err := g.Copy(t.Context(), "dir", "copy", false); err != nil {
		t.Error(err)
	}
	g.holds("copy/deep/file", "text")
	if _, err := os.Lstat(g.root + "/copy/deep/own"); err == nil {
		t.Error("it was copied")
	}
}

func TestWhatIsClosedStaysWhereItIs(t *testing.T) {
	g := closedGround(t)
	g.file("a/b/own/secret", "secret")
	g.Closed = append(g.Closed, filepath.Join(g.root, "a/b/own"))
	g.Roots, g.Base = nil, g.root
	t.Setenv("XDG_DATA_HOME", g.outside)
	g.link("a", "alias")
	for _, path := range []string{"a", "a/b", "alias/b"} {
		if err := g.Delete(t.Context(), path, true); !errors.Is(err, Outside) {
			t.Errorf("delete %s: %v", path, err)
		}
		if _, err := g.Move(t.Context(), path, "moved", false); !errors.Is(err, Outside) {
			t.Errorf("move %s: %v", path, err)
		}
		if _, err := g.Trash(path, time.Now()); !errors.Is(err, Outside) {
			t.Errorf("trash %s: %v", path, err)
		}
	}
	g.holds("a/b/own/secret", "secret")
	if err := g.Delete(t.Context(), "alias", true); err != nil {
		t.Errorf("a link to a folder above: %v", err)
	}
}

// The trash can lead anywhere too, and takes what is put there along.
func TestTheTrashLeadsNowhereThatIsClosed(t *testing.T) {
	g := closedGround(t)
	g.Roots, g.Base = nil, g.root
	t.Setenv("XDG_DATA_HOME", g.root+"/data")
	g.file("data/Trash/info/x", "")
	g.link("../../own", "data/Trash/files")
	g.file("f", "evil")
	if to, err := g.Trash("f", time.Now()); err == nil { // in the trash of the whole disk
		info := filepath.Join(filepath.Dir(to), "../info", filepath.Base(to)+".trashinfo")
		if err := errors.Join(os.Remove(to), os.Remove(info)); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(g.root + "/own"); err != nil || len(entries) != 2 {
		t.Errorf("there is %v, %v", entries, err)
	}
}

// The names of a folder that is listed in parts are kept for all who list it.
func TestKeptNamesDoNotTellWhatIsClosed(t *testing.T) {
	g := closedGround(t)
	g.Names = &Names{}
	open := *g.Tree
	open.Closed = nil
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

func TestGitIsNotAskedWhereSomethingIsClosed(t *testing.T) {
	g := newGitGround(t)
	if g == nil {
		return
	}
	g.file("own/secret", "secret")
	g.marks("", "main", map[string]string{"own": "??"})
	g.Closed = []string{g.root + "/own"}
	g.marks("", "", nil)
	g.Closed = []string{g.root + "/.git"}
	g.marks("", "", nil)
	g.Closed = []string{g.outside}
	g.marks("", "main", map[string]string{"own": "??"})
}

func TestAReportGoesNowhereThatIsClosed(t *testing.T) {
	g := closedGround(t)
	g.link("own", "outputs")
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
