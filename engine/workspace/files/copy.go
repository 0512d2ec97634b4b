package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// copyStep is how many bytes of a file are copied between checks of the context.
const copyStep = 32 << 20

// copyTo copies a to b: first to a temporary name, so that b appears complete or not at all.
func copyTo(ctx context.Context, a, b endpoint, overwrite bool) error {
	temp := tempName(b.name)
	defer noteTemp(ctx, b.path, temp)()
	err := (&copying{ctx: ctx}).copyEntry(a.dir, a.name, b.dir, temp)
	if err == nil {
		err = renameEntry(b.dir, temp, b.dir, b.name, overwrite)
	}
	if err != nil {
		discardCopy(b.dir, temp)
	}
	return err
}

// A copying copies an entry with everything in it.
type copying struct {
	Descent
	ctx context.Context
}

// copyEntry copies the entry of src called srcName into dst under the name dstName. A link is
// copied as a link.
func (c *copying) copyEntry(src *openDir, srcName string, dst *openDir, dstName string) error {
	info, err := src.Lstat(srcName)
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case 0:
		return copyFile(c.ctx, src, srcName, dst, dstName)
	case fs.ModeDir:
		return c.copyFolder(src, srcName, dst, dstName)
	case fs.ModeSymlink:
		target, err := src.Readlink(srcName)
		if err != nil {
			return err
		}
		return dst.Symlink(target, dstName)
	}
	return makeSpecial(dst, dstName, info.Mode())
}

func copyFile(ctx context.Context, src *openDir, from string, dst *openDir, to string) error {
	in, info, err := openIn(src, from)
	if err != nil {
		return err
	}
	defer in.Close()
	if !info.Mode().IsRegular() {
		return notRegular{info.Mode()}
	}
	out, err := dst.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = copyContents(ctx, out, in)
	if err == nil {
		err = out.Chmod(info.Mode().Perm())
	}
	if errClose := out.Close(); err == nil {
		err = errClose
	}
	if err != nil {
		return err
	}
	return dst.Chtimes(to, accessTime(info), info.ModTime())
}

// copyContents copies a whole file, until ctx is done.
func copyContents(ctx context.Context, out, in *os.File) error {
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := io.CopyN(out, in, copyStep)
		addProgress(ctx, n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *copying) copyFolder(src *openDir, from string, dst *openDir, to string) error {
	a, err := openFolder(src, from)
	if err != nil {
		return err
	}
	defer a.Close()
	info, err := a.Stat(".")
	if err != nil {
		return err
	}
	// Writable while it is filled; its final mode and time are set last.
	if err := dst.Mkdir(to, 0o700); err != nil {
		return err
	}
	b, err := openFolder(dst, to)
	if err != nil {
		return err
	}
	defer b.Close()
	entries, err := sortEntries(a)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		err := c.Enter(func() error { return c.copyEntry(a, e.Name(), b, e.Name()) })
		if err != nil {
			return inEntry(e.Name(), err)
		}
	}
	if err := b.Chtimes(".", accessTime(info), info.ModTime()); err != nil {
		return err
	}
	return b.Chmod(".", info.Mode().Perm())
}
