package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
)

// The bounds of every walk through a folder and what is in it: a program may have made the folder,
// or another machine may have invented it.
const (
	maxDepth   = 512        // levels, each of which is kept open
	maxEntries = 10_000_000 // files and folders
)

var (
	errTooDeep = fmt.Errorf("it has more than %d levels of folders", maxDepth)
	errTooMany = fmt.Errorf("it has more than %d files", maxEntries)
)

// A Descent holds a walk to the bounds. Its zero value is ready for use.
type Descent struct{ depth, entries int }

// Enter calls visit for an entry of the folder being visited, or fails if the entry exceeds the
// bounds. Inside visit, call Enter for each entry below that one.
func (d *Descent) Enter(visit func() error) error {
	d.entries++
	switch {
	case d.depth == maxDepth:
		return errTooDeep
	case d.entries > maxEntries:
		return errTooMany
	}
	d.depth++
	defer func() { d.depth-- }()
	return visit()
}

// checkEvery is the number of entries between checks of the context.
const checkEvery = 1024

// errEnough stops a walk whose caller has found enough.
var errEnough = errors.New("enough")

// A walk visits everything below a folder, sorted bytewise by path. It follows no links and skips
// what is unreadable or too deep.
type walk struct {
	Descent
	ctx   context.Context
	rules ruleFiles
	skip  filter
	visit func(e entry) error
}

// A filter reports whether a walk skips an entry and everything in it. rel is its path, name the
// last element; ignored is set if rules ignore it.
type filter func(rel, name string, dir, ignored bool) bool

// An entry is a file or folder found by a walk.
type entry struct {
	dir  *sharedDir
	name string
	rel  string // relative to the folder searched
	mode fs.FileMode
}

// A sharedDir is an open directory with a reference count; the last release closes it.
type sharedDir struct {
	*openDir
	users atomic.Int32
}

func openSharedDir(root *openDir, name string) (*sharedDir, error) {
	r, err := root.OpenRoot(asFolder(name))
	if err != nil {
		return nil, err
	}
	f := &sharedDir{openDir: r}
	f.users.Store(1)
	return f, nil
}

func (f *sharedDir) retain() { f.users.Add(1) }

func (f *sharedDir) release() {
	if f.users.Add(-1) == 0 {
		f.Close()
	}
}

// walkDir visits the contents of f, whose path is rel.
func (w *walk) walkDir(f *sharedDir, rel string, g *ignoreRules) error {
	entries, err := sortByPath(f.openDir)
	// A folder with read errors is searched as far as possible.
	if err != nil && len(entries) == 0 {
		return nil
	}
	g = g.enterFolder(f.openDir, rel, w.rules, entries)
	for _, e := range entries {
		if w.entries%checkEvery == 0 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		err := w.Enter(func() error { return w.visitEntry(f, rel, e, g) })
		if err != nil && !errors.Is(err, errTooDeep) {
			return err
		}
	}
	return w.ctx.Err()
}

func (w *walk) visitEntry(f *sharedDir, rel string, e fs.DirEntry, g *ignoreRules) error {
	name, dir := e.Name(), e.IsDir()
	at := name
	if rel != "" {
		at = rel + "/" + name
	}
	if w.skip(at, name, dir, g.ignores(at, dir)) {
		return nil
	}
	if err := w.visit(entry{dir: f, name: name, rel: at, mode: e.Type()}); err != nil {
		return err
	}
	if !dir {
		return nil
	}
	sub, err := openSharedDir(f.openDir, name)
	if err != nil {
		return nil
	}
	defer sub.release()
	return w.walkDir(sub, at, g)
}

// sortByPath reads a folder in the order of the sorted paths of everything below: a folder sorts as
// if its name ended with a slash.
func sortByPath(dir *openDir) ([]fs.DirEntry, error) {
	entries, err := dir.readEntries()
	slices.SortFunc(entries, comparePaths)
	return entries, err
}

func comparePaths(a, b fs.DirEntry) int {
	x, y := a.Name(), b.Name()
	n := min(len(x), len(y))
	if c := strings.Compare(x[:n], y[:n]); c != 0 {
		return c
	}
	return int(byteAt(x, n, a)) - int(byteAt(y, n, b))
}

// byteAt returns the byte at n of a name, or the one that follows its end in a path.
func byteAt(name string, n int, e fs.DirEntry) byte {
	switch {
	case n < len(name):
		return name[n]
	case e.IsDir():
		return '/'
	}
	return 0
}
