package config

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"tandem/persist/inotify"
)

const (
	// pollWatched is the interval between polls of a watched file. pollUnwatched applies to a file
	// that cannot be watched, because the kernel limits the number of watches for each user.
	pollWatched   = 30 * time.Second
	pollUnwatched = time.Second
)

// watch signals news after an event in one of the directories on the way to the file at path, until
// ctx ends. look returns the interval at which the file should be polled as well.
func watch(ctx context.Context, path string, watcher func() (*inotify.Watcher, error)) (news chan struct{}, look func() time.Duration) {
	news = make(chan struct{}, 1)
	w, err := watcher()
	if err != nil {
		return news, func() time.Duration { return pollUnwatched }
	}
	var watched atomic.Bool
	add := func(dir string) error { return w.Add(dir, inotify.Entries|inotify.Gone) }
	watched.Store(watchDirs(path, add))
	go func() {
		defer w.Close()
		for {
			select {
			case <-w.Changes():
			case <-ctx.Done():
				return
			}
			// If the event is a new directory on the way to the file, it needs a watch before the
			// event is passed on.
			watched.Store(watchDirs(path, add))
			select {
			case news <- struct{}{}:
			default:
			}
		}
	}()
	return news, func() time.Duration {
		if watched.Load() {
			return pollWatched
		}
		return pollUnwatched
	}
}

// watchDirs watches the directories on the way to the file at path. It repeats that until the
// directories are the same after the watches were added, because earlier events were missed. all is
// false if the kernel has refused a watch.
func watchDirs(path string, add func(dir string) error) (all bool) {
	for dirs := watchedDirs(path); ; {
		all = true
		for _, dir := range dirs {
			// If a directory was just deleted, its parent raises an event.
			if err := add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				all = false
			}
		}
		now := watchedDirs(path)
		if slices.Equal(now, dirs) {
			return all
		}
		dirs = now
	}
}

// watchedDirs returns the nearest existing directory above path. If path is a symbolic link, it
// also returns the directory of the link's target.
func watchedDirs(path string) []string {
	found := []string{nearestDir(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		found = append(found, filepath.Dir(real))
	}
	return found
}

func nearestDir(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}
