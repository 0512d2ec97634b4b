package config

import (
	"context"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// watch tells, until ctx ends, that something has happened in one of the folders that
// decide what is at a path. It says nothing where the system cannot watch.
func watch(ctx context.Context, path string) <-chan struct{} {
	news := make(chan struct{}, 1)
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return news
	}
	add := func() {
		for _, dir := range folders(path) {
			_ = w.Add(dir) // if it has just gone, that is told in a folder above
		}
	}
	add()
	go func() {
		defer w.Close()
		for {
			select {
			case <-w.Events:
			case <-w.Errors: // more happened than was kept
			case <-ctx.Done():
				return
			}
			add()
			select {
			case news <- struct{}{}:
			default:
			}
		}
	}()
	return news
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
