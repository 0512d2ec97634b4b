//go:build !linux

package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// rename moves what is called from in a to the name to in b. Without over, it is
// fs.ErrExist if something is there.
func rename(a *opened, from string, b *opened, to string, over bool) error {
	if _, err := b.Lstat(to); !over && !errors.Is(err, fs.ErrNotExist) {
		return fs.ErrExist
	}
	if a.Name() == b.Name() {
		return a.Rename(from, to)
	}
	return os.Rename(filepath.Join(a.Name(), from), filepath.Join(b.Name(), to))
}

// makeSpecial makes nothing.
func makeSpecial(_ *opened, _ string, mode fs.FileMode) error { return notRegular{mode} }

// pinned is a path that leads to an open folder, as long as it keeps its name.
func pinned(dir *os.File) string { return dir.Name() }

// onMainThread reports whether the calling thread is the one that the process
// began with, which matters where threads can be confined.
func onMainThread() bool { return false }

// accessed is when a file was last read, or at least written.
func accessed(info fs.FileInfo) time.Time { return info.ModTime() }
