package files

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
)

const (
	mostDepth = 512  // folders below the one searched, each of which is open
	lookEvery = 1024 // entries between two looks at the context
)

// errEnough ends a walk whose caller has what it wants.
var errEnough = errors.New("enough")

// A walk goes through a folder and all below it, in the order of the paths, byte
// by byte. It follows no links and passes over what cannot be read.
type walk struct {
	ctx   context.Context
	home  string
	skip  filter
	visit func(e entry) error
	seen  int
}

// A filter tells what a walk passes over, with all that is in it: what is called
// name at rel, a folder or not, which git ignores or not.
type filter func(rel, name string, dir, ignored bool) bool

// An entry is something that a walk found.
type entry struct {
	folder *folder
	name   string
	rel    string // below the folder searched
	mode   fs.FileMode
}

// A folder is an open folder that is closed when nobody uses it any more.
type folder struct {
	*opened
	users atomic.Int32
}

func openFolder(root *opened, name string) (*folder, error) {
	r, err := root.OpenRoot(asFolder(name))
	if err != nil {
		return nil, err
	}
	f := &folder{opened: r}
	f.users.Store(1)
	return f, nil
}

func (f *folder) keep() { f.users.Add(1) }

func (f *folder) drop() {
	if f.users.Add(-1) == 0 {
		f.Close()
	}
}

// from walks through what is in f, which lies at rel.
func (w *walk) from(f *folder, rel string, g *ignores, depth int) error {
	entries, err := inPathOrder(f.opened)
	if err != nil && len(entries) == 0 {
		return nil
	}
	g = g.enter(f.opened, rel, w.home, entries)
	for _, e := range entries {
		if w.seen++; w.seen%lookEvery == 0 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		if err := w.entry(f, rel, e, g, depth); err != nil {
			return err
		}
	}
	return w.ctx.Err()
}

func (w *walk) entry(f *folder, rel string, e fs.DirEntry, g *ignores, depth int) error {
	name, dir := e.Name(), e.IsDir()
	at := name
	if rel != "" {
		at = rel + "/" + name
	}
	if w.skip(at, name, dir, g.match(at, dir)) {
		return nil
	}
	if err := w.visit(entry{folder: f, name: name, rel: at, mode: e.Type()}); err != nil {
		return err
	}
	if !dir || depth == mostDepth {
		return nil
	}
	sub, err := openFolder(f.opened, name)
	if err != nil {
		return nil
	}
	defer sub.drop()
	return w.from(sub, at, g, depth+1)
}

// inPathOrder reads what is in a folder in the order in which the paths of all
// that is below it are sorted: a folder counts as ending with a slash.
func inPathOrder(dir *opened) ([]fs.DirEntry, error) {
	entries, err := dir.entries()
	slices.SortFunc(entries, comparePaths)
	return entries, err
}

func comparePaths(a, b fs.DirEntry) int {
	x, y := a.Name(), b.Name()
	n := min(len(x), len(y))
	if c := strings.Compare(x[:n], y[:n]); c != 0 {
		return c
	}
	return int(after(x, n, a)) - int(after(y, n, b))
}

// after is the byte at n of a name, or what counts as following it.
func after(name string, n int, e fs.DirEntry) byte {
	switch {
	case n < len(name):
		return name[n]
	case e.IsDir():
		return '/'
	}
	return 0
}
