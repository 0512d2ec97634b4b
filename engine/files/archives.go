package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"tandem/engine/files/archive"
)

// Extract unpacks an archive into a folder that is not there yet, or a single
// compressed file into a file. It is there as a whole or not at all. Unless
// large is set, an archive that exceeds archive.BoundFor is a TooLarge error.
func Extract(ctx context.Context, t *Tree, from, to string, large bool) (info Info, err error) {
	err = t.confined(func() (err error) {
		info, err = extract(ctx, t, from, to, large)
		return err
	})
	return info, err
}

func extract(ctx context.Context, t *Tree, from, to string, large bool) (Info, error) {
	p, err := t.locate(from, way{verb: "extract"})
	if err != nil {
		return Info{}, err
	}
	defer p.close()
	f, info, err := p.open("extract")
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	bound := archive.Bound{}
	if !large {
		bound = archive.BoundFor(info.Size())
	}
	return newAt(t, "extract", to, func(dst side, temp string) error {
		a, err := archive.Open(&countedFile{ctx, f}, info.Size())
		if err == nil {
			err = unpack(ctx, a, dst, temp, bound)
		}
		if errors.Is(err, archive.ErrBound) {
			return errorf(TooLarge, "extract %s: it unpacks to more than %d MB, or %d files", p.path, bound.Bytes>>20, bound.Entries)
		}
		return archiveError("extract", p.path, err)
	})
}

// archiveError is an error of an archive; one of the file system is told in its
// own words.
func archiveError(verb, path string, err error) error {
	var inSystem *fs.PathError
	var inLink *os.LinkError
	var ours *Error
	if err == nil || errors.As(err, &ours) || errors.As(err, &inSystem) || errors.As(err, &inLink) || errors.Is(err, context.Canceled) {
		return failure(verb, path, err)
	}
	return errorf(Failed, "%s %s: %v", verb, path, err)
}

// newAt makes something new beside a path, and then puts it there.
func newAt(t *Tree, verb, to string, fill func(dst side, temp string) error) (Info, error) {
	b, err := t.locate(to, way{verb: verb + " to", link: true})
	if err != nil {
		return Info{}, err
	}
	defer b.close()
	dst, err := b.side()
	if err != nil {
		return Info{}, failure(verb+" to", b.path, err)
	}
	defer dst.dir.Close()
	switch {
	case b.isRoot(t.Roots):
		return Info{}, errorf(Invalid, "%s to %s: it is itself one of the allowed folders", verb, b.path)
	case dst.info != nil:
		return Info{}, errorf(Exists, "%s to %s: the target already exists", verb, b.path).hint("choose another name")
	}
	temp := temporary(dst.name)
	if err = fill(dst, temp); err == nil {
		err = rename(dst.dir, temp, dst.dir, dst.name, false)
	}
	if err != nil {
		_ = dst.dir.RemoveAll(temp) // what matters is why it could not be used
		return Info{}, failure(verb+" to", b.path, err)
	}
	return t.stat(b, verb)
}

// unpack puts what an archive holds beside dst. A folder that holds all the rest
// and is called as dst is dst itself.
func unpack(ctx context.Context, a *archive.Archive, dst side, temp string, bound archive.Bound) error {
	if a.Single() {
		f, err := dst.dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		return errors.Join(a.Copy(ctx, f, bound), f.Close())
	}
	if err := dst.dir.Mkdir(temp, 0o777); err != nil {
		return err
	}
	into, err := dst.dir.OpenRoot(asFolder(temp))
	if err != nil {
		return err
	}
	defer into.Close()
	if err := a.Extract(ctx, into.Root, bound); err != nil {
		return err
	}
	entries, err := into.entries()
	if err != nil || len(entries) != 1 || !entries[0].IsDir() || entries[0].Name() != dst.name {
		return err
	}
	within := temporary(dst.name)
	if err := rename(into, dst.name, dst.dir, within, false); err != nil {
		return err
	}
	if err := dst.dir.Remove(temp); err != nil {
		return err
	}
	return rename(dst.dir, within, dst.dir, temp, false)
}

// A countedFile counts what is read of it as progress.
type countedFile struct {
	ctx context.Context
	f   *os.File
}

func (c *countedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.f.ReadAt(p, off)
	progressed(c.ctx, int64(n))
	return n, err
}

// Pack makes an archive of files and folders, of the kind that its name tells.
// Links are packed as links, and devices, pipes and sockets are left out.
func Pack(ctx context.Context, t *Tree, paths []string, to string) (info Info, err error) {
	err = t.confined(func() (err error) {
		info, err = pack(ctx, t, paths, to)
		return err
	})
	return info, err
}

func pack(ctx context.Context, t *Tree, paths []string, to string) (Info, error) {
	return newAt(t, "pack", to, func(dst side, temp string) error {
		f, err := dst.dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		packer, err := archive.NewPacker(f, dst.name)
		if err != nil {
			f.Close()
			return errorf(Invalid, "pack to %s: %v", dst.path, err)
		}
		for _, path := range paths {
			if err = packOne(ctx, t, packer, path); err != nil {
				break
			}
		}
		if err == nil {
			err = packer.Close()
		}
		return errors.Join(err, f.Close())
	})
}

func packOne(ctx context.Context, t *Tree, to *archive.Packer, path string) error {
	p, err := t.locate(path, way{verb: "pack", link: true})
	if err != nil {
		return err
	}
	defer p.close()
	src, err := p.side()
	if err != nil {
		return failure("pack", p.path, err)
	}
	defer src.dir.Close()
	return failure("pack", p.path, packAny(ctx, to, src.dir, src.name, src.name))
}

// packAny packs what is called name in a folder, with all in it, under a path.
func packAny(ctx context.Context, to *archive.Packer, dir *opened, name, path string) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case ctx.Err() != nil:
		return ctx.Err()
	case mode.IsRegular():
		return packFile(ctx, to, dir, name, path)
	case mode&fs.ModeSymlink != 0:
		target, err := dir.Readlink(name)
		if err != nil {
			return err
		}
		return to.Add(path, info, target, nil)
	case !mode.IsDir():
		return nil
	}
	if err := to.Add(path, info, "", nil); err != nil {
		return err
	}
	sub, err := dir.OpenRoot(asFolder(name))
	if err != nil {
		return err
	}
	defer sub.Close()
	entries, err := entriesOf(sub)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := packAny(ctx, to, sub, e.Name(), path+"/"+e.Name()); err != nil {
			return within(e.Name(), err)
		}
	}
	return nil
}

func packFile(ctx context.Context, to *archive.Packer, dir *opened, name, path string) error {
	f, info, err := openIn(dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if !info.Mode().IsRegular() {
		return notRegular{info.Mode()}
	}
	return to.Add(path, info, "", func(out io.Writer) error {
		for rest := info.Size(); rest > 0; {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			n, err := io.CopyN(out, f, min(rest, packStep))
			progressed(ctx, n)
			if rest -= n; errors.Is(err, io.EOF) {
				return errors.New("it shrank while it was being packed")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// packStep is how much of a file is packed between two looks at the context.
const packStep = 1 << 20
