package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMkdirAndDeleteReportErrors(t *testing.T) {
	g := newTestTree(t)
	g.addFile("full/f", "")
	g.addLink("full", "to full")
	mkdir := func(path string, parents bool, want error) {
		t.Helper()
		info, err := g.Mkdir(path, parents)
		if !errors.Is(err, want) || err == nil && info.Type != "dir" {
			t.Errorf("make %s: %+v, %v", path, info, err)
		}
	}
	mkdir("a", false, nil)
	mkdir("a", false, Exists)
	mkdir("a", true, nil)
	mkdir("b/c", false, NotFound)
	mkdir("b/c", true, nil)
	mkdir("full/f", true, Exists)
	mkdir("full/f/x", true, PathNotDir)
	remove := func(path string, recursive bool, want error) {
		t.Helper()
		if err := g.Delete(t.Context(), path, recursive); !errors.Is(err, want) {
			t.Errorf("delete %s: %v", path, err)
		}
	}
	remove("a", false, nil)
	remove("a", false, NotFound)
	remove("b", false, NotEmpty)
	remove("b", true, nil)
	remove("to full", true, nil)
	g.checkContent("full/f", "")
	remove("full/f", true, nil)
	remove("full/f/x", true, NotFound)
	g.checkNames("", ".keep", "full")
}

func TestMoveAndCopyDestroyNothing(t *testing.T) {
	g := newTestTree(t)
	g.addFile("f", "f")
	g.addFile("other", "other")
	g.addFile("dir/in", "in")
	both := func(from, to string, overwrite bool, want error) {
		t.Helper()
		if _, err := g.Copy(t.Context(), from, to, overwrite); !errors.Is(err, want) {
			t.Errorf("copy %s to %s: %v", from, to, err)
		}
		if _, err := g.Move(t.Context(), from, to, overwrite); !errors.Is(err, want) {
			t.Errorf("move %s to %s: %v", from, to, err)
		}
	}
	both("f", "other", false, Exists)
	both("f", "dir", true, Exists)
	both("dir", "f", true, Exists)
	both("f", "f", true, Invalid)
	both("dir", "dir/it", false, Invalid)
	both("gone", "x", false, NotFound)
	both("f", "gone/x", false, NotFound)
	both("f", "other/x", false, PathNotDir)
	g.checkNames("", ".keep", "dir", "f", "other")
	g.checkContent("other", "other")
	if info, err := g.Copy(t.Context(), "f", "other", true); err != nil || info.Path != g.root+"/other" {
		t.Errorf("%+v, %v", info, err)
	}
	g.checkContent("other", "f")
	if info, err := g.Move(t.Context(), "dir", "moved", false); err != nil || info.Type != "dir" {
		t.Errorf("%+v, %v", info, err)
	}
	g.checkContent("moved/in", "in")
}

func TestMoveBetweenFileSystemsKeepsWhatWasWrittenMeanwhile(t *testing.T) {
	for name, written := range map[string]struct{ path, text, kept string }{
		"nothing":           {},
		"new file":          {"dir/sub/new", "new", "sub"},
		"new folder":        {"dir/more/new", "new", "more"},
		"longer file":       {"dir/sub/f", "longer", "sub"},
		"file of same size": {"dir/sub/f", "z", "sub"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newTestTree(t)
			g.addFile("dir/sub/f", "y")
			g.addFile("dir/g", "g")
			g.addLink("../nowhere", "dir/link")
			then := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(g.root, "dir/sub/f"), then, then); err != nil {
				t.Fatal(err)
			}
			_, err := g.transfer("move", "dir", "moved", false, func(a, b endpoint) error {
				if err := copyTo(t.Context(), a, b, false); err != nil {
					return err
				}
				if written.path != "" {
					g.addFile(written.path, written.text)
				}
				return removeMoved(t.Context(), a, b)
			})
			g.checkContent("moved/sub/f", "y")
			g.checkContent("moved/g", "g")
			if written.path == "" {
				if g.checkNames("", ".keep", "moved"); err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, Changed) {
				t.Errorf("move = %v, want %v", err, Changed)
			}
			g.checkNames("dir", written.kept)
			g.checkContent(written.path, written.text)
		})
	}
}

func TestCopyKeepsModesTimesAndLinks(t *testing.T) {
	g := newTestTree(t)
	g.addFile("dir/run", "x")
	g.addFile("dir/sub/f", "y")
	g.addLink("../nowhere", "dir/link")
	then := time.Date(2020, 2, 3, 4, 5, 6, 7000, time.UTC)
	for path, mode := range map[string]os.FileMode{"dir/run": 0o751, "dir/sub": 0o700} {
		path = filepath.Join(g.root, path)
		if err := errors.Join(os.Chmod(path, mode), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.Copy(t.Context(), "dir", "copy", false); err != nil {
		t.Fatal(err)
	}
	describe := func(root string) map[string]string {
		all := map[string]string{}
		for _, name := range []string{"run", "sub", "sub/f", "link"} {
			info, err := os.Lstat(filepath.Join(g.root, root, name))
			if err != nil {
				t.Fatal(err)
			}
			target, _ := os.Readlink(filepath.Join(g.root, root, name))
			all[name] = info.Mode().String() + target
			if name != "link" {
				all[name] += info.ModTime().String()
			}
		}
		return all
	}
	if diff := cmp.Diff(describe("dir"), describe("copy")); diff != "" {
		t.Error(diff)
	}
}

func TestCancelledCopyLeavesNothing(t *testing.T) {
	g := newTestTree(t)
	g.addFile("dir/f", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, from := range []string{"dir", "dir/f"} {
		if _, err := g.Copy(ctx, from, "copy", false); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	g.checkNames("", ".keep", "dir")
}

func TestCopyIncludesPipesAndSockets(t *testing.T) {
	g := newTestTree(t)
	g.addFile("dir/f", "")
	if err := syscall.Mkfifo(filepath.Join(g.root, "dir/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mknod(filepath.Join(g.root, "dir/socket"), syscall.S_IFSOCK|0o600, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Copy(t.Context(), "dir", "copy", false); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"pipe": "fifo", "socket": "socket", "f": "file"} {
		if info, err := g.Stat("copy/" + name); err != nil || info.Type != want {
			t.Errorf("%s is a %s, %v", name, info.Type, err)
		}
	}
}

func TestErrorBelowFolderNamesTheFile(t *testing.T) {
	denied := &fs.PathError{Op: "openat", Path: "f", Err: syscall.EACCES}
	for want, err := range map[string]error{
		"copy /a to /b: sub/f: permission denied":            inEntry("sub", inEntry("f", denied)),
		"copy /a to /b: sub/dev: it is a device, not a file": inEntry("sub", inEntry("dev", notRegular{fs.ModeDevice})),
		"copy /a to /b: no space left":                       inEntry("sub", inEntry("f", syscall.ENOSPC)),
		"copy /a to /b: permission denied":                   denied,
		"copy /a to /b: f: no such file or folder":           inEntry("f", fs.ErrNotExist),
	} {
		got := fileError("copy /a to", "/b", err)
		if got.Error() != want {
			t.Errorf("error is %q, want %q", got, want)
		}
	}
	if err := inEntry("f", context.Canceled); err != context.Canceled {
		t.Errorf("a cancelled copy returns %v", err)
	}
	if err := fileError("copy", "/b", inEntry("f", denied)); !errors.Is(err, Denied) {
		t.Errorf("%v has another reason", err)
	}
}

func TestStatAndListDescribeLinks(t *testing.T) {
	g := newTestTree(t)
	g.addFile("dir/f", "12345")
	g.addLink("dir", "to dir")
	g.addLink("dir/f", "to file")
	g.addLink("gone", "broken")
	g.addLink("../root-outside", "out")
	if err := os.Chmod(filepath.Join(g.root, "dir"), 0o755|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	out, err := g.List(t.Context(), ListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range out.Entries {
		s := e.Name + " " + e.Type
		if e.Type != "link" {
			s += " " + e.Mode
		}
		for what, holds := range map[string]bool{" to a folder": e.ToDir, " broken": e.Broken} {
			if holds {
				s += what
			}
		}
		got = append(got, s+" "+e.Target)
		alone, err := g.Stat(e.Name)
		if folder := e.Type == "dir" || e.ToDir; folder != (alone.ID != "") || e.ID != "" {
			t.Errorf("%s has the ID %q, in the listing %q", e.Name, alone.ID, e.ID)
		}
		e.Path, e.ID, e.Owner, e.Group = filepath.Join(g.root, e.Name), alone.ID, alone.Owner, alone.Group
		if alone.Accessed = e.Accessed; err != nil || alone != e || alone.Owner == "" {
			t.Errorf("stat %+v, %v; listed %+v", alone, err, e)
		}
	}
	want := []string{"broken link broken gone", "dir dir 1755 ", "out link ../root-outside", "to dir link to a folder dir", "to file link dir/f"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if out, err := g.List(t.Context(), ListRequest{Hidden: true, Limit: 2}); err != nil || len(out.Entries) != 2 || out.Omitted != 4 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestListReturnsFolderInPages(t *testing.T) {
	g := newTestTree(t)
	for _, name := range []string{"e", "b", "a", "d", "c"} {
		g.addFile(name, "")
	}
	g.Names = &Names{}
	var got []string
	for after := ""; ; after = got[len(got)-1] {
		out, err := g.List(t.Context(), ListRequest{After: after, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range out.Entries {
			got = append(got, e.Name)
		}
		if out.Omitted != 5-len(got) {
			t.Errorf("%d names omitted after %q", out.Omitted, got)
		}
		if out.Omitted == 0 {
			break
		}
	}
	if !slices.Equal(got, []string{"a", "b", "c", "d", "e"}) {
		t.Errorf("got %q", got)
	}
	if err := os.Chtimes(g.root, time.Time{}, time.Unix(1, 0)); err != nil { // make the next change visible in the modification time
		t.Fatal(err)
	}
	g.addFile("bb", "")
	out, err := g.List(t.Context(), ListRequest{After: "b", Limit: 1})
	if err != nil || len(out.Entries) != 1 || out.Entries[0].Name != "bb" || out.Omitted != 3 {
		t.Errorf("after a change: %+v, %v", out, err)
	}
}

func TestListAndFindReturnUnusualNames(t *testing.T) {
	g := newTestTree(t)
	names := []string{"a\nb", "\x1b[2J", "\xff\xfe", "日本", strings.Repeat("n", 255), " ", "-rf", "~"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(g.root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := g.searcher().Find(t.Context(), "*", "", 0)
	if err != nil || len(out.Paths) != len(names)+1 {
		t.Errorf("%q, %v", out.Paths, err)
	}
	list, err := g.List(t.Context(), ListRequest{})
	if err != nil || len(list.Entries) != len(names) {
		t.Errorf("%+v, %v", list.Entries, err)
	}
	if _, err := g.Stat("./~"); err != nil {
		t.Error(err)
	}
}
