package files

import (
	"context"
	"io/fs"
	"path/filepath"
	"sync/atomic"
)

type progressKey struct{}

// WithProgress has what is copied with the context counted, in bytes.
func WithProgress(ctx context.Context, bytes *atomic.Int64) context.Context {
	return context.WithValue(ctx, progressKey{}, bytes)
}

// progressed counts bytes that were copied.
func progressed(ctx context.Context, n int64) {
	if bytes, ok := ctx.Value(progressKey{}).(*atomic.Int64); ok {
		bytes.Add(n)
	}
}

// Size is how many bytes a copy of a file or folder has to copy. What cannot be
// read, or lies outside, counts nothing.
func (t *Tree) Size(ctx context.Context, path string) int64 {
	var total int64
	p, err := t.locate(path, way{verb: "measure", link: true})
	if err != nil {
		return 0
	}
	defer p.close()
	_ = filepath.WalkDir(p.real, func(_ string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}

// SameDevice reports whether a move from one path to another is only a rename.
func (t *Tree) SameDevice(from, to string) bool {
	return sameDevice(filepath.Dir(from), filepath.Dir(to))
}
