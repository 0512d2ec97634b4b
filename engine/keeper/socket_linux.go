package keeper

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// watchFolders calls changed after something in one of the folders, or the folder, was deleted,
// until stop is called, see inotify(7). Where the kernel has no watch to give, it never is.
func watchFolders(changed func(), paths ...string) (stop func()) {
	none := func() {}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return none
	}
	f := os.NewFile(uintptr(fd), "inotify")
	watch := func() {
		for _, path := range paths { // one that was made again is another one
			_, _ = unix.InotifyAddWatch(fd, path, unix.IN_DELETE|unix.IN_DELETE_SELF|unix.IN_ONLYDIR)
		}
	}
	watch()
	go func() {
		events := make([]byte, 4096)
		for {
			if _, err := f.Read(events); err != nil {
				return
			}
			changed()
			watch()
		}
	}()
	return func() { f.Close() }
}

// shortPath returns a path of a socket that fits into an address: through its folder, which is
// open until done is called, if its own is too long.
func shortPath(path string) (short string, done func(), err error) {
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	dir, err := openFD(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir, filepath.Base(path)), func() { closeFD(dir) }, nil
}
