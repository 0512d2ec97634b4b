package keeper

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// watchFolders calls changed after one of the directories, or a file in it, is deleted, until
// stop is called; see inotify(7). If the kernel has no watches left, changed is never called.
func watchFolders(changed func(), paths ...string) (stop func()) {
	none := func() {}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return none
	}
	f := os.NewFile(uintptr(fd), "inotify")
	watch := func() {
		for _, path := range paths { // a recreated directory needs a new watch
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

// shortPath returns a path to a socket that fits into a socket address. If path is too long,
// the result leads through an open descriptor of its directory; done closes the descriptor.
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
