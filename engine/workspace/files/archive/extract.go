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

// maxTarget limits the length of a link's target, in bytes.
const maxTarget = 4096

// An unpacking extracts entries into a folder. Links are created last, so that nothing is written
// through one.
type unpacking struct {
	budget
	into    *os.Root
	links   [][2]string // name, target
	folders []entry     // set the permissions and times of these last
}

// An entry describes one entry of an archive.
type entry struct {
	name string
	mode fs.FileMode
	time time.Time
}

// Extract unpacks all entries into an empty folder. An entry outside the folder, a link to the
// outside, or more than bound allows is an error. Devices and pipes are skipped. After an error,
// the caller removes the files already created.
func (a *Archive) Extract(ctx context.Context, into *os.Root, bound Bound) error {
	u := unpacking{budget: budget{ctx: ctx, bound: bound}, into: into}
	extract := u.extractTar
	if a.zip != nil {
		extract = func(io.Reader) error { return u.extractZip(a.zip) }
	}
	if err := extract(a.stream); err != nil {
		return err
	}
	return u.finish()
}

func (u *unpacking) extractZip(z *zip.Reader) error {
	var sum uint64
	// Reject an archive over the bound before unpacking anything.
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
			text, err := io.ReadAll(io.LimitReader(in, maxTarget))
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

func (u *unpacking) extractTar(stream io.Reader) error {
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
	if err := u.countEntry(); err != nil {
		return err
	}
	original := e.name
	if e.name = path.Clean(e.name); e.name == "." {
		return nil
	}
	if !filepath.IsLocal(e.name) {
		return fmt.Errorf("%q would be outside the folder", original)
	}
	if err := u.putEntry(e, target, hard, content); err != nil {
		if errors.Is(err, ErrBound) || u.ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%s: %w", e.name, err)
	}
	return nil
}

func (u *unpacking) putEntry(e entry, target string, hard bool, content io.Reader) error {
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
	return u.writeFile(e, content)
}

// writeFile creates a file. A later file of the same name replaces an earlier one, as in archives
// that were appended to.
func (u *unpacking) writeFile(e entry, content io.Reader) error {
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
	err = u.copyAll(f, content)
	if err == nil {
		err = f.Chmod(filePermissions(e.mode, 0o600))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return u.into.Chtimes(e.name, e.time, e.time)
}

// filePermissions returns the permissions of an entry without write access for others. It adds the
// bits in required, which the user needs.
func filePermissions(mode, required fs.FileMode) fs.FileMode { return mode.Perm()&0o755 | required }

// finish creates the links and sets the permissions and times of folders.
func (u *unpacking) finish() error {
	for _, link := range u.links {
		if err := u.into.Symlink(link[1], link[0]); err != nil {
			return fmt.Errorf("%s: %w", link[0], err)
		}
	}
	// Only now: a link may lead through other links.
	for _, link := range u.links { // each may lead through others
		if _, err := u.into.Stat(link[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the link %s leads out of the folder, to %q", link[0], link[1])
		}
	}
	// Children first, as creating an entry changes its folder's time.
	for _, e := range slices.Backward(u.folders) {
		err := u.into.Chmod(e.name, filePermissions(e.mode, 0o700))
		if err == nil {
			err = u.into.Chtimes(e.name, e.time, e.time)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}
