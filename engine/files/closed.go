package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// errClosed is why something that is closed cannot be reached.
var errClosed = errors.New("it belongs to Tandem and is closed to agents")

// A fileID tells a file from all others that there are at the time, whatever
// leads to it. The zero value is that of none.
type fileID struct{ dev, ino uint64 }

func idOf(info fs.FileInfo) fileID {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fileID{uint64(stat.Dev), stat.Ino}
	}
	return fileID{}
}

// idAt is what a path leads to that begins in an open folder.
func idAt(dir *os.File, path string) (fileID, error) {
	var stat unix.Stat_t
	err := unix.Fstatat(int(dir.Fd()), path, &stat, 0)
	return fileID{uint64(stat.Dev), stat.Ino}, err
}

// A closure is a folder or file that nothing may reach.
type closure struct {
	path  string   // absolute, as it was given
	real  string   // without links
	id    fileID   // of none while there is nothing
	above []fileID // the folder that it lies in, and those above
}

// closures are all that is closed in a tree, as they lie now.
type closures []closure

func (t *Tree) closures() closures {
	var all closures
	for _, path := range t.Closed {
		c := closure{path: filepath.Clean(path), real: withoutLinks(filepath.Clean(path))}
		if info, err := os.Stat(c.real); err == nil {
			c.id = idOf(info)
		}
		for dir := c.real; dir != "/"; {
			dir = filepath.Dir(dir)
			id := fileID{}
			if info, err := os.Stat(dir); err == nil {
				id = idOf(info)
			}
			c.above = append(c.above, id)
		}
		all = append(all, c)
	}
	return all
}

// withoutLinks is a path with its links resolved, as far as there is something.
func withoutLinks(path string) string {
	dir := path
	real, err := filepath.EvalSymlinks(dir)
	for err != nil && dir != "/" {
		dir = filepath.Dir(dir)
		real, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return path
	}
	rel, _ := below(dir, path)
	return filepath.Join(real, rel)
}

// name reports whether a path leads to something that is closed, by its name.
func (all closures) name(path string) bool {
	return slices.ContainsFunc(all, func(c closure) bool {
		_, given := below(c.path, path)
		_, real := below(c.real, path)
		return given || real
	})
}

// leadsTo is the same with links on the way, but for one at the end.
func (all closures) leadsTo(path string) bool {
	return all != nil && (all.name(path) || all.name(filepath.Join(withoutLinks(filepath.Dir(path)), filepath.Base(path))))
}

func (all closures) has(id fileID) bool {
	return id != fileID{} && slices.ContainsFunc(all, func(c closure) bool { return c.id == id })
}

// lieIn reports whether something that is closed lies in a folder, at whatever
// depth.
func (all closures) lieIn(folder fileID) bool {
	return folder != fileID{} && slices.ContainsFunc(all, func(c closure) bool { return slices.Contains(c.above, folder) })
}

// An opened is an open folder. If something is closed in the tree, it is no part
// of that, and neither is what is opened from it: each is looked at when it is
// open, so that nobody can put something else in its place.
type opened struct {
	*os.Root
	closed closures
	id     fileID // only if something is closed
}

// guard makes sure that a folder is not closed, or else closes it.
func guard(root *os.Root, closed closures) (*opened, error) {
	o := &opened{Root: root, closed: closed}
	if closed == nil {
		return o, nil
	}
	if err := o.climb(); err != nil {
		root.Close()
		return nil, err
	}
	return o, nil
}

// openGuarded opens a folder by its path if it is not closed.
func openGuarded(path string, closed closures) (*opened, error) {
	root, err := os.OpenRoot(asFolder(path))
	if err != nil {
		return nil, err
	}
	return guard(root, closed)
}

// climb looks at the folder and all above it.
func (o *opened) climb() error {
	top, err := os.Stat("/")
	if err != nil {
		return err
	}
	f, err := o.Root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if o.id, err = idAt(f, "."); err != nil {
		return err
	}
	for path, id := ".", o.id; ; {
		switch {
		case o.closed.has(id):
			return errClosed
		case id == idOf(top):
			return nil
		}
		path += "/.."
		if id, err = idAt(f, path); err != nil {
			return err
		}
	}
}

// hides reports whether a name in the folder is that of something closed.
func (o *opened) hides(name string) bool {
	return slices.ContainsFunc(o.closed, func(c closure) bool {
		return len(c.above) > 0 && c.above[0] == o.id && filepath.Base(c.real) == name
	})
}

// visible are the names that are not hidden.
func (o *opened) visible(names []string) []string {
	if !slices.ContainsFunc(names, o.hides) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), o.hides)
}

// entries reads what is in the folder and not closed, in no order.
func (o *opened) entries() ([]fs.DirEntry, error) {
	f, err := o.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if o.closed != nil {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return o.hides(e.Name()) })
	}
	return entries, err
}

// OpenRoot opens a folder below.
func (o *opened) OpenRoot(name string) (*opened, error) {
	root, err := o.Root.OpenRoot(name)
	if err != nil || o.closed == nil {
		return &opened{Root: root}, err
	}
	sub := &opened{Root: root, closed: o.closed}
	if err := sub.under(o); err != nil {
		root.Close()
		return nil, err
	}
	return sub, nil
}

// under makes sure that what was opened from a folder is not closed. That is
// quickly done for what lies in it.
func (o *opened) under(above *opened) error {
	f, err := o.Root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	id, err := idAt(f, ".")
	if err != nil {
		return err
	}
	parent, err := idAt(f, "..")
	switch {
	case err != nil:
		return err
	case o.closed.has(id):
		return errClosed
	case id == above.id || parent == above.id:
		o.id = id
		return nil
	}
	return o.climb()
}

func (o *opened) Open(name string) (*os.File, error) { return o.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file below. A link that was put in its place meanwhile is not
// followed if something is closed.
func (o *opened) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if o.closed == nil || name == "." {
		return o.Root.OpenFile(name, flag, perm)
	}
	if above, base := filepath.Split(name); above != "" {
		dir, err := o.OpenRoot(asFolder(above))
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		return dir.OpenFile(base, flag, perm)
	}
	if o.hides(name) {
		return nil, errClosed
	}
	f, err := o.Root.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if err := o.is(f, name); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// is makes sure that an open file lies in the folder itself, by its name, and is
// not closed.
func (o *opened) is(f *os.File, name string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := o.Lstat(name)
	switch {
	case err != nil:
		return err
	case !os.SameFile(info, there), o.closed.has(idOf(info)):
		return errClosed
	}
	return nil
}

// Mkdir makes a folder in the folder.
func (o *opened) Mkdir(name string, perm fs.FileMode) error {
	if o.hides(name) {
		return errClosed
	}
	return o.Root.Mkdir(name, perm)
}

// MkdirAll makes a folder below, and those on the way.
func (o *opened) MkdirAll(path string, perm fs.FileMode) error {
	if o.closed == nil {
		return o.Root.MkdirAll(path, perm)
	}
	at := o
	for name := range strings.SplitSeq(path, "/") {
		if err := at.Mkdir(name, perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		next, err := at.OpenRoot(asFolder(name))
		if at != o {
			at.Close()
		}
		if err != nil {
			return err
		}
		at = next
	}
	if at != o {
		at.Close()
	}
	return nil
}
