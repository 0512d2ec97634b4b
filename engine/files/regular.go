package files

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ReadRegular reads a whole regular file of at most limit bytes, and describes it.
// A link in the last place is refused, as is whatever a read could wait for.
func ReadRegular(t *Tree, path string, limit int64) (data []byte, info fs.FileInfo, err error) {
	err = t.confined(func() (err error) {
		data, info, err = readRegular(t, path, limit)
		return err
	})
	return data, info, err
}

func readRegular(t *Tree, path string, limit int64) ([]byte, fs.FileInfo, error) {
	p, err := t.locate(path, way{verb: "read", link: true})
	if err != nil {
		return nil, nil, err
	}
	defer p.close()
	seen, err := p.root.Lstat(p.rel)
	if err != nil {
		return nil, nil, failure("read", p.path, err)
	}
	if err := regular("read", p.path, seen); err != nil {
		return nil, nil, err
	}
	f, err := p.root.OpenFile(p.rel, openFlags|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, failure("read", p.path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, failure("read", p.path, err)
	case !os.SameFile(seen, info):
		return nil, nil, errorf(Failed, "read %s: it was replaced meanwhile", p.path)
	case info.Size() > limit:
		return nil, nil, errorf(TooLarge, "read %s: larger than %d bytes", p.path, limit)
	}
	impatient(f)
	data, err := io.ReadAll(io.LimitReader(f, limit))
	return data, info, failure("read", p.path, err)
}

// Newest returns the regular file that was changed last among those whose absolute
// paths match a pattern (path/filepath.Match); "" if there is none.
func Newest(t *Tree, pattern string) (newest string) {
	_ = t.confined(func() error {
		paths, _ := filepath.Glob(pattern) // a mistaken pattern matches nothing
		var at time.Time
		for _, path := range paths {
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.ModTime().After(at) {
				newest, at = path, info.ModTime()
			}
		}
		return nil
	})
	return newest
}
