package files

import (
	"context"
	"path/filepath"
	"sync/atomic"
)

type progressKey struct{}

// WithProgress returns a context for copies. They add the number of bytes they have copied to the
// counter bytes.
func WithProgress(ctx context.Context, bytes *atomic.Int64) context.Context {
	return context.WithValue(ctx, progressKey{}, bytes)
}

// addProgress adds n copied bytes to the context's counter, if it has one.
func addProgress(ctx context.Context, n int64) {
	if bytes, ok := ctx.Value(progressKey{}).(*atomic.Int64); ok {
		bytes.Add(n)
	}
}

type tempsKey struct{}

// WithTemps returns a context for copies and archives. They call note with the path of a hidden
// file or folder before they create it for incomplete data, and call gone once it has been renamed
// or removed.
func WithTemps(ctx context.Context, note func(path string) (gone func())) context.Context {
	return context.WithValue(ctx, tempsKey{}, note)
}

// noteTemp calls the context's note, if it has one, for the entry temp beside path.
func noteTemp(ctx context.Context, path, temp string) (gone func()) {
	if note, ok := ctx.Value(tempsKey{}).(func(string) func()); ok {
		return note(filepath.Join(filepath.Dir(path), temp))
	}
	return func() {}
}

// Size returns how many bytes a copy of a file or folder would transfer. Unreadable files and those
// outside count as 0.
func (t *Tree) Size(ctx context.Context, path string) (total int64) {
	_ = t.runConfined(func() error { // errors count as 0
		total = t.sizeOf(ctx, path)
		return nil
	})
	return total
}

func (t *Tree) sizeOf(ctx context.Context, path string) int64 {
	p, err := t.locate(path, lookup{verb: "measure", noFollow: true})
	if err != nil {
		return 0
	}
	defer p.close()
	var size sizeWalk
	size.add(ctx, p.root, p.rel)
	return size.bytes
}

// A sizeWalk adds up the sizes of files.
type sizeWalk struct {
	Descent
	bytes int64
}

// add adds the sizes of name and everything in it. What cannot be read, or is out of bounds, counts
// as 0.
func (s *sizeWalk) add(ctx context.Context, dir *openDir, name string) {
	_ = s.Enter(func() error {
		s.addEntry(ctx, dir, name)
		return nil
	})
}

func (s *sizeWalk) addEntry(ctx context.Context, dir *openDir, name string) {
	info, err := dir.Lstat(name)
	switch {
	case err != nil, ctx.Err() != nil:
		return
	case info.Mode().IsRegular():
		s.bytes += info.Size()
		return
	case !info.IsDir():
		return
	}
	sub, err := dir.OpenRoot(asFolder(name))
	if err != nil {
		return
	}
	defer sub.Close()
	entries, _ := sub.readEntries() // as far as it can be read
	for _, e := range entries {
		s.add(ctx, sub, e.Name())
	}
}

// SameDevice reports whether a move from one path to another is just a rename.
func (t *Tree) SameDevice(from, to string) (same bool) {
	_ = t.runConfined(func() error { // on error, a copy is assumed
		same = sameDevice(filepath.Dir(from), filepath.Dir(to))
		return nil
	})
	return same
}
