package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// mostLinks bounds the links on the way to a file, as Linux does.
const mostLinks = 40

// A Tree is where paths begin and where they may lead. Its methods may be
// called at once from many goroutines.
type Tree struct {
	Roots []string // absolute folders; none: everywhere
	Base  string   // where relative paths begin; default the first root, else Home
	Home  string   // stands for "~"

	// Closed are absolute folders, or files, that nothing may reach, whatever the
	// roots are. The operations on folders above them leave them out.
	Closed []string

	// Confine confines the calling thread to what the caller may do. If it is
	// there, all that touches the disk is done on threads that it was called on and
	// that do nothing else.
	Confine func() error

	Locks *Locks // shared by trees whose calls must not change one file at once; may be nil
	Names *Names // of the folder that is listed in parts; may be nil

	// Private is a folder that only the person's own programs can write in: what
	// git is to believe is kept there while it runs. Without one it is the folder
	// for temporary files, where programs of agents could often change it.
	Private string
}

// A place is a path that leads somewhere inside: the file rel below root. There
// was no link in rel when it was looked at, but for the last part where that was
// not to be followed.
type place struct {
	root *opened
	rel  string // "." for the root itself
	path string // absolute, as it was asked for
	real string // absolute, without links
}

func (p place) close() { p.root.Close() }

// A way says how a path is to be looked up.
type way struct {
	verb string // for errors
	link bool   // if the last part is a link, it is meant itself
	make bool   // a root that is missing is made
}

// Absolute is a path as the tree takes it: from the root on, and cleaned. It may
// lead outside; whoever uses it learns of that.
func (t *Tree) Absolute(path string) (string, error) { return t.absolute("find", path) }

// absolute is a path as it was asked for, cleaned.
func (t *Tree) absolute(verb, path string) (string, error) {
	base := t.Base
	if base == "" && len(t.Roots) > 0 {
		base = t.Roots[0]
	}
	if base == "" {
		base = t.Home
	}
	switch {
	case strings.IndexByte(path, 0) >= 0:
		return "", errorf(Invalid, "%s %q: the path contains a NUL byte", verb, path)
	case path == "~" || strings.HasPrefix(path, "~/"):
		path = filepath.Join(t.Home, path[1:])
	case !filepath.IsAbs(path):
		path = filepath.Join(base, path)
	}
	if !filepath.IsAbs(path) {
		return "", errorf(Invalid, "%s %s: the path is relative, and there is no folder to resolve it in", verb, path)
	}
	return filepath.Clean(path), nil
}

// locate looks a path up. The caller closes the place.
func (t *Tree) locate(path string, w way) (place, error) {
	abs, err := t.absolute(w.verb, path)
	if err != nil {
		return place{}, err
	}
	real, closed := abs, t.closures()
	for range mostLinks {
		if closed.leadsTo(real) {
			return place{}, failure(w.verb, abs, errClosed)
		}
		p, err := t.enter(real, w)
		if err != nil {
			return place{}, failure(w.verb, abs, err)
		}
		next, err := p.link(!w.link)
		if err == nil && next == "" {
			p.path = abs
			p, err = p.guard(w, closed)
			return p, failure(w.verb, abs, err)
		}
		p.close()
		if err != nil {
			return place{}, failure(w.verb, abs, err)
		}
		real = next
	}
	return place{}, failure(w.verb, abs, syscall.ELOOP)
}

// enter opens the root that a path without links lies below.
func (t *Tree) enter(path string, w way) (place, error) {
	if len(t.Roots) == 0 {
		return enterAnywhere(path)
	}
	for _, root := range t.Roots {
		for _, dir := range aliases(root) {
			rel, ok := below(dir, path)
			if !ok {
				continue
			}
			r, err := openRoot(dir, w.make, t.Closed)
			if err != nil {
				return place{}, err
			}
			return place{root: &opened{Root: r}, rel: rel, real: path}, nil
		}
	}
	return place{}, outside(w.verb, path, t.Roots)
}

func outside(verb, path string, roots []string) error {
	return errorf(Outside, "%s %s: it is outside the allowed folders", verb, path).
		hint("allowed: %s", strings.Join(roots, ", "))
}

// aliases are a root's path and the one without links, for links that lead
// there by that.
func aliases(root string) []string {
	root = filepath.Clean(root)
	if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
		return []string{root, real}
	}
	return []string{root}
}

func openRoot(dir string, create bool, closed []string) (*os.Root, error) {
	r, err := os.OpenRoot(asFolder(dir))
	if create && errors.Is(err, fs.ErrNotExist) {
		anywhere := Tree{Closed: closed}
		if err := anywhere.mkdirAll("make folder", dir, 0o777); err != nil {
			return nil, err
		}
		r, err = os.OpenRoot(asFolder(dir))
	}
	return r, err
}

// enterAnywhere opens the deepest folder on the way to path that there is, so
// that folders above it need not be readable; if that is not either, and path
// is a folder, that itself.
func enterAnywhere(path string) (place, error) {
	dir := filepath.Dir(path)
	real, err := filepath.EvalSymlinks(dir)
	for errors.Is(err, fs.ErrNotExist) && dir != "/" {
		dir = filepath.Dir(dir)
		real, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return place{}, err
	}
	rel, _ := below(dir, path)
	whole := filepath.Join(real, rel)
	r, err := os.OpenRoot(asFolder(real))
	if errors.Is(err, fs.ErrPermission) {
		if info, missing := os.Lstat(whole); missing == nil && info.IsDir() {
			r, err = os.OpenRoot(asFolder(whole))
			rel = "."
		}
	}
	if err != nil {
		return place{}, err
	}
	return place{root: &opened{Root: r}, rel: rel, real: whole}, nil
}

// asFolder is a path that can only be opened if it leads to a folder, so that a
// pipe there makes nobody wait.
func asFolder(path string) string { return filepath.Clean(path) + "/." }

// below tells the path from dir to a path at or below it; both are clean.
func below(dir, path string) (rel string, ok bool) {
	if path == dir {
		return ".", true
	}
	if dir != "/" {
		dir += "/"
	}
	rel, ok = strings.CutPrefix(path, dir)
	return rel, ok && rel != ""
}

// link is where the first link on the way leads, with what follows it; empty if
// there is none. A part that does not exist ends the way.
func (p place) link(last bool) (string, error) {
	if p.rel == "." {
		return "", nil
	}
	for i := 0; i < len(p.rel); {
		end := len(p.rel)
		if slash := strings.IndexByte(p.rel[i:], '/'); slash >= 0 {
			end = i + slash
		}
		if end == len(p.rel) && !last {
			return "", nil
		}
		info, err := p.root.Lstat(p.rel[:end])
		if err != nil {
			return "", unlessMissing(err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return p.follow(p.rel[:end], p.rel[end:])
		}
		i = end + 1
	}
	return "", nil
}

func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// follow is where a link leads, followed by rest.
func (p place) follow(rel, rest string) (string, error) {
	target, err := p.root.Readlink(rel)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(target) {
		above := strings.TrimSuffix(p.real, p.rel)
		target = filepath.Join(above, filepath.Dir(rel), target)
	}
	return filepath.Join(target, rest), nil
}

// parent opens the folder that the place lies in, so that what is done to the
// name in it is done in that folder, wherever it may have been moved. With
// create, missing folders are made.
func (p place) parent(create bool) (dir *opened, name string, err error) {
	above, name := filepath.Split(p.rel)
	if above == "" {
		above = "."
	} else if create {
		if err := p.root.MkdirAll(filepath.Clean(above), 0o777); err != nil {
			return nil, "", err
		}
	}
	dir, err = p.root.OpenRoot(asFolder(above))
	if err == nil && dir.hides(name) {
		dir.Close()
		err = errClosed
	}
	return dir, name, err
}

// guard makes sure that a place is not closed. The root is then the folder that
// the place lies in, or would, for that is the one that was looked at.
func (p place) guard(w way, closed closures) (place, error) {
	if closed == nil {
		return p, nil
	}
	if closed.name(p.real) {
		p.close()
		return place{}, errClosed
	}
	dir, rel, err := p.nearest(w.make)
	if err != nil {
		p.close()
		return place{}, err
	}
	if dir != nil {
		p.close()
		p.root.Root, p.rel = dir, rel
	}
	if p.root, err = guard(p.root.Root, closed); err != nil {
		return place{}, err
	}
	first, _, _ := strings.Cut(p.rel, "/")
	info, err := p.root.Lstat(first)
	if p.root.hides(first) || err == nil && closed.has(idOf(info)) {
		p.close()
		return place{}, errClosed
	}
	return p, nil
}

// nearest opens the folder that the place lies in; if that is missing and may be,
// one above it. It is nil if that is the root.
func (p place) nearest(missing bool) (dir *os.Root, rel string, err error) {
	for above := filepath.Dir(p.rel); above != "."; above = filepath.Dir(above) {
		dir, err = p.root.Root.OpenRoot(asFolder(above))
		if err == nil {
			rel, _ = below(above, p.rel)
			return dir, rel, nil
		}
		if !missing || !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
	}
	return nil, "", nil
}
