package tampering

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A notes is a Watch with what it told.
type notes struct {
	Watch
	told []string
}

func newNotes() *notes {
	n := &notes{}
	n.Tell = func(text string) { n.told = append(n.told, text) }
	return n
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func TestChangedFilesAreReportedWhenTheProgramExits(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		".git/config":        func(t *testing.T, dir string) { write(t, dir+"/.git/config", "[core]\nfsmonitor = x\n") },
		".git/hooks":         func(t *testing.T, dir string) { write(t, dir+"/.git/hooks/pre-commit", "x") },
		".envrc":             func(t *testing.T, dir string) { write(t, dir+"/.envrc", "x") },
		"tandem.yaml":        func(t *testing.T, dir string) { write(t, dir+"/tandem.yaml", "x") },
		".vscode/tasks.json": func(t *testing.T, dir string) { write(t, dir+"/.vscode/tasks.json", "x") },
		"": func(t *testing.T, dir string) {
			write(t, dir+"/.git/index", "x")
			write(t, dir+"/main.go", "x")
			write(t, dir+"/.git/hooks/x.sample", "x")
		},
	} {
		for _, sub := range []string{"", "/a/repository"} {
			root := t.TempDir()
			dir := root + sub
			write(t, dir+"/.git/config", "[core]\nbare = false\n")
			n := newNotes()
			n.Begin("1", "build", dir, []string{root})
			change(t, dir)
			n.End("1")
			want := name + " changed in " + dir + " while build could write there"
			if told := strings.Join(n.told, "\n"); (name == "") != (told == "") || name != "" && !strings.HasPrefix(told, want) {
				t.Errorf("%s%s: told %q", name, sub, told)
			}
			n.Begin("2", "build", dir, []string{root})
			n.End("2")
			if len(n.told) > 1 || len(n.seen) > 0 {
				t.Errorf("%s: told again, or still watched: %q, %v", name, n.told, n.seen)
			}
		}
	}
}

// A program that sets the time back, or puts a pipe in place of a file, is reported too.
func TestDisguisedChangesAreReported(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/.envrc"
	write(t, path, "one")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	n := newNotes()
	n.Begin("1", "a", dir, []string{dir})
	write(t, path, "two")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	n.End("1")
	n.Begin("2", "a", dir, []string{dir})
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o644), syscall.Mkfifo(dir+"/.git", 0o644)); err != nil {
		t.Fatal(err)
	}
	n.End("2")
	if len(n.told) != 2 {
		t.Errorf("told %q", n.told)
	}
}

func TestChangesAreReportedOnceWhileProgramsRun(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		n := newNotes()
		ctx, cancel := context.WithCancel(t.Context())
		go n.Run(ctx)
		synctest.Wait() // it sleeps until a program begins
		for i, name := range []string{"d", "c", "b", "a"} {
			n.Begin(string(rune('1'+i)), name, dir, []string{dir})
		}
		synctest.Wait() // the first comparison
		write(t, dir+"/.envrc", "x")
		time.Sleep(3 * interval)
		synctest.Wait()
		n.End("1")
		cancel()
		if len(n.told) != 1 || !strings.Contains(n.told[0], " while a, b, c, others could write there") {
			t.Errorf("told %q", n.told)
		}
	})
}
