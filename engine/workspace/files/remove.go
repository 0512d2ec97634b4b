package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

// removeBatch is the number of names to read at a time from a folder being removed.
const removeBatch = 1024

// A removal removes a folder and everything in it. Every folder can be removed: entries below the
// maximum depth are moved to the top first, and their number has no bound.
type removal struct {
	Descent
	ctx   context.Context
	top   *openDir // the folder
	ours  bool     // it is an incomplete copy: read-only folders in it do not stop the removal
	moved bool     // entries were moved to the top, and may not have been seen there yet
}

// removeAll removes name and, if it is a folder, everything in it, until ctx is done.
func removeAll(ctx context.Context, dir *openDir, name string) error {
	return (&removal{ctx: ctx}).removeAll(dir, name)
}

// discardCopy removes an incomplete copy. The error that made it incomplete is the one to report.
func discardCopy(dir *openDir, name string) {
	_ = (&removal{ctx: context.Background(), ours: true}).removeAll(dir, name)
}

func (r *removal) removeAll(dir *openDir, name string) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := r.emptyFolder(dir, name); err != nil {
			return err
		}
	}
	return dir.Remove(name)
}

func (r *removal) emptyFolder(dir *openDir, name string) error {
	top, err := openFolder(dir, name)
	if err != nil {
		return err
	}
	defer top.Close()
	r.top, r.moved = top, true
	for err == nil && r.moved {
		r.moved = false
		err = r.removeIn(top)
	}
	return err
}

// removeIn removes everything in a folder.
func (r *removal) removeIn(folder *openDir) error {
	if r.ours {
		if err := folder.Chmod(".", 0o700); err != nil {
			return err
		}
	}
	f, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(removeBatch)
		for _, e := range entries {
			if err := r.removeEntry(folder, e); err != nil {
				return inEntry(e.Name(), err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *removal) removeEntry(folder *openDir, e fs.DirEntry) error {
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	if folder.hides(e.Name()) {
		return nil
	}
	r.entries = 0
	err := r.Enter(func() error {
		if !e.IsDir() {
			return folder.Remove(e.Name())
		}
		sub, err := openFolder(folder, e.Name())
		if err != nil {
			return err
		}
		err = r.removeIn(sub)
		sub.Close()
		if err != nil {
			return err
		}
		return folder.Remove(e.Name())
	})
	if errors.Is(err, errTooDeep) {
		r.moved = true
		err = renameEntry(folder, e.Name(), r.top, tempName("deep"), false)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process was faster
	}
	return err
}
