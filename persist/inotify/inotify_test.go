package inotify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/tests/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func newWatcher(t *testing.T, p *Pool, dirs ...string) *Watcher {
	t.Helper()
	w, err := p.New()
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
	one, other, p := t.TempDir(), t.TempDir(), new(Pool)
	first, second, third := newWatcher(t, p, one), newWatcher(t, p, one, other), newWatcher(t, p, other)
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
	if p.current != nil {
		t.Error("the instance stays open without watchers")
	}
	again := newWatcher(t, p, one)
	write(t, one)
	<-again.Changes()
}

func TestDeletedFolderIsSignalledAndCanBeWatchedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := new(Pool)
	w, keep := newWatcher(t, p, dir), newWatcher(t, p)
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
	if keep.in == nil {
		t.Fatal("the instance is closed while it has a watcher")
	}
	p.mu.Lock() // the instance still reads the confirmation of each watch that ended
	defer p.mu.Unlock()
	if len(keep.in.byID) != 0 {
		t.Errorf("left: %+v", keep.in.byID)
	}
}

// The kernel reports to all watchers of a folder the events that any of them asked for.
func TestWatcherIsSignalledForItsOwnEventsOnly(t *testing.T) {
	dir, p := t.TempDir(), new(Pool)
	few := newWatcher(t, p)
	if err := few.Add(dir, Gone); err != nil {
		t.Fatal(err)
	}
	all := newWatcher(t, p, dir)
	write(t, dir)
	<-all.Changes()
	if few.isSignalled() {
		t.Error("a new file is signalled to who watches for the folder's end")
	}
	all.Close()

	// The kernel's mask is narrower too: only the end of the folder wakes the process.
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", few.in.fd))
	if err != nil {
		t.Fatal(err)
	}
	var mask uint32
	_, after, _ := strings.Cut(string(info), " mask:")
	if _, err := fmt.Sscanf(after, "%x", &mask); err != nil || mask&Entries != 0 || mask&Gone != Gone {
		t.Errorf("the kernel watches for %x: %v\n%s", mask, err, info)
	}
}
