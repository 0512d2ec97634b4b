// Package tampering tells the user about changes to files executed by the user's own tools, in
// folders writable by a confined program. git runs hooks and commands from its configuration;
// direnv, editors and Tandem run commands from a project's files. The files are compared from time
// to time and when a program exits, so changes by the user are reported too.
package tampering

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"tandem/engine/base/sleep"
)

// interval is the time between two comparisons while programs run.
const interval = 5 * time.Second

// maxHooks limits the number of hooks compared.
const maxHooks = 100

// files are the files that a Watch compares in each folder. It compares git's hooks too.
var files = []string{".git/config", ".envrc", "tandem.yaml", ".vscode/tasks.json"}

// A Watch compares the folders of running programs. Once Tell is set, the zero value is ready for
// use.
type Watch struct {
	Tell func(text string)

	mu       sync.Mutex
	begun    chan struct{}                // capacity 1; a program has begun; nil before Run
	programs map[string]program           // by id
	seen     map[string]map[string]string // the stamps of files, by folder
}

// A program is a confined program.
type program struct {
	name    string
	folders []string
}

// Begin watches the writable folders of a program about to start. If cwd is in a repository inside
// one of them, the repository is watched too.
func (w *Watch) Begin(id, name, cwd string, writable []string) {
	folders := slices.Clone(writable)
	for dir := cwd; slices.ContainsFunc(writable, func(root string) bool { return strings.HasPrefix(dir, root+"/") }); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			folders = append(folders, dir)
			break
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.programs == nil {
		w.programs, w.seen = map[string]program{}, map[string]map[string]string{}
	}
	w.programs[id] = program{name, folders}
	select {
	case w.begun <- struct{}{}:
	default:
	}
	for _, dir := range folders {
		if w.seen[dir] == nil {
			w.seen[dir] = stampsOf(dir)
		}
	}
}

// End compares the folders of an exited program, and stops watching them for it.
func (w *Watch) End(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, dir := range w.programs[id].folders {
		w.compare(dir)
	}
	delete(w.programs, id)
	for dir := range w.seen {
		if len(w.writersOf(dir)) == 0 {
			delete(w.seen, dir)
		}
	}
}

// Run compares the folders from time to time until ctx ends. While no program runs, it only waits.
func (w *Watch) Run(ctx context.Context) {
	begun := make(chan struct{}, 1)
	w.mu.Lock()
	w.begun = begun
	w.mu.Unlock()
	for {
		for w.compareAll() && sleep.For(ctx, interval) == nil {
		}
		select {
		case <-begun:
		case <-ctx.Done():
			return
		}
	}
}

// compareAll compares all folders, and reports whether there are any.
func (w *Watch) compareAll() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for dir := range w.seen {
		w.compare(dir)
	}
	return len(w.seen) > 0
}

// writersOf returns the names of running programs with write access to a folder.
func (w *Watch) writersOf(dir string) (names []string) {
	for _, p := range w.programs {
		if slices.Contains(p.folders, dir) {
			names = append(names, p.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// compare tells the user about the files of a folder changed since the last comparison.
func (w *Watch) compare(dir string) {
	now := stampsOf(dir)
	var changed []string
	for name, stamp := range now {
		if w.seen[dir][name] != stamp {
			changed = append(changed, name)
		}
	}
	w.seen[dir] = now
	if len(changed) == 0 {
		return
	}
	slices.Sort(changed)
	writers := w.writersOf(dir)
	if len(writers) > 3 {
		writers = append(writers[:3], "others")
	}
	w.Tell(fmt.Sprintf("%s changed in %s while %s could write there; your own tools run commands from it, so read it first",
		strings.Join(changed, ", "), dir, strings.Join(writers, ", ")))
}

// stampsOf maps the names of the files in a folder to their stamps. The stamp of a missing file is
// "".
func stampsOf(dir string) map[string]string {
	stamps := map[string]string{".git/hooks": hookStamps(filepath.Join(dir, ".git/hooks"))}
	for _, name := range files {
		stamps[name] = stampOf(filepath.Join(dir, name))
	}
	return stamps
}

func hookStamps(dir string) string {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxHooks) // as far as it can be read
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, ".sample") })
	slices.Sort(names)
	var all strings.Builder
	for _, name := range names {
		fmt.Fprintf(&all, "%s %s\n", name, stampOf(filepath.Join(dir, name)))
	}
	return all.String()
}

// stampOf returns a text that changes whenever a file does. It includes the time of the last status
// change, because no program can set that.
func stampOf(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(stat.Ino, stat.Size, stat.Mode, stat.Ctim)
}
