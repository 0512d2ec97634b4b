package files

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ReadRegular reads a whole regular file of at most limit bytes and describes it. It refuses a link
// in the last element of path and everything that could block.
func (t *Tree) ReadRegular(path string, limit int64) (data []byte, info fs.FileInfo, err error) {
	err = t.runConfined(func() (err error) {
		data, info, err = t.readRegular(path, limit)
		return err
	})
	return data, info, err
}

func (t *Tree) readRegular(path string, limit int64) ([]byte, fs.FileInfo, error) {
	p, err := t.locate(path, lookup{verb: "read", noFollow: true})
	if err != nil {
		return nil, nil, err
	}
	defer p.close()
	seen, err := p.root.Lstat(p.rel)
	if err != nil {
		return nil, nil, fileError("read", p.path, err)
	}
	if err := requireRegular("read", p.path, seen); err != nil {
		return nil, nil, err
	}
	f, err := p.root.OpenFile(p.rel, openFlags|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, fileError("read", p.path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, fileError("read", p.path, err)
	// The file was checked before it was opened, because opening a device can have an effect.
	case !os.SameFile(seen, info):
		return nil, nil, errorf(Failed, "read %s: it was replaced meanwhile", p.path)
	case info.Size() > limit:
		return nil, nil, errorf(TooLarge, "read %s: larger than %d bytes", p.path, limit)
	}
	setReadTimeout(f)
	data, err := io.ReadAll(io.LimitReader(f, limit))
	return data, info, fileError("read", p.path, err)
}

// Newest returns the most recently changed regular file among those whose absolute paths match
// pattern (path/filepath.Match), or "".
func (t *Tree) Newest(pattern string) (newest string) {
	_ = t.runConfined(func() error {
		var at time.Time
		for _, path := range matchPattern(pattern) {
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.ModTime().After(at) {
				newest, at = path, info.ModTime()
			}
		}
		return nil
	})
	return newest
}

// maxMatches is the maximum number of paths that each part of a pattern may match.
const maxMatches = 10_000

// matchPattern returns candidate paths for an absolute pattern. Unlike filepath.Glob, it does not block
// when a named pipe replaces a directory.
func matchPattern(pattern string) []string {
	paths := []string{"/"}
	for part := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		var next []string
		for _, dir := range paths {
			names := []string{part}
			if strings.ContainsAny(part, `*?[\`) {
				names = slices.DeleteFunc(entryNames(dir), func(name string) bool {
					ok, _ := filepath.Match(part, name) // an invalid pattern matches nothing
					return !ok
				})
			}
			for _, name := range names {
				next = append(next, filepath.Join(dir, name))
			}
			if len(next) >= maxMatches {
				break
			}
		}
		paths = next[:min(len(next), maxMatches)]
	}
	return paths
}

// entryNames returns the names in dir, or nil if dir cannot be read.
func entryNames(dir string) []string {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	return names
}
