package config

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// lookSeldom is the time between looks at a file that is watched, lookOften at one that
	// is not: there are only so many watchers for all programs of a user.
	lookSeldom = 30 * time.Second
	lookOften  = time.Second
)

// watch tells, until ctx ends, that something has happened in one of the folders that
// decide what is at a path, and how often to look all the same.
func watch(ctx context.Context, path string, watcher func() (*fsnotify.Watcher, error)) (news chan struct{}, look time.Duration) {
	news = make(chan struct{}, 1)
	w, err := watcher()
	if err != nil {
		return news, lookOften
	}
	follow(path, w.Add)
	go func() {
		defer w.Close()
		for {
			select {
			case <-w.Events:
			case <-w.Errors: // more happened than was kept
			case <-ctx.Done():
				return
			}
			follow(path, w.Add)
			select {
			case news <- struct{}{}:
			default:
			}
		}
	}()
	return news, lookSeldom
}

// follow adds the folders that decide what is at a path, until these are still the
// same when they have been added: what is made in one before then is told by nobody.
func follow(path string, add func(dir string) error) {
	for dirs := folders(path); ; {
		for _, dir := range dirs {
			_ = add(dir) // if it has just gone, that is told in a folder above
		}
		now := folders(path)
		if slices.Equal(now, dirs) {
			return
		}
		dirs = now
	}
}

// folders are the nearest one there is on the way to a path and, if a link is there, on
// the way to the file it names.
func folders(path string) []string {
	found := []string{nearest(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		found = append(found, filepath.Dir(real))
	}
	return found
}

func nearest(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}
