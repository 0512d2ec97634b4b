//go:build !linux

package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
