package files

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
)

// Mkdir creates a folder. With parents it creates missing parents too, and an existing folder is
// not an error.
func (t *Tree) Mkdir(path string, parents bool) (info Info, err error) {
	err = t.runConfined(func() (err error) {
		info, err = t.makeFolder(path, parents)
		return err
	})
	return info, err
}

func (t *Tree) makeFolder(path string, parents bool) (Info, error) {
	p, err := t.locate(path, lookup{verb: "make folder", makeRoot: parents})
	if err != nil {
		return Info{}, err
	}
	defer p.close()
	if err := p.makeDir(parents, 0o777); err != nil {
		return Info{}, fileError("make folder", p.path, err)
	}
	return t.describe(p, "make folder")
}

func (p location) makeDir(parents bool, perm fs.FileMode) error {
	if parents {
		return p.root.MkdirAll(p.rel, perm)
	}
	return p.root.Mkdir(p.rel, perm)
}

// makeFolders creates a folder and its parents.
func (t *Tree) makeFolders(verb, path string, perm fs.FileMode) error {
	p, err := t.locate(path, lookup{verb: verb, makeRoot: true})
	if err != nil {
		return err
	}
	defer p.close()
	return fileError(verb, p.path, p.makeDir(true, perm))
}

// Delete removes a file, a link or a folder. A folder with content is only removed if recursive is
// set. Links inside are removed, not followed.
func (t *Tree) Delete(ctx context.Context, path string, recursive bool) error {
	return t.runConfined(func() error {
		err := t.deletePath(ctx, path, recursive)
		// In the trash, the record goes with its item. Trees with roots cannot reach the trash,
		// except for a transfer that knows its root.
		if err == nil && (len(t.Roots) == 0 || t.RootID != "") {
			Trash{t}.dropRecord(path)
		}
		return err
	})
}

func (t *Tree) deletePath(ctx context.Context, path string, recursive bool) error {
	p, err := t.locate(path, lookup{verb: "delete", noFollow: true})
	if err != nil {
		return err
	}
	defer p.close()
	if p.isRoot(t.Roots) {
		return errorf(Invalid, "delete %s: it is itself one of the allowed folders", p.path)
	}
	dir, name, err := p.openParent(false)
	if err != nil {
		return fileError("delete", p.path, err)
	}
	defer dir.Close()
	info, err := dir.Lstat(name)
	if err == nil && dir.offLimits.anyBelow(idOf(info)) {
		return holdsOffLimits("delete", p.path)
	}
	if err == nil && recursive {
		err = removeAll(ctx, dir, name)
	} else if err == nil {
		err = dir.Remove(name)
	}
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return errorf(NotEmpty, "delete %s: the folder is not empty", p.path).withHint("delete it recursively")
	}
	return fileError("delete", p.path, err)
}

// isRoot reports whether the location is a root or an ancestor of one.
func (p location) isRoot(roots []string) bool {
	if p.rel == "." {
		return true
	}
	for _, root := range roots {
		for _, dir := range rootAliases(root) {
			if _, within := relBelow(p.real, dir); within {
				return true
			}
		}
	}
	return false
}

// Move moves or renames a file or folder, and a link itself. Between file systems it copies, and
// deletes what has not changed meanwhile; if something has, it returns an error for Changed.
func (t *Tree) Move(ctx context.Context, from, to string, overwrite bool) (info Info, err error) {
	err = t.runConfined(func() (err error) {
		info, err = t.movePath(ctx, from, to, overwrite)
		return err
	})
	return info, err
}

func (t *Tree) movePath(ctx context.Context, from, to string, overwrite bool) (Info, error) {
	return t.transfer("move", from, to, overwrite, func(a, b endpoint) error {
		err := renameEntry(a.dir, a.name, b.dir, b.name, overwrite)
		if !errors.Is(err, syscall.EXDEV) {
			return err
		}
		if err := copyTo(ctx, a, b, overwrite); err != nil {
			return err
		}
		return removeMoved(ctx, a, b)
	})
}

// holdsOffLimits returns the error for changing a folder that contains an off-limits path.
func holdsOffLimits(verb, path string) error {
	return errorf(Outside, "%s %s: it contains Tandem's own files, which are closed to agents", verb, path)
}

// Copy copies a file or folder with its permissions and times. Links are copied as links.
func (t *Tree) Copy(ctx context.Context, from, to string, overwrite bool) (info Info, err error) {
	err = t.runConfined(func() (err error) {
		info, err = t.copyPath(ctx, from, to, overwrite)
		return err
	})
	return info, err
}

func (t *Tree) copyPath(ctx context.Context, from, to string, overwrite bool) (Info, error) {
	return t.transfer("copy", from, to, overwrite, func(a, b endpoint) error {
		return copyTo(ctx, a, b, overwrite)
	})
}

// An endpoint is the source or target of a move or copy.
type endpoint struct {
	dir  *openDir
	name string
	path string
	info fs.FileInfo // of the existing entry; nil if there is none
}

func (p location) openEndpoint() (endpoint, error) {
	dir, name, err := p.openParent(false)
	if err != nil {
		return endpoint{}, err
	}
	info, err := dir.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		dir.Close()
		return endpoint{}, err
	}
	return endpoint{dir: dir, name: name, path: p.path, info: info}, nil
}

func (t *Tree) transfer(verb, from, to string, overwrite bool, do func(a, b endpoint) error) (Info, error) {
	a, err := t.locate(from, lookup{verb: verb, noFollow: true})
	if err != nil {
		return Info{}, err
	}
	defer a.close()
	b, err := t.locate(to, lookup{verb: verb + " to", noFollow: true})
	if err != nil {
		return Info{}, err
	}
	defer b.close()
	src, err := a.openEndpoint()
	if err != nil {
		return Info{}, fileError(verb, a.path, err)
	}
	defer src.dir.Close()
	dst, err := b.openEndpoint()
	if err != nil {
		return Info{}, fileError(verb+" to", b.path, err)
	}
	defer dst.dir.Close()
	if err := checkTransfer(t.Roots, verb, a, b, src, dst, overwrite); err != nil {
		return Info{}, err
	}
	if err := do(src, dst); err != nil {
		return Info{}, fileError(verb+" "+a.path+" to", b.path, err)
	}
	return t.describe(b, verb)
}

// checkTransfer rejects a transfer that makes no sense or would destroy something.
func checkTransfer(roots []string, verb string, a, b location, src, dst endpoint, overwrite bool) error {
	_, inside := relBelow(a.real, b.real)
	// If links or mounts lead from one path to the other, the paths alone do not show that one is
	// inside the other.
	if !inside && src.info != nil {
		inside = compareEnds(pathInfo{a.real, src.info}, pathInfo{b.real, dst.info}) == Inside
	}
	switch {
	case src.info == nil:
		return fileError(verb, a.path, fs.ErrNotExist)
	case verb == "move" && src.dir.offLimits.anyBelow(idOf(src.info)):
		return holdsOffLimits(verb, a.path)
	case a.isRoot(roots) || b.isRoot(roots):
		return errorf(Invalid, "%s %s: it is itself one of the allowed folders", verb, a.path)
	case inside:
		return errorf(Invalid, "%s %s: %s is the same path, or inside it", verb, a.path, b.path)
	case dst.info == nil:
		return nil
	case !overwrite:
		return errorf(Exists, "%s to %s: the target already exists", verb, b.path).withHint("allow overwriting, or choose another name")
	case dst.info.IsDir():
		return errorf(Exists, "%s to %s: the target is a folder; only files can be replaced", verb, b.path)
	case src.info.IsDir():
		return errorf(Exists, "%s to %s: the target is a file, which a folder cannot replace", verb, b.path)
	}
	return nil
}
