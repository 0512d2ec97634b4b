package files

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// rename moves what is called from in a to the name to in b. Without over, what
// is there by then stays and the error is fs.ErrExist (renameat2(2)).
func rename(a *opened, from string, b *opened, to string, over bool) error {
	src, err := a.Open(".")
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := b.Open(".")
	if err != nil {
		return err
	}
	defer dst.Close()
	flags := uint(unix.RENAME_NOREPLACE)
	if over {
		flags = 0
	}
	err = unix.Renameat2(int(src.Fd()), from, int(dst.Fd()), to, flags)
	if over || !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// The file system cannot see to it, so that is as near as it gets.
	if _, err := b.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fs.ErrExist
	}
	return unix.Renameat(int(src.Fd()), from, int(dst.Fd()), to)
}
