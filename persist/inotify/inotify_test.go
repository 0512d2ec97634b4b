package inotify

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/tests/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func newWatcher(t *testing.T, dirs ...string) *Watcher {
	t.Helper()
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	for _, dir := range dirs {
		if err := w.Add(dir, Entries|Gone); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func write(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *Watcher) isSignalled() bool {
	select {
	case <-w.changes:
		return true
	default:
		return false
	}
}

func TestWatchersShareAnInstanceAndAFolder(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	first, second, third := newWatcher(t, one), newWatcher(t, one, other), newWatcher(t, other)
	if first.in != second.in || second.in != third.in {
		t.Error("there are several instances")
	}
	write(t, one)
	<-first.Changes()
	<-second.Changes()
	if third.isSignalled() {
		t.Error("one that watches another folder is signalled")
	}

	// The others stay when one leaves.
	first.Close()
	first.Close()
	for second.isSignalled() {
	}
	write(t, one)
	<-second.Changes()
	if err := first.Add(one, Entries); err == nil {
		t.Error("a closed one takes a path")
	}
	second.Close()
	third.Close()
	if current != nil {
		t.Error("the instance stays open without watchers")
	}
	again := newWatcher(t, one)
	write(t, one)
	<-again.Changes()
}

func TestDeletedFolderIsSignalledAndCanBeWatchedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w, keep := newWatcher(t, dir), newWatcher(t)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	<-w.Changes()
	if err := w.Add(dir, Entries|Gone); err == nil {
		t.Error("a folder that is gone can be watched")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(dir, Entries|Gone); err != nil {
		t.Fatal(err)
	}
	for w.isSignalled() {
	}
	write(t, dir)
	<-w.Changes()
	w.Close()
	if keep.in == nil || len(keep.in.byID) != 0 {
		t.Errorf("left: %+v", keep.in)
	}
}
