package files

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A watch reports changes in a folder (inotify(7)).
type watch struct{ events *os.File }

func startWatch(dir *os.File) (watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return watch{}, err
	}
	const changes = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_MOVED_FROM |
		unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR
	if _, err := unix.InotifyAddWatch(fd, procPath(dir), changes); err != nil {
		unix.Close(fd)
		return watch{}, err
	}
	return watch{os.NewFile(uintptr(fd), "inotify")}, nil
}

// wait waits for a change; it returns false if ctx is done first.
func (w watch) wait(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, func() { w.events.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	buf := make([]byte, 4096)
	_, err := w.events.Read(buf)
	return err == nil && ctx.Err() == nil
}

func (w watch) close() { w.events.Close() }
