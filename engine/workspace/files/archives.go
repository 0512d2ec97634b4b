package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"tandem/engine/workspace/files/archive"
)

// An Archiver packs and extracts files of a Tree.
type Archiver struct{ Tree *Tree }

// Extract unpacks an archive into a new folder, or a single compressed file into a new file. If it
// fails, nothing is left behind. Unless unlimited is set, an archive beyond archive.BoundFor is a
// TooLarge error.
func (a Archiver) Extract(ctx context.Context, from, to string, unlimited bool) (info Info, err error) {
	err = a.Tree.runConfined(func() (err error) {
		info, err = a.extractTo(ctx, from, to, unlimited)
		return err
	})
	return info, err
}

func (a Archiver) extractTo(ctx context.Context, from, to string, unlimited bool) (Info, error) {
	p, err := a.Tree.locate(from, lookup{verb: "extract"})
	if err != nil {
		return Info{}, err
	}
	defer p.close()
	f, info, err := p.openRegular("extract")
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	bound := archive.Bound{}
	if !unlimited {
		bound = archive.BoundFor(info.Size())
	}
	return a.createNew(ctx, "extract", to, func(dst endpoint, temp string) error {
		in, err := archive.Open(&progressFile{ctx, f}, info.Size())
		if err == nil {
			err = unpackArchive(ctx, in, dst, temp, bound)
		}
		if errors.Is(err, archive.ErrBound) {
			return errorf(TooLarge, "extract %s: it unpacks to more than %d MB, or %d files", p.path, bound.Bytes>>20, bound.Entries)
		}
		return archiveError("extract", p.path, err)
	})
}

// archiveError adds verb and path to an error in the archive's data. Errors of the file system are
// reported as such.
func archiveError(verb, path string, err error) error {
	var inSystem *fs.PathError
	var inLink *os.LinkError
	var ours *Error
	if err == nil || errors.As(err, &ours) || errors.As(err, &inSystem) || errors.As(err, &inLink) || errors.Is(err, context.Canceled) {
		return fileError(verb, path, err)
	}
	return errorf(Failed, "%s %s: %v", verb, path, err)
}

// createNew calls fill to create something under a temporary name beside the path target, and then
// renames it. If something exists at that path already, it fails.
func (a Archiver) createNew(ctx context.Context, verb, target string, fill func(dst endpoint, temp string) error) (Info, error) {
	b, err := a.Tree.locate(target, lookup{verb: verb + " to", noFollow: true})
	if err != nil {
		return Info{}, err
	}
	defer b.close()
	dst, err := b.openEndpoint()
	if err != nil {
		return Info{}, fileError(verb+" to", b.path, err)
	}
	defer dst.dir.Close()
	switch {
	case b.isRoot(a.Tree.Roots):
		return Info{}, errorf(Invalid, "%s to %s: it is itself one of the allowed folders", verb, b.path)
	case dst.info != nil:
		return Info{}, errorf(Exists, "%s to %s: the target already exists", verb, b.path).withHint("choose another name")
	}
	temp := tempName(dst.name)
	defer noteTemp(ctx, b.path, temp)()
	if err = fill(dst, temp); err == nil {
		err = renameEntry(dst.dir, temp, dst.dir, dst.name, false)
	}
	if err != nil {
		discardCopy(dst.dir, temp)
		return Info{}, fileError(verb+" to", b.path, err)
	}
	return a.Tree.describe(b, verb)
}

// unpackArchive unpacks a into temp, next to dst. If the archive holds only a folder with dst's
// name, the contents of that folder are unpacked, so that src.zip does not become src/src.
func unpackArchive(ctx context.Context, a *archive.Archive, dst endpoint, temp string, bound archive.Bound) error {
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
	entries, err := into.readEntries()
	if err != nil || len(entries) != 1 || !entries[0].IsDir() || entries[0].Name() != dst.name {
		return err
	}
	// The inner folder leaves temp under another name and then replaces it: both cannot be called
	// temp at once.
	within := tempName(dst.name)
	if err := renameEntry(into, dst.name, dst.dir, within, false); err != nil {
		return err
	}
	if err := dst.dir.Remove(temp); err != nil {
		return err
	}
	return renameEntry(dst.dir, within, dst.dir, temp, false)
}

// A progressFile counts the bytes read from it as progress.
type progressFile struct {
	ctx context.Context
	f   *os.File
}

func (c *progressFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.f.ReadAt(p, off)
	addProgress(c.ctx, int64(n))
	return n, err
}

// Pack creates the archive target from files and folders. Its extension selects the format. Links
// are packed as links; devices, pipes and sockets are left out.
func (a Archiver) Pack(ctx context.Context, paths []string, target string) (info Info, err error) {
	err = a.Tree.runConfined(func() (err error) {
		info, err = a.packAll(ctx, paths, target)
		return err
	})
	return info, err
}

func (a Archiver) packAll(ctx context.Context, paths []string, to string) (Info, error) {
	return a.createNew(ctx, "pack", to, func(dst endpoint, temp string) error {
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
			if err = a.packPath(ctx, packer, path); err != nil {
				break
			}
		}
		if err == nil {
			err = packer.Close()
		}
		return errors.Join(err, f.Close())
	})
}

func (a Archiver) packPath(ctx context.Context, to *archive.Packer, path string) error {
	p, err := a.Tree.locate(path, lookup{verb: "pack", noFollow: true})
	if err != nil {
		return err
	}
	defer p.close()
	src, err := p.openEndpoint()
	if err != nil {
		return fileError("pack", p.path, err)
	}
	defer src.dir.Close()
	err = (&packing{to: to}).add(ctx, src.dir, src.name, src.name)
	return fileError("pack", p.path, err)
}

// A packing packs an entry with everything in it.
type packing struct {
	Descent
	to *archive.Packer
}

// add packs the entry of dir called name, and everything in it. path is its path in the archive.
func (w *packing) add(ctx context.Context, dir *openDir, name, path string) error {
	return w.Enter(func() error { return w.addEntry(ctx, dir, name, path) })
}

func (w *packing) addEntry(ctx context.Context, dir *openDir, name, path string) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case ctx.Err() != nil:
		return ctx.Err()
	case mode.IsRegular():
		return packFile(ctx, w.to, dir, name, path)
	case mode&fs.ModeSymlink != 0:
		target, err := dir.Readlink(name)
		if err != nil {
			return err
		}
		return w.to.Add(path, info, target, nil)
	case !mode.IsDir():
		return nil
	}
	if err := w.to.Add(path, info, "", nil); err != nil {
		return err
	}
	sub, err := openFolder(dir, name)
	if err != nil {
		return err
	}
	defer sub.Close()
	entries, err := sortEntries(sub)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.add(ctx, sub, e.Name(), path+"/"+e.Name()); err != nil {
			return inEntry(e.Name(), err)
		}
	}
	return nil
}

func packFile(ctx context.Context, to *archive.Packer, dir *openDir, name, path string) error {
	f, info, err := openIn(dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if !info.Mode().IsRegular() {
		return notRegular{info.Mode()}
	}
	return to.Add(path, info, "", func(out io.Writer) error {
		// The archive's header promises info.Size() bytes: a growing file is cut there, a shrinking
		// one is an error.
		for rest := info.Size(); rest > 0; {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			n, err := io.CopyN(out, f, min(rest, packStep))
			addProgress(ctx, n)
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

// packStep is how many bytes of a file are packed between checks of the context.
const packStep = 1 << 20
