package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// A WriteRequest holds the arguments of Write.
type WriteRequest struct {
	Path   string
	Data   []byte
	Append bool   // add to the end of the file
	At     *int64 // with Append: fail with Changed unless the file has this size
	New    bool   // fail with Exists if the file exists

	Private bool // make a new file readable only for this user
}

// A WriteResult is the result of Write.
type WriteResult struct {
	Path     string
	Written  int64
	Size     int64 // of the file now
	Replaced bool  // the file existed before
}

// Write writes a file or appends to it. Missing parent folders are created.
func (t *Tree) Write(ctx context.Context, r WriteRequest) (out WriteResult, err error) {
	err = t.runConfined(func() (err error) {
		out, err = t.writePath(ctx, r)
		return err
	})
	return out, err
}

func (t *Tree) writePath(ctx context.Context, r WriteRequest) (WriteResult, error) {
	if r.Append && r.New {
		return WriteResult{}, errorf(Invalid, "write %s: append and new cannot be combined", r.Path)
	}
	p, err := t.locate(r.Path, lookup{verb: "write", makeRoot: true, noFollow: r.New})
	if err != nil {
		return WriteResult{}, err
	}
	defer p.close()
	release, err := t.Locks.acquireLock(ctx, p.real)
	if err != nil {
		return WriteResult{}, err
	}
	defer release()
	out, err := p.writeFile(r)
	if err != nil {
		return WriteResult{}, fileError("write", p.path, err)
	}
	out.Path = p.path
	return out, nil
}

func (p location) writeFile(r WriteRequest) (WriteResult, error) {
	dir, name, err := p.openParent(true)
	if err != nil {
		return WriteResult{}, err
	}
	defer dir.Close()
	size := int64(len(r.Data))
	old, err := statReplaceable(dir, name)
	var special notRegular
	switch {
	case r.New && (old != nil || errors.As(err, &special)):
		return WriteResult{}, fs.ErrExist
	case err != nil:
		return WriteResult{}, err
	case r.Append && old != nil:
		return appendTo(dir, name, r.Data, r.At)
	}
	err = replaceFile(dir, name, old, func(f *os.File) error {
		if r.Private && old == nil {
			if err := f.Chmod(0o600); err != nil {
				return err
			}
		}
		_, err := f.Write(r.Data)
		return err
	}, !r.New)
	return WriteResult{Written: size, Size: size, Replaced: old != nil}, err
}

// statReplaceable describes the file called name in dir. It returns nil if there is none, and an
// error if it is not a regular file.
func statReplaceable(dir *openDir, name string) (fs.FileInfo, error) {
	if name == "" || name == "." {
		return nil, notRegular{fs.ModeDir}
	}
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, notRegular{info.Mode()}
	}
	return info, nil
}

// replaceFile replaces the file called name once fill has written the new one. The new file gets
// the permissions and, if permitted, the owner of old. A file that this user may not write is kept.
// Unless overwrite is set, any existing file is kept too, and the error is fs.ErrExist.
func replaceFile(dir *openDir, name string, old fs.FileInfo, fill func(*os.File) error, overwrite bool) error {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600
		// A rename needs no permission for the file itself.
		if err := checkWritable(dir, name); err != nil {
			return err
		}
	}
	temp := tempName(name)
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = fillFile(f, old, fill)
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = commitFile(dir, temp, name, overwrite)
	}
	if err != nil {
		// The first error is the one to report.
		_ = dir.Remove(temp)
	}
	return err
}

// tempName returns a temporary name derived from name. It is short enough for every file system on
// which name itself is valid.
func tempName(name string) string {
	short := strings.ToValidUTF8(name[:min(len(name), 100)], "")
	return fmt.Sprintf(".%s.%s.tmp", short, rand.Text()[:10])
}

// fillFile fills a new file and syncs it, so that a crash cannot leave an empty file after the
// rename.
func fillFile(f *os.File, old fs.FileInfo, fill func(*os.File) error) error {
	if err := fill(f); err != nil {
		return err
	}
	if old != nil {
		keepOwner(f, old)
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	return f.Sync()
}

// commitFile gives a finished file its final name.
func commitFile(dir *openDir, temp, name string, overwrite bool) error {
	if overwrite {
		return dir.Rename(temp, name)
	}
	// A hard link fails if the name exists, unlike a rename.
	err := dir.Link(temp, name)
	if err == nil {
		return dir.Remove(temp)
	}
	if !lacksHardLinks(err) {
		return err
	}
	// Without hard links, create the name first so that only one caller can win.
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	return dir.Rename(temp, name)
}

// lacksHardLinks reports whether a hard link failed because the file system does not support them.
func lacksHardLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}

// appendTo appends data in one write, or leaves the file unchanged. If at is set, the file must
// have that size.
func appendTo(dir *openDir, name string, data []byte, at *int64) (WriteResult, error) {
	f, err := dir.OpenFile(name, os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return WriteResult{}, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return WriteResult{}, err
	}
	if !before.Mode().IsRegular() {
		return WriteResult{}, notRegular{before.Mode()}
	}
	if at != nil && before.Size() != *at {
		return WriteResult{}, errorf(Changed, "write %s: it has %d bytes, not %d", name, before.Size(), *at)
	}
	n, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		undoAppend(f, before.Size(), int64(n))
		return WriteResult{}, err
	}
	end, err := f.Seek(0, io.SeekEnd)
	return WriteResult{Written: int64(n), Size: end, Replaced: true}, err
}

// undoAppend removes the bytes just added, unless the file has grown further since.
func undoAppend(f *os.File, before, added int64) {
	if info, err := f.Stat(); err == nil && info.Size() == before+added {
		// The caller reports the first error.
		_ = f.Truncate(before)
	}
}
