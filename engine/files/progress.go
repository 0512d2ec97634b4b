package files

import (
	"context"
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
func (t *Tree) Size(ctx context.Context, path string) (total int64) {
	_ = t.confined(func() error { // what cannot be measured counts nothing
		total = t.size(ctx, path)
		return nil
	})
	return total
}

func (t *Tree) size(ctx context.Context, path string) int64 {
	p, err := t.locate(path, way{verb: "measure", link: true})
	if err != nil {
		return 0
	}
	defer p.close()
	return sizeIn(ctx, p.root, p.rel)
}

func sizeIn(ctx context.Context, dir *opened, name string) (total int64) {
	info, err := dir.Lstat(name)
	switch {
	case err != nil, ctx.Err() != nil:
		return 0
	case info.Mode().IsRegular():
		return info.Size()
	case !info.IsDir():
		return 0
	}
	sub, err := dir.OpenRoot(asFolder(name))
	if err != nil {
		return 0
	}
	defer sub.Close()
	entries, _ := sub.entries() // what cannot be read counts nothing
	for _, e := range entries {
		total += sizeIn(ctx, sub, e.Name())
	}
	return total
}

// SameDevice reports whether a move from one path to another is only a rename.
func (t *Tree) SameDevice(from, to string) (same bool) {
	_ = t.confined(func() error { // what cannot be looked at is not the same
		same = sameDevice(filepath.Dir(from), filepath.Dir(to))
		return nil
	})
	return same
}
