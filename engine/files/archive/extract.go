package archive

import (
	"archive/tar"
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mostTarget is how long the target of a link may be.
const mostTarget = 4096

// An unpacking puts entries into a folder. Links are made when everything else is
// there, so that nothing is ever written through one.
type unpacking struct {
	budget
	into    *os.Root
	links   [][2]string // name, target
	folders []entry     // whose permissions and times are set at the end
}

// An entry is one of an archive.
type entry struct {
	name string
	mode fs.FileMode
	time time.Time
}

// Extract unpacks all entries into a folder that is empty. An entry that would
// lie outside of it, or a link that leads out, is an error, and so is more than
// the bound allows. Devices and pipes are left out. What is there after an error
// is for the caller to remove.
func (a *Archive) Extract(ctx context.Context, into *os.Root, bound Bound) error {
	u := unpacking{budget: budget{ctx: ctx, bound: bound}, into: into}
	extract := u.tar
	if a.zip != nil {
		extract = func(io.Reader) error { return u.zip(a.zip) }
	}
	if err := extract(a.stream); err != nil {
		return err
	}
	return u.finish()
}

func (u *unpacking) zip(z *zip.Reader) error {
	var sum uint64
	for _, f := range z.File {
		if sum += f.UncompressedSize64; u.bound.Bytes > 0 && sum > uint64(u.bound.Bytes) {
			return ErrBound
		}
	}
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			return fmt.Errorf("%s is encrypted", f.Name)
		}
		in, err := f.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		mode := f.Mode()
		if strings.HasSuffix(f.Name, "/") {
			mode |= fs.ModeDir
		}
		target := ""
		if mode&fs.ModeSymlink != 0 {
			text, err := io.ReadAll(io.LimitReader(in, mostTarget))
			if err != nil {
				in.Close()
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			target = string(text)
		}
		err = u.add(entry{f.Name, mode, f.Modified}, target, false, in)
		in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacking) tar(stream io.Reader) error {
	t := tar.NewReader(stream)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		e := entry{h.Name, h.FileInfo().Mode(), h.ModTime}
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeLink, tar.TypeGNUSparse:
			if err := u.add(e, h.Linkname, h.Typeflag == tar.TypeLink, t); err != nil {
				return err
			}
		}
	}
}

// add unpacks one entry.
func (u *unpacking) add(e entry, target string, hard bool, content io.Reader) error {
	if err := u.entry(); err != nil {
		return err
	}
	said := e.name
	if e.name = path.Clean(e.name); e.name == "." {
		return nil
	}
	if !filepath.IsLocal(e.name) {
		return fmt.Errorf("%q would be outside the folder", said)
	}
	if err := u.put(e, target, hard, content); err != nil {
		if errors.Is(err, ErrBound) || u.ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%s: %w", e.name, err)
	}
	return nil
}

func (u *unpacking) put(e entry, target string, hard bool, content io.Reader) error {
	if dir := path.Dir(e.name); dir != "." {
		if err := u.into.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	switch {
	case e.mode.IsDir():
		u.folders = append(u.folders, e)
		return u.into.MkdirAll(e.name, 0o777)
	case hard:
		return u.into.Link(path.Clean(target), e.name)
	case e.mode&fs.ModeSymlink != 0:
		u.links = append(u.links, [2]string{e.name, target})
		return nil
	case !e.mode.IsRegular():
		return nil
	}
	return u.file(e, content)
}

// file writes a file; a later one of the same name replaces the one before, as
// archives that were added to have it.
func (u *unpacking) file(e entry, content io.Reader) error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := u.into.OpenFile(e.name, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if err = u.into.Remove(e.name); err == nil {
			f, err = u.into.OpenFile(e.name, flags, 0o600)
		}
	}
	if err != nil {
		return err
	}
	err = u.copy(f, content)
	if err == nil {
		err = f.Chmod(permissions(e.mode, 0o600))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return u.into.Chtimes(e.name, e.time, e.time)
}

// permissions are those of an entry, without those of other users' programs, and
// at least those that the person needs.
func permissions(mode, least fs.FileMode) fs.FileMode { return mode.Perm()&0o755 | least }

// finish makes the links and gives folders their times.
func (u *unpacking) finish() error {
	for _, link := range u.links {
		if err := u.into.Symlink(link[1], link[0]); err != nil {
			return fmt.Errorf("%s: %w", link[0], err)
		}
	}
	for _, link := range u.links { // each may lead through others
		if _, err := u.into.Stat(link[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the link %s leads out of the folder, to %q", link[0], link[1])
		}
	}
	for _, e := range slices.Backward(u.folders) {
		err := u.into.Chmod(e.name, permissions(e.mode, 0o700))
		if err == nil {
			err = u.into.Chtimes(e.name, e.time, e.time)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}
