package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

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

// makeSpecial makes a named pipe or a socket. Devices are not made.
func makeSpecial(dst *opened, name string, mode fs.FileMode) error {
	kind := uint32(unix.S_IFIFO)
	switch mode.Type() {
	case fs.ModeNamedPipe:
	case fs.ModeSocket:
		kind = unix.S_IFSOCK
	default:
		return notRegular{mode}
	}
	dir, err := dst.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Mknodat(int(dir.Fd()), name, kind|uint32(mode.Perm()), 0)
}

// pinned is a path that leads to an open folder, whatever becomes of its name.
func pinned(dir *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", dir.Fd()) }

// onMainThread reports whether the calling thread is the one that the process
// began with.
func onMainThread() bool { return unix.Gettid() == os.Getpid() }

// accessed is when a file was last read.
func accessed(info fs.FileInfo) time.Time {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(stat.Atim.Unix())
	}
	return info.ModTime()
}
