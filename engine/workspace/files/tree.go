package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"tandem/persist/inotify"
)

// maxLinks limits the links in a path, as in Linux.
const maxLinks = 40

// A Tree defines how paths are resolved and which files they may reach. Its methods are safe for
// concurrent use.
type Tree struct {
	Roots []string // absolute folders; none: no limit
	Base  string   // base of relative paths; default is the first root, else Home

	// RootID is the Info.ID that the root folder must have. If another folder is there now, it is
	// not reached. With "", any folder may be there.
	RootID string

	Home string // expansion of "~"

	// OffLimits are absolute paths of folders or files that nothing may reach, whatever the roots
	// are. Operations on folders above skip them.
	OffLimits []string

	// Confine, if set, confines the calling thread to the caller's rights. Everything that touches
	// the disk then runs on such threads, which run nothing else.
	Confine func() error

	Watches *inotify.Pool // shared by watched folders and others who watch; nil: its own

	Locks *Locks // shared by trees that must not change one file at once; may be nil
	Names *Names // of the folder being listed in pages; may be nil

	// Private is a folder that only the user's own programs can write to. Files that git trusts are
	// kept there while it runs. The default is the folder for temporary files, which agents'
	// programs can often write to.
	Private string
}

// A location is a resolved path inside the tree: rel, below root. When it was resolved, rel
// contained no link, except for the last element with lookup.noFollow.
type location struct {
	root *openDir
	rel  string // "." for the root itself
	path string // absolute, as requested
	real string // absolute, with links resolved
}

func (p location) close() { p.root.Close() }

// A lookup holds the options for resolving a path.
type lookup struct {
	verb     string // for errors
	noFollow bool   // do not follow a link in the last element
	makeRoot bool   // create a missing root
}

// Absolute returns the absolute, cleaned form of path. It does not check whether the tree may reach
// it.
func (t *Tree) Absolute(path string) (string, error) { return t.absolute("find", path) }

// absolute implements Absolute; verb is used in errors.
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

// locate resolves a path and checks that it may be reached. The caller closes the location.
func (t *Tree) locate(path string, w lookup) (location, error) {
	abs, err := t.absolute(w.verb, path)
	if err != nil {
		return location{}, err
	}
	real, offLimits := abs, t.findOffLimits()
	// os.Root follows relative links on its own, but not absolute ones, and none between roots. So
	// each link is resolved here and the path tried again.
	for range maxLinks {
		if offLimits.coversTarget(real) {
			return location{}, fileError(w.verb, abs, errOffLimits)
		}
		p, err := t.openRootOf(real, w)
		if err != nil {
			return location{}, fileError(w.verb, abs, err)
		}
		next, err := p.nextLink(!w.noFollow)
		if err == nil && next == "" {
			p.path = abs
			p, err = p.checkOffLimits(w, offLimits)
			return p, fileError(w.verb, abs, err)
		}
		p.close()
		if err != nil {
			return location{}, fileError(w.verb, abs, err)
		}
		real = next
	}
	return location{}, fileError(w.verb, abs, syscall.ELOOP)
}

// openRootOf opens the root above path, whose links are resolved.
func (t *Tree) openRootOf(path string, w lookup) (location, error) {
	if len(t.Roots) == 0 {
		return openNearest(path)
	}
	for _, root := range t.Roots {
		for _, dir := range rootAliases(root) {
			rel, ok := relBelow(dir, path)
			if !ok {
				continue
			}
			r, err := openRoot(dir, w.makeRoot && t.RootID == "", t.OffLimits)
			if err != nil {
				return location{}, err
			}
			if t.RootID != "" && identify(r) != t.RootID {
				r.Close()
				return location{}, errorf(Outside, "%s %s: the folder %s was replaced meanwhile", w.verb, path, dir)
			}
			return location{root: &openDir{Root: r}, rel: rel, real: path}, nil
		}
	}
	return location{}, outsideError(w.verb, path, t.Roots)
}

func outsideError(verb, path string, roots []string) error {
	return errorf(Outside, "%s %s: it is outside the allowed folders", verb, path).
		withHint("allowed: %s", strings.Join(roots, ", "))
}

// rootAliases returns a root's path as configured and with its links resolved, because a link's
// target may use either.
func rootAliases(root string) []string {
	root = filepath.Clean(root)
	if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
		return []string{root, real}
	}
	return []string{root}
}

func openRoot(dir string, create bool, offLimits []string) (*os.Root, error) {
	r, err := os.OpenRoot(asFolder(dir))
	if create && errors.Is(err, fs.ErrNotExist) {
		anywhere := Tree{OffLimits: offLimits}
		if err := anywhere.makeFolders("make folder", dir, 0o777); err != nil {
			return nil, err
		}
		r, err = os.OpenRoot(asFolder(dir))
	}
	return r, err
}

// openNearest opens the deepest existing folder above path, so that folders further up need not be
// readable. If that folder is not readable either, path itself is opened, provided it is a folder.
func openNearest(path string) (location, error) {
	dir := filepath.Dir(path)
	real, err := filepath.EvalSymlinks(dir)
	for errors.Is(err, fs.ErrNotExist) && dir != "/" {
		dir = filepath.Dir(dir)
		real, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return location{}, err
	}
	rel, _ := relBelow(dir, path)
	whole := filepath.Join(real, rel)
	r, err := os.OpenRoot(asFolder(real))
	if errors.Is(err, fs.ErrPermission) {
		if info, missing := os.Lstat(whole); missing == nil && info.IsDir() {
			r, err = os.OpenRoot(asFolder(whole))
			rel = "."
		}
	}
	if err != nil {
		return location{}, err
	}
	return location{root: &openDir{Root: r}, rel: rel, real: whole}, nil
}

// asFolder returns a path that can only be opened if it is a folder, so that opening a pipe does
// not block.
func asFolder(path string) string { return filepath.Clean(path) + "/." }

// relBelow returns the relative path from dir to path, if path is dir or below it. Both must be
// clean.
func relBelow(dir, path string) (rel string, ok bool) {
	if path == dir {
		return ".", true
	}
	if dir != "/" {
		dir += "/"
	}
	rel, ok = strings.CutPrefix(path, dir)
	return rel, ok && rel != ""
}

// nextLink returns the path to try instead if rel contains a link, or "". The last element is only
// considered if last is set.
func (p location) nextLink(last bool) (string, error) {
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
			return p.linkTarget(p.rel[:end], p.rel[end:])
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

// linkTarget returns the absolute target of the link rel, followed by rest.
func (p location) linkTarget(rel, rest string) (string, error) {
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

// openParent opens the parent folder of the location. Operations on a name in it then affect that
// folder, even if it has been moved. With create, missing folders are created.
func (p location) openParent(create bool) (dir *openDir, name string, err error) {
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
		err = errOffLimits
	}
	return dir, name, err
}

// checkOffLimits fails if the location is off limits. Otherwise it returns the location relative to
// its nearest existing parent folder, because that is the one checked.
func (p location) checkOffLimits(how lookup, offLimits offLimitsPaths) (location, error) {
	if offLimits == nil {
		return p, nil
	}
	if offLimits.covers(p.real) {
		p.close()
		return location{}, errOffLimits
	}
	dir, rel, err := p.openAbove(how.makeRoot)
	if err != nil {
		p.close()
		return location{}, err
	}
	if dir != nil {
		p.close()
		p.root.Root, p.rel = dir, rel
	}
	if p.root, err = guardDir(p.root.Root, offLimits); err != nil {
		return location{}, err
	}
	first, _, _ := strings.Cut(p.rel, "/")
	info, err := p.root.Lstat(first)
	if p.root.hides(first) || err == nil && offLimits.hasID(idOf(info)) {
		p.close()
		return location{}, errOffLimits
	}
	return p, nil
}

// openAbove opens the parent folder of the location or, if missing is set, its nearest existing
// ancestor. dir is nil if that is the root.
func (p location) openAbove(missing bool) (dir *os.Root, rel string, err error) {
	for above := filepath.Dir(p.rel); above != "."; above = filepath.Dir(above) {
		dir, err = p.root.Root.OpenRoot(asFolder(above))
		if err == nil {
			rel, _ = relBelow(above, p.rel)
			return dir, rel, nil
		}
		if !missing || !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
	}
	return nil, "", nil
}
