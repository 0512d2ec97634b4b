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

// A WriteRequest says what to write where.
type WriteRequest struct {
	Path   string
	Data   []byte
	Append bool   // add to the end of what is there
	At     *int64 // of Append: fail with Changed unless the file has this many bytes
	New    bool   // fail with Exists if the file is there

	Private bool // a new file is for this user alone
}

// A WriteResult tells what was written.
type WriteResult struct {
	Path     string
	Written  int64
	Size     int64 // of the file now
	Replaced bool  // there was a file before
}

// Write writes a file or adds to it; folders above it are made.
func (t *Tree) Write(ctx context.Context, r WriteRequest) (out WriteResult, err error) {
	err = t.confined(func() (err error) {
		out, err = t.write(ctx, r)
		return err
	})
	return out, err
}

func (t *Tree) write(ctx context.Context, r WriteRequest) (WriteResult, error) {
	if r.Append && r.New {
		return WriteResult{}, errorf(Invalid, "write %s: append and new cannot be combined", r.Path)
	}
	p, err := t.locate(r.Path, way{verb: "write", make: true, link: r.New})
	if err != nil {
		return WriteResult{}, err
	}
	defer p.close()
	release, err := t.Locks.take(ctx, p.real)
	if err != nil {
		return WriteResult{}, err
	}
	defer release()
	out, err := p.write(r)
	if err != nil {
		return WriteResult{}, failure("write", p.path, err)
	}
	out.Path = p.path
	return out, nil
}

func (p place) write(r WriteRequest) (WriteResult, error) {
	dir, name, err := p.parent(true)
	if err != nil {
		return WriteResult{}, err
	}
	defer dir.Close()
	size := int64(len(r.Data))
	old, err := replaceable(dir, name)
	var special notRegular
	switch {
	case r.New && (old != nil || errors.As(err, &special)):
		return WriteResult{}, fs.ErrExist
	case err != nil:
		return WriteResult{}, err
	case r.Append && old != nil:
		return appendTo(dir, name, r.Data, r.At)
	}
	err = replace(dir, name, old, func(f *os.File) error {
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

// replaceable tells about the file that is called name: nil if there is none,
// an error if not a regular file.
func replaceable(dir *opened, name string) (fs.FileInfo, error) {
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

// replace puts a new file in place of name when fill has written it whole.
// It takes the permissions and, if that is allowed, the owner of old. Without
// over, a file that is there by then stays and is fs.ErrExist.
func replace(dir *opened, name string, old fs.FileInfo, fill func(*os.File) error, over bool) error {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600
	}
	temp := temporary(name)
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = finish(f, old, fill)
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = settle(dir, temp, name, over)
	}
	if err != nil {
		_ = dir.Remove(temp) // what matters is why it could not be used
	}
	return err
}

// temporary is the name of a file that will be called name. It is short enough
// for every file system that can hold the name.
func temporary(name string) string {
	short := strings.ToValidUTF8(name[:min(len(name), 100)], "")
	return fmt.Sprintf(".%s.%s.tmp", short, rand.Text()[:10])
}

// finish fills a new file and takes care that a crash finds it whole.
func finish(f *os.File, old fs.FileInfo, fill func(*os.File) error) error {
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

// settle gives a finished file its name.
func settle(dir *opened, temp, name string, over bool) error {
	if over {
		return dir.Rename(temp, name)
	}
	err := dir.Link(temp, name)
	if err == nil {
		return dir.Remove(temp)
	}
	if !linkless(err) {
		return err
	}
	// Without hard links the name is taken first, so that only one can have it.
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	return dir.Rename(temp, name)
}

// linkless reports whether a file system that cannot do it refused a hard link.
func linkless(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}

// appendTo adds to a file in one piece, or leaves it as it was. If its size is to be at, it
// is not added to at any other.
func appendTo(dir *opened, name string, data []byte, at *int64) (WriteResult, error) {
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
		undo(f, before.Size(), int64(n))
		return WriteResult{}, err
	}
	end, err := f.Seek(0, io.SeekEnd)
	return WriteResult{Written: int64(n), Size: end, Replaced: true}, err
}

// undo takes back what was added to a file, unless somebody else added
// something since.
func undo(f *os.File, before, added int64) {
	if info, err := f.Stat(); err == nil && info.Size() == before+added {
		_ = f.Truncate(before) // the error that led here is the one to tell
	}
}
