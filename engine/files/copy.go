package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// copyStep is how much of a file is copied between two looks at the context.
const copyStep = 32 << 20

// copyTo copies a to b: first beside b, so that b is there as a whole or not.
func copyTo(ctx context.Context, a, b side, overwrite bool) error {
	temp := temporary(b.name)
	err := copyAny(ctx, a.dir, a.name, b.dir, temp)
	if err == nil {
		err = rename(b.dir, temp, b.dir, b.name, overwrite)
	}
	if err != nil {
		_ = b.dir.RemoveAll(temp) // what matters is why it could not be used
	}
	return err
}

// copyAny copies what is called from, a link as a link.
func copyAny(ctx context.Context, src *opened, from string, dst *opened, to string) error {
	info, err := src.Lstat(from)
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case 0:
		return copyFile(ctx, src, from, dst, to)
	case fs.ModeDir:
		return copyFolder(ctx, src, from, dst, to)
	case fs.ModeSymlink:
		target, err := src.Readlink(from)
		if err != nil {
			return err
		}
		return dst.Symlink(target, to)
	}
	return makeSpecial(dst, to, info.Mode())
}

func copyFile(ctx context.Context, src *opened, from string, dst *opened, to string) error {
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
	err = pour(ctx, out, in)
	if err == nil {
		err = out.Chmod(info.Mode().Perm())
	}
	if errClose := out.Close(); err == nil {
		err = errClose
	}
	if err != nil {
		return err
	}
	return dst.Chtimes(to, accessed(info), info.ModTime())
}

// pour copies all of a file; it can be cancelled.
func pour(ctx context.Context, out, in *os.File) error {
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := io.CopyN(out, in, copyStep)
		progressed(ctx, n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func copyFolder(ctx context.Context, src *opened, from string, dst *opened, to string) error {
	a, err := src.OpenRoot(asFolder(from))
	if err != nil {
		return err
	}
	defer a.Close()
	info, err := a.Stat(".")
	if err != nil {
		return err
	}
	if err := dst.Mkdir(to, 0o700); err != nil {
		return err
	}
	b, err := dst.OpenRoot(asFolder(to))
	if err != nil {
		return err
	}
	defer b.Close()
	entries, err := entriesOf(a)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := copyAny(ctx, a, e.Name(), b, e.Name()); err != nil {
			return within(e.Name(), err)
		}
	}
	if err := b.Chtimes(".", accessed(info), info.ModTime()); err != nil {
		return err
	}
	return b.Chmod(".", info.Mode().Perm())
}
