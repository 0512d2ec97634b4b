package files

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// A move between file systems copies and then removes the source. Another program may have written
// into the source meanwhile. So an entry is removed only if its copy has its size and time, or its
// target; everything else stays where it is.

// A sourceRemoval removes what was copied.
type sourceRemoval struct {
	Descent
	ctx  context.Context
	kept bool // something differed from its copy, or had none
}

// removeMoved removes a after it was copied to b.
func removeMoved(ctx context.Context, a, b endpoint) error {
	r := &sourceRemoval{ctx: ctx}
	if err := r.removeEntry(a.dir, a.name, b.dir, b.name); err != nil {
		return err
	}
	if r.kept {
		return errorf(Changed, "move %s to %s: the source changed during the move; what was not copied is still at the source", a.path, b.path)
	}
	return nil
}

func (r *sourceRemoval) removeEntry(src *openDir, from string, dst *openDir, to string) error {
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	info, err := src.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	there, err := dst.Lstat(to)
	switch {
	case err != nil, there.Mode().Type() != info.Mode().Type():
		r.kept = true
		return nil
	case info.IsDir():
		return r.removeFolder(src, from, dst, to)
	case info.Mode().IsRegular() && !(info.Size() == there.Size() && IsTimeOfCopy(info.ModTime(), there.ModTime())):
		r.kept = true
		return nil
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := src.Readlink(from)
		if copied, errCopied := dst.Readlink(to); err != nil || errCopied != nil || target != copied {
			r.kept = true
			return nil
		}
	}
	return src.Remove(from)
}

func (r *sourceRemoval) removeFolder(src *openDir, from string, dst *openDir, to string) error {
	a, err := openFolder(src, from)
	if err != nil {
		return err
	}
	defer a.Close()
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
		err := r.Enter(func() error { return r.removeEntry(a, e.Name(), b, e.Name()) })
		if err != nil {
			return inEntry(e.Name(), err)
		}
	}
	err = src.Remove(from)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		r.kept = true
		return nil
	}
	return err
}

// IsTimeOfCopy reports whether a copy whose file system may round times down has the time of its
// source.
func IsTimeOfCopy(source, copied time.Time) bool {
	for _, unit := range []time.Duration{1, 100, time.Microsecond, time.Millisecond, 10 * time.Millisecond, time.Second, 2 * time.Second} {
		if copied.Equal(source.Truncate(unit)) {
			return true
		}
	}
	return false
}
