package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newOpenTree returns a test tree without roots and with its own trash.
func newOpenTree(t *testing.T) *testTree {
	g := newTestTree(t)
	g.Tree = &Tree{Home: g.root, Base: g.root, Locks: &Locks{}}
	t.Setenv("XDG_DATA_HOME", filepath.Join(filepath.Dir(g.root), "share"))
	return g
}

func TestRestoreReturnsTrashedFiles(t *testing.T) {
	g := newOpenTree(t)
	names := []string{"plain", "line\nbreak", "per%cent", "bad\xff", strings.Repeat("a\u0301", 85)}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, name := range names {
		g.addFile(name, "in "+name)
		first, err := g.trash().Put(name, now)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		g.addFile(name, "again")
		if second, err := g.trash().Put(name, now); err != nil || second == first {
			t.Errorf("%q: the second one is at %s, %v", name, second, err)
		}
		if _, err := g.trash().Restore(t.Context(), first, filepath.Join(g.root, name), false); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		g.checkContent(name, "in "+name)
		if _, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(first)), "info", filepath.Base(first)+".trashinfo")); err == nil {
			t.Errorf("%q: the record stays", name)
		}
	}
}

func TestTrashRecordsOriginalPath(t *testing.T) {
	g := newOpenTree(t)
	g.addFile("a b%/c", "")
	to, err := g.trash().Put("a b%", time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(to)), "info", "a b%.trashinfo"))
	if err != nil {
		t.Fatal(err)
	}
	want := "[Trash Info]\nPath=" + g.root + "/a%20b%25\nDeletionDate=2026-11-20T12:30:00\n"
	if string(record) != want {
		t.Errorf("the record is\n%swant\n%s", record, want)
	}
}

func TestTrashRefusesItemsItCouldNotRestore(t *testing.T) {
	g := newOpenTree(t)
	g.addFile("f", "")
	in, err := g.trash().Put("f", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]Reason{"/": Invalid, in: Invalid, filepath.Dir(filepath.Dir(g.root)): Invalid, "missing": NotFound} {
		if _, err := g.trash().Put(path, time.Now()); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if _, err := g.trash().Restore(t.Context(), filepath.Join(g.root, ".keep"), "x", false); !errors.Is(err, Invalid) {
		t.Errorf("restored a file outside the trash: %v", err)
	}
	confined := newTestTree(t)
	if _, err := (Trash{confined.Tree}).Put(".keep", time.Now()); !errors.Is(err, Outside) {
		t.Errorf("a tree with roots reached the trash: %v", err)
	}
}

func TestNumberedKeepsTheExtension(t *testing.T) {
	for name, want := range map[string]string{"a.txt": "a (2).txt", "a": "a (2)", ".rc": ".rc (2)", "a.tar.gz": "a.tar (2).gz"} {
		if got := Numbered(name, 2); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

func TestWatchReportsChanges(t *testing.T) {
	g := newTestTree(t)
	stamp, err := g.stamp("")
	if err != nil {
		t.Fatal(err)
	}
	g.addFile("new", "") // between two calls
	next, changed, err := g.Watch(t.Context(), "", stamp)
	if err != nil || !changed || next == stamp {
		t.Fatalf("a change between calls: %v, %v", changed, err)
	}
	done := make(chan bool)
	go func() {
		_, changed, _ := g.Watch(t.Context(), "", next)
		done <- changed
	}()
	for { // the watch may not have started yet
		g.addFile("new", "more")
		select {
		case changed := <-done:
			if !changed {
				t.Error("a change is not seen")
			}
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestWatchStopsWithContext(t *testing.T) {
	g := newTestTree(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, changed, err := g.Watch(ctx, "", ""); changed || err != nil {
		t.Errorf("%v, %v", changed, err)
	}
	if _, _, err := g.Watch(t.Context(), "missing", ""); !errors.Is(err, NotFound) {
		t.Errorf("missing folder: %v", err)
	}
}

func TestOnlyItemsOfATrashAreRestored(t *testing.T) {
	g := newOpenTree(t)
	g.addFile("proj/files/a", "a")
	g.addFile("proj/info/a.trashinfo", "mine")
	g.addFile(fmt.Sprintf("proj/.Trash-%d/files/a", os.Getuid()), "a")
	for _, item := range []string{"proj/files/a", fmt.Sprintf("proj/.Trash-%d/files/a", os.Getuid())} {
		if _, err := g.trash().Restore(t.Context(), filepath.Join(g.root, item), filepath.Join(g.root, "b"), false); !errors.Is(err, Invalid) {
			t.Errorf("restore %s: %v", item, err)
		}
		g.checkContent(item, "a")
	}
	g.checkContent("proj/info/a.trashinfo", "mine")
}

func TestWatchReportsChangesOfEntriesBetweenCalls(t *testing.T) {
	g := newOpenTree(t)
	g.addFile("a", "x")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	stamp, _, err := g.Watch(ended, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, changed, err := g.Watch(ended, "", stamp); changed || err != nil {
		t.Errorf("unchanged: %v, %v", changed, err)
	}
	if err := os.WriteFile(filepath.Join(g.root, "a"), []byte("longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, changed, err := g.Watch(ended, "", stamp); !changed || err != nil {
		t.Errorf("an entry was written: %v, %v", changed, err)
	}
}
