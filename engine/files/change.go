package files

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
)

// Mkdir makes a folder; with parents those above it too, and it is content if
// it exists.
func (t *Tree) Mkdir(path string, parents bool) (info Info, err error) {
	err = t.confined(func() (err error) {
		info, err = t.mkdir(path, parents)
		return err
	})
	return info, err
}

func (t *Tree) mkdir(path string, parents bool) (Info, error) {
	p, err := t.locate(path, way{verb: "make folder", make: parents})
	if err != nil {
		return Info{}, err
	}
	defer p.close()
	if err := p.mkdir(parents, 0o777); err != nil {
		return Info{}, failure("make folder", p.path, err)
	}
	return t.stat(p, "make folder")
}

func (p place) mkdir(parents bool, perm fs.FileMode) error {
	if parents {
		return p.root.MkdirAll(p.rel, perm)
	}
	return p.root.Mkdir(p.rel, perm)
}

// mkdirAll makes a folder and those above it.
func (t *Tree) mkdirAll(verb, path string, perm fs.FileMode) error {
	p, err := t.locate(path, way{verb: verb, make: true})
	if err != nil {
		return err
	}
	defer p.close()
	return failure(verb, p.path, p.mkdir(true, perm))
}

// Delete removes a file, a link, or a folder: one that holds something only
// recursively. Links in it are removed, not followed.
func (t *Tree) Delete(ctx context.Context, path string, recursive bool) error {
	return t.confined(func() error {
		err := t.delete(ctx, path, recursive)
		if err == nil && len(t.Roots) == 0 {
			dropRecord(t, path)
		}
		return err
	})
}

func (t *Tree) delete(ctx context.Context, path string, recursive bool) error {
	p, err := t.locate(path, way{verb: "delete", link: true})
	if err != nil {
		return err
	}
	defer p.close()
	if p.isRoot(t.Roots) {
		return errorf(Invalid, "delete %s: it is itself one of the allowed folders", p.path)
	}
	dir, name, err := p.parent(false)
	if err != nil {
		return failure("delete", p.path, err)
	}
	defer dir.Close()
	info, err := dir.Lstat(name)
	if err == nil && dir.closed.lieIn(idOf(info)) {
		return holdsClosed("delete", p.path)
	}
	if err == nil && recursive && info.IsDir() {
		err = removeAll(ctx, dir, name)
	} else if err == nil {
		err = dir.Remove(name)
	}
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return errorf(Exists, "delete %s: the folder is not empty", p.path).hint("delete it recursively")
	}
	return failure("delete", p.path, err)
}

// isRoot reports whether the place is a root itself, or has one below it.
func (p place) isRoot(roots []string) bool {
	if p.rel == "." {
		return true
	}
	for _, root := range roots {
		for _, dir := range aliases(root) {
			if _, within := below(p.real, dir); within {
				return true
			}
		}
	}
	return false
}

// removeAll removes a folder with all in it, and stops when ctx ends.
func removeAll(ctx context.Context, dir *opened, name string) error {
	sub, err := dir.OpenRoot(asFolder(name))
	if err != nil {
		return err
	}
	entries, err := entriesOf(sub)
	for _, e := range entries {
		if err != nil {
			break
		}
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case e.IsDir():
			err = removeAll(ctx, sub, e.Name())
		default:
			err = sub.Remove(e.Name())
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // somebody else was faster
		}
		if err != nil {
			err = within(e.Name(), err)
		}
	}
	sub.Close()
	if err != nil {
		return err
	}
	return dir.Remove(name)
}

// Move moves or renames a file or folder; a link is moved itself.
func (t *Tree) Move(ctx context.Context, from, to string, overwrite bool) (info Info, err error) {
	err = t.confined(func() (err error) {
		info, err = t.move(ctx, from, to, overwrite)
		return err
	})
	return info, err
}

func (t *Tree) move(ctx context.Context, from, to string, overwrite bool) (Info, error) {
	return t.transfer("move", from, to, overwrite, func(a, b side) error {
		err := rename(a.dir, a.name, b.dir, b.name, overwrite)
		if !errors.Is(err, syscall.EXDEV) {
			return err
		}
		if err := copyTo(ctx, a, b, overwrite); err != nil {
			return err
		}
		return remove(ctx, a)
	})
}

// holdsClosed is the error of what would take something closed with it.
func holdsClosed(verb, path string) error {
	return errorf(Outside, "%s %s: it contains Tandem's own files, which are closed to agents", verb, path)
}

func remove(ctx context.Context, s side) error {
	if s.info.IsDir() {
		return removeAll(ctx, s.dir, s.name)
	}
	return s.dir.Remove(s.name)
}

// Copy copies a file or folder with its permissions and times. Links are copied
// as links.
func (t *Tree) Copy(ctx context.Context, from, to string, overwrite bool) (info Info, err error) {
	err = t.confined(func() (err error) {
		info, err = t.copy(ctx, from, to, overwrite)
		return err
	})
	return info, err
}

func (t *Tree) copy(ctx context.Context, from, to string, overwrite bool) (Info, error) {
	return t.transfer("copy", from, to, overwrite, func(a, b side) error {
		return copyTo(ctx, a, b, overwrite)
	})
}

// A side is one end of a move or copy.
type side struct {
	dir  *opened
	name string
	path string
	info fs.FileInfo // of what is there; nil for nothing
}

func (p place) side() (side, error) {
	dir, name, err := p.parent(false)
	if err != nil {
		return side{}, err
	}
	info, err := dir.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		dir.Close()
		return side{}, err
	}
	return side{dir: dir, name: name, path: p.path, info: info}, nil
}

func (t *Tree) transfer(verb, from, to string, overwrite bool, do func(a, b side) error) (Info, error) {
	a, err := t.locate(from, way{verb: verb, link: true})
	if err != nil {
		return Info{}, err
	}
	defer a.close()
	b, err := t.locate(to, way{verb: verb + " to", link: true})
	if err != nil {
		return Info{}, err
	}
	defer b.close()
	src, err := a.side()
	if err != nil {
		return Info{}, failure(verb, a.path, err)
	}
	defer src.dir.Close()
	dst, err := b.side()
	if err != nil {
		return Info{}, failure(verb+" to", b.path, err)
	}
	defer dst.dir.Close()
	if err := transferable(t.Roots, verb, a, b, src, dst, overwrite); err != nil {
		return Info{}, err
	}
	if err := do(src, dst); err != nil {
		return Info{}, failure(verb+" "+a.path+" to", b.path, err)
	}
	return t.stat(b, verb)
}

// transferable refuses what makes no sense or would destroy something.
func transferable(roots []string, verb string, a, b place, src, dst side, overwrite bool) error {
	_, inside := below(a.real, b.real)
	if !inside && src.info != nil {
		inside = relation(end{a.real, src.info}, end{b.real, dst.info}) == Inside
	}
	switch {
	case src.info == nil:
		return failure(verb, a.path, fs.ErrNotExist)
	case verb == "move" && src.dir.closed.lieIn(idOf(src.info)):
		return holdsClosed(verb, a.path)
	case a.isRoot(roots) || b.isRoot(roots):
		return errorf(Invalid, "%s %s: it is itself one of the allowed folders", verb, a.path)
	case inside:
		return errorf(Invalid, "%s %s: %s is the same, or inside it", verb, a.path, b.path)
	case dst.info == nil:
		return nil
	case !overwrite:
		return errorf(Exists, "%s to %s: the target already exists", verb, b.path).hint("allow overwriting, or choose another name")
	case dst.info.IsDir():
		return errorf(Exists, "%s to %s: the target is a folder; only files can be replaced", verb, b.path)
	case src.info.IsDir():
		return errorf(Exists, "%s to %s: the target is a file, which a folder cannot replace", verb, b.path)
	}
	return nil
}
