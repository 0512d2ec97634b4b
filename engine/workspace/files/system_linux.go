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

// checkWritable returns an error if this user may not write the file called name in dir
// (faccessat(2)).
func checkWritable(dir *openDir, name string) error {
	d, err := dir.OpenFile(".", unix.O_PATH, 0) // a sandbox may not allow to read it
	if err != nil {
		return err
	}
	defer d.Close()
	return unix.Faccessat(int(d.Fd()), name, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW)
}

// renameEntry renames the entry of a called oldName to the entry of b called newName. Unless
// replace is set, an existing entry is kept and the error is fs.ErrExist (renameat2(2)).
func renameEntry(a *openDir, oldName string, b *openDir, newName string, replace bool) error {
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
	if replace {
		flags = 0
	}
	err = unix.Renameat2(int(src.Fd()), oldName, int(dst.Fd()), newName, flags)
	if replace || !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// The file system does not support RENAME_NOREPLACE. A file created after this check is
	// overwritten.
	if _, err := b.Lstat(newName); !errors.Is(err, fs.ErrNotExist) {
		return fs.ErrExist
	}
	return unix.Renameat(int(src.Fd()), oldName, int(dst.Fd()), newName)
}

// makeSpecial creates a named pipe or a socket. Devices are an error.
func makeSpecial(dst *openDir, name string, mode fs.FileMode) error {
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

// identify returns a text that no other folder of this machine has or ever had, as long as the file
// system records when folders are created; "" on failure.
func identify(root *os.Root) string {
	dir, err := root.Open(".")
	if err != nil {
		return ""
	}
	defer dir.Close()
	var stat unix.Statx_t
	if err := unix.Statx(int(dir.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_BTIME, &stat); err != nil {
		return ""
	}
	return fmt.Sprintf("%x.%x.%x.%x.%x", stat.Dev_major, stat.Dev_minor, stat.Ino, stat.Btime.Sec, stat.Btime.Nsec)
}

// procPath returns a path to an open directory that stays valid when it is renamed.
func procPath(dir *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", dir.Fd()) }

// onMainThread reports whether the calling thread is the process's first.
func onMainThread() bool { return unix.Gettid() == os.Getpid() }

// accessTime returns the time of the last read.
func accessTime(info fs.FileInfo) time.Time {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(stat.Atim.Unix())
	}
	return info.ModTime()
}
