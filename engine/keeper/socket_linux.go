package keeper

import (
	"os"

	"golang.org/x/sys/unix"
)

// watchFolder calls deleted after something in a folder was, until stop is
// called, see inotify(7). Where the kernel has no watch to give, it never is.
func watchFolder(path string, deleted func()) (stop func()) {
	none := func() {}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return none
	}
	f := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_DELETE|unix.IN_ONLYDIR); err != nil {
		f.Close()
		return none
	}
	go func() {
		events := make([]byte, 4096)
		for {
			if _, err := f.Read(events); err != nil {
				return
			}
			deleted()
		}
	}()
	return func() { f.Close() }
}
