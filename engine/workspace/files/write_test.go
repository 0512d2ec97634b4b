package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestWriteCreatesReplacesAndAppends(t *testing.T) {
	g := newTestTree(t)
	for _, c := range []struct {
		r      WriteRequest
		want   WriteResult
		now    string
		reason error
	}{
		{WriteRequest{Path: "a/b/f", Data: []byte("one")}, WriteResult{Written: 3, Size: 3}, "one", nil},
		{WriteRequest{Path: "a/b/f", Data: []byte("!"), Append: true}, WriteResult{Written: 1, Size: 4, Replaced: true}, "one!", nil},
		{WriteRequest{Path: "a/b/f", Data: []byte("!"), Append: true, At: new(int64)}, WriteResult{}, "one!", Changed},
		{WriteRequest{Path: "a/b/f", Data: nil}, WriteResult{Replaced: true}, "", nil},
		{WriteRequest{Path: "a/b/f", Data: []byte("x"), New: true}, WriteResult{}, "", Exists},
		{WriteRequest{Path: "a/b/g", Data: []byte("new"), New: true}, WriteResult{Written: 3, Size: 3}, "new", nil},
		{WriteRequest{Path: "a/b/h", Data: []byte("add"), Append: true}, WriteResult{Written: 3, Size: 3}, "add", nil},
	} {
		out, err := g.Write(t.Context(), c.r)
		if c.reason == nil {
			c.want.Path = filepath.Join(g.root, c.r.Path)
		}
		if out != c.want || !errors.Is(err, c.reason) {
			t.Errorf("%+v: %+v, %v", c.r, out, err)
		}
		g.checkContent(c.r.Path, c.now)
	}
	g.checkNames("a/b", "f", "g", "h")
}

// checkNames compares the names in a folder.
func (g *testTree) checkNames(rel string, want ...string) {
	g.Helper()
	entries, err := os.ReadDir(filepath.Join(g.root, rel))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if err != nil || strings.Join(names, " ") != strings.Join(want, " ") {
		g.Errorf("%s holds %v, %v; want %v", rel, names, err, want)
	}
}

func TestWriteKeepsPermissions(t *testing.T) {
	g := newTestTree(t)
	for _, mode := range []os.FileMode{0o600, 0o777, 0o751} {
		g.addFile("f", "old")
		path := filepath.Join(g.root, "f")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Write(t.Context(), WriteRequest{Path: "f", Data: []byte("new")}); err != nil {
			t.Error(err)
		}
		if _, _, err := g.EditFile(t.Context(), "f", []Edit{{Search: "new", Replace: "newer"}}); err != nil {
			t.Error(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%v became %v, %v", mode, info.Mode(), err)
		}
		g.checkContent("f", "newer")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReaderSeesOldOrNewFileDuringWrite(t *testing.T) {
	t.Parallel()
	g := newTestTree(t)
	old, young := strings.Repeat("o", 1<<20), strings.Repeat("n", 1<<20)
	g.addFile("f", old)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 20 {
			text := []string{young, old}[i%2]
			if _, err := g.Write(context.Background(), WriteRequest{Path: "f", Data: []byte(text)}); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		got, err := os.ReadFile(filepath.Join(g.root, "f"))
		if s := string(got); err != nil || s != old && s != young {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		select {
		case <-done:
			g.checkNames("", ".keep", "f")
			return
		default:
		}
	}
}

func TestConcurrentEditsAreAllApplied(t *testing.T) {
	g := newTestTree(t)
	var marks []string
	for c := 'a'; c <= 't'; c++ {
		marks = append(marks, "<"+string(c)+">")
	}
	g.addFile("f", strings.Join(marks, "\n"))
	var all sync.WaitGroup
	for _, mark := range marks {
		all.Go(func() {
			if _, _, err := g.EditFile(context.Background(), "f", []Edit{{Search: mark, Replace: strings.ToUpper(mark)}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	g.checkContent("f", strings.ToUpper(strings.Join(marks, "\n")))
}

func TestOnlyOneWriterCreatesNewFile(t *testing.T) {
	g := newTestTree(t)
	var made, refused int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			other := Tree{Roots: g.Roots} // without shared locks
			_, err := other.Write(context.Background(), WriteRequest{Path: "f", Data: []byte("x"), New: true})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made++
			} else if errors.Is(err, Exists) {
				refused++
			}
		})
	}
	all.Wait()
	if made != 1 || refused != 7 {
		t.Errorf("%d writers succeeded, %d failed with Exists", made, refused)
	}
	g.checkNames("", ".keep", "f")
}

func TestFailedWriteLeavesOldFile(t *testing.T) {
	g := newTestTree(t)
	g.addFile("f", "old")
	dir, err := openGuarded(g.root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	old, err := statReplaceable(dir, "f")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err = replaceFile(dir, "f", old, func(f *os.File) error {
		_, _ = f.WriteString("half")
		return broken
	}, true)
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	g.checkContent("f", "old")
	g.checkNames("", ".keep", "f")
}

func TestWriteAcceptsLongestName(t *testing.T) {
	g := newTestTree(t)
	name := strings.Repeat("é", 127)
	if _, err := g.Write(t.Context(), WriteRequest{Path: name, Data: []byte("x")}); err != nil {
		t.Error(err)
	}
	g.checkContent(name, "x")
	if _, err := g.Write(t.Context(), WriteRequest{Path: name + "yy"}); !errors.Is(err, Invalid) {
		t.Error(err)
	}
	if _, err := g.Write(t.Context(), WriteRequest{Path: "a\x00b"}); !errors.Is(err, Invalid) {
		t.Error(err)
	}
}

func TestReportsGetUniqueNames(t *testing.T) {
	home := t.TempDir()
	now := time.Date(2026, 11, 20, 9, 8, 7, 0, time.UTC)
	for _, want := range []string{"20261120090807-a b.md", "20261120090807-a b-1.md", "20261120090807-a b-2.md"} {
		out, err := (&Tree{Home: home}).Report(t.Context(), "a b", "text", "", now)
		if err != nil || out.Path != filepath.Join(home, "outputs", want) {
			t.Errorf("%s, %v", out.Path, err)
		}
	}
	for _, name := range []string{"", " ", ".", "..", "a/b", `a\b`, "/etc/x", "x.json", "x.MD", ".rc", "a\nb", "a\xff", strings.Repeat("x", 201)} {
		if out, err := (&Tree{Home: home}).Report(t.Context(), name, "text", "", now); !errors.Is(err, Invalid) {
			t.Errorf("%q: %s, %v", name, out.Path, err)
		}
	}
}

func TestReportCannotLeaveItsFolder(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	now := time.Date(2026, 11, 20, 9, 8, 7, 0, time.UTC)
	if err := os.MkdirAll(filepath.Join(home, "outputs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere+"/stolen", filepath.Join(home, "outputs", "20261120090807-x.md")); err != nil {
		t.Fatal(err)
	}
	out, err := (&Tree{Home: home}).Report(t.Context(), "x", "text", "", now)
	if err != nil || filepath.Base(out.Path) != "20261120090807-x-1.md" {
		t.Errorf("%s, %v", out.Path, err)
	}
	if entries, _ := os.ReadDir(elsewhere); len(entries) != 0 {
		t.Error("written elsewhere")
	}
}
