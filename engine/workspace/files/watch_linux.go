package files

import (
	"context"
	"os"

	"golang.org/x/sys/unix"

	"tandem/persist/inotify"
)

// A watch reports changes in a folder.
type watch struct{ *inotify.Watcher }

func startWatch(dir *os.File, pool *inotify.Pool) (watch, error) {
	w, err := pool.New()
	if err != nil {
		return watch{}, err
	}
	if err := w.Add(procPath(dir), inotify.Entries|inotify.Gone|unix.IN_ONLYDIR); err != nil {
		w.Close()
		return watch{}, err
	}
	return watch{w}, nil
}

// wait waits for a change; it returns false if ctx is done first.
func (w watch) wait(ctx context.Context) bool {
	select {
	case <-w.Changes():
		return true
	case <-ctx.Done():
		return false
	}
}
