package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// errOffLimits is the cause of an error for an off-limits path.
var errOffLimits = errors.New("it belongs to Tandem and is closed to agents")

// A fileID identifies a file among all that exist at the time, by whatever path it is reached. The
// zero value means no file.
type fileID struct{ dev, ino uint64 }

func idOf(info fs.FileInfo) fileID {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fileID{uint64(stat.Dev), stat.Ino}
	}
	return fileID{}
}

// idAt returns the ID of the file at path, relative to dir, following links.
func idAt(dir *os.File, path string) (fileID, error) {
	var stat unix.Stat_t
	err := unix.Fstatat(int(dir.Fd()), path, &stat, 0)
	return fileID{uint64(stat.Dev), stat.Ino}, err
}

// An offLimitsPath is a folder or file that nothing may reach.
type offLimitsPath struct {
	path  string   // absolute, as configured
	real  string   // with links resolved
	id    fileID   // zero if nothing is there
	above []fileID // its folder and all folders above
}

// offLimitsPaths are all off-limits paths of a tree, as found on disk at the moment.
type offLimitsPaths []offLimitsPath

func (t *Tree) findOffLimits() offLimitsPaths {
	var all offLimitsPaths
	for _, path := range t.OffLimits {
		c := offLimitsPath{path: filepath.Clean(path), real: resolveLinks(filepath.Clean(path))}
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

// resolveLinks resolves the links in path, as far as it exists.
func resolveLinks(path string) string {
	dir := path
	real, err := filepath.EvalSymlinks(dir)
	for err != nil && dir != "/" {
		dir = filepath.Dir(dir)
		real, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return path
	}
	rel, _ := relBelow(dir, path)
	return filepath.Join(real, rel)
}

// covers reports whether path is, or lies below, an off-limits path, by name alone.
func (all offLimitsPaths) covers(path string) bool {
	return slices.ContainsFunc(all, func(c offLimitsPath) bool {
		_, given := relBelow(c.path, path)
		_, real := relBelow(c.real, path)
		return given || real
	})
}

// coversTarget is like covers, but also resolves the links in path, except for the last element.
func (all offLimitsPaths) coversTarget(path string) bool {
	return all != nil && (all.covers(path) || all.covers(filepath.Join(resolveLinks(filepath.Dir(path)), filepath.Base(path))))
}

func (all offLimitsPaths) hasID(id fileID) bool {
	return id != fileID{} && slices.ContainsFunc(all, func(c offLimitsPath) bool { return c.id == id })
}

// anyBelow reports whether an off-limits path lies in folder, at any depth.
func (all offLimitsPaths) anyBelow(folder fileID) bool {
	return folder != fileID{} && slices.ContainsFunc(all, func(c offLimitsPath) bool { return slices.Contains(c.above, folder) })
}

// An openDir is an open directory. Off-limits entries cannot be reached through it, or through
// anything opened from it.
//
// Checking a path before opening it would not do: links and mounts lead to the same directory by
// other names, and a program can swap a component between the check and the open. So each entry is
// opened first and then identified by device and inode, as are its ancestors, up to the root. A
// direct child of a checked directory needs only a look at its parent, which keeps walks fast.
// Names are compared as well, so that a missing off-limits path cannot be created.
type openDir struct {
	*os.Root
	offLimits offLimitsPaths
	id        fileID // set only if the tree has off-limits paths
}

// guardDir returns root as an openDir, or closes it and fails if it is off limits.
func guardDir(root *os.Root, offLimits offLimitsPaths) (*openDir, error) {
	o := &openDir{Root: root, offLimits: offLimits}
	if offLimits == nil {
		return o, nil
	}
	if err := o.checkAncestors(); err != nil {
		root.Close()
		return nil, err
	}
	return o, nil
}

// openGuarded opens the folder at path and fails if it is off limits.
func openGuarded(path string, offLimits offLimitsPaths) (*openDir, error) {
	root, err := os.OpenRoot(asFolder(path))
	if err != nil {
		return nil, err
	}
	return guardDir(root, offLimits)
}

// checkAncestors fails if the directory or one of its ancestors is off limits.
func (o *openDir) checkAncestors() error {
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
	// The path may be out of date after a rename. ".." of an open directory is where it really is.
	for path, id := ".", o.id; ; {
		switch {
		case o.offLimits.hasID(id):
			return errOffLimits
		case id == idOf(top):
			return nil
		}
		path += "/.."
		if id, err = idAt(f, path); err != nil {
			return err
		}
	}
}

// hides reports whether name is an off-limits entry of the directory.
func (o *openDir) hides(name string) bool {
	return slices.ContainsFunc(o.offLimits, func(c offLimitsPath) bool {
		return len(c.above) > 0 && c.above[0] == o.id && filepath.Base(c.real) == name
	})
}

// visibleNames returns names without the hidden ones.
func (o *openDir) visibleNames(names []string) []string {
	if !slices.ContainsFunc(names, o.hides) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), o.hides)
}

// readEntries returns the visible entries of the directory, in no order.
func (o *openDir) readEntries() ([]fs.DirEntry, error) {
	f, err := o.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries)
	if err == nil && len(entries) == maxEntries {
		return nil, errTooMany
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if o.offLimits != nil {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return o.hides(e.Name()) })
	}
	return entries, err
}

// openFolder opens the directory called name in dir. It does not follow a link of that name.
func openFolder(dir *openDir, name string) (*openDir, error) {
	sub, err := dir.OpenRoot(asFolder(name))
	if err != nil {
		return nil, err
	}
	entry, err := dir.Lstat(name)
	if err == nil {
		var opened fs.FileInfo
		if opened, err = sub.Stat("."); err == nil && !os.SameFile(entry, opened) {
			err = syscall.ENOTDIR
		}
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// OpenRoot opens a directory below this one.
func (o *openDir) OpenRoot(name string) (*openDir, error) {
	root, err := o.Root.OpenRoot(name)
	if err != nil || o.offLimits == nil {
		return &openDir{Root: root}, err
	}
	sub := &openDir{Root: root, offLimits: o.offLimits}
	if err := sub.checkOpenedFrom(o); err != nil {
		root.Close()
		return nil, err
	}
	return sub, nil
}

// checkOpenedFrom fails if the directory, which was just opened through the open directory above,
// is off limits. If it is a direct child, one look at its parent is enough, because above itself
// has been checked.
func (o *openDir) checkOpenedFrom(above *openDir) error {
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
	case o.offLimits.hasID(id):
		return errOffLimits
	case id == above.id || parent == above.id:
		o.id = id
		return nil
	}
	return o.checkAncestors()
}

func (o *openDir) Open(name string) (*os.File, error) { return o.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file below the directory. If the tree has off-limits paths, a link put in place
// of the file meanwhile is refused.
func (o *openDir) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if o.offLimits == nil || name == "." {
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
		return nil, errOffLimits
	}
	f, err := o.Root.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if err := o.checkFile(f, name); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// checkFile fails unless f is the entry of this directory called name, was not reached through a
// link, and is not off limits.
func (o *openDir) checkFile(f *os.File, name string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	entry, err := o.Lstat(name)
	switch {
	case err != nil:
		return err
	case !os.SameFile(info, entry), o.offLimits.hasID(idOf(info)):
		return errOffLimits
	}
	return nil
}

// Mkdir creates a directory in this one.
func (o *openDir) Mkdir(name string, perm fs.FileMode) error {
	if o.hides(name) {
		return errOffLimits
	}
	return o.Root.Mkdir(name, perm)
}

// MkdirAll creates a directory below this one, with its parents.
func (o *openDir) MkdirAll(path string, perm fs.FileMode) error {
	if o.offLimits == nil {
		return o.Root.MkdirAll(path, perm)
	}
	at := o
	// One level at a time, so that each directory is checked before the next is created in it.
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
