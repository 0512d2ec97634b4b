package config

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"tandem/persist/inotify"
)

func TestWatchReportsEventsAtPath(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a", "b", "config.toml"), filepath.Join(t.TempDir(), "config.toml")
	news, _ := watch(t.Context(), path, new(inotify.Pool).New)
	for what, act := range []func() error{
		func() error { return os.Mkdir(filepath.Join(dir, "a"), 0o700) },
		func() error { return os.Mkdir(filepath.Join(dir, "a", "b"), 0o700) },
		func() error { return os.WriteFile(path, nil, 0o600) },
		func() error { return os.Remove(path) },
		func() error { return os.WriteFile(other, nil, 0o600) },
		func() error { return os.Symlink(other, path) },
		func() error { return os.WriteFile(other, []byte("theme"), 0o600) },
		func() error { return os.RemoveAll(filepath.Join(dir, "a")) },
		func() error { return os.Mkdir(filepath.Join(dir, "a"), 0o700) },
	} {
		for len(news) > 0 {
			<-news
		}
		if err := act(); err != nil {
			t.Fatal(what, err)
		}
		if what != 4 { // the other file is nobody's yet
			<-news
		}
	}
}

func TestWatchFollowsDirectoryCreatedDuringSetup(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	var added []string
	watchDirs(filepath.Join(deep, "config.toml"), func(dir string) error {
		added = append(added, dir)
		return os.MkdirAll(deep, 0o700)
	})
	if want := []string{dir, deep}; !slices.Equal(added, want) {
		t.Errorf("followed are %q, not %q", added, want)
	}
}

// Each user has a limited number of watches, and other programs may have taken all of them.
func TestUnwatchableFileIsPolledOften(t *testing.T) {
	none := func() (*inotify.Watcher, error) { return nil, syscall.EMFILE }
	if _, look := watch(t.Context(), filepath.Join(t.TempDir(), "config.toml"), none); look() != pollUnwatched {
		t.Errorf("the next look is in %v", look())
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	for err, want := range map[error]bool{syscall.ENOSPC: false, syscall.ENOENT: true, nil: true} {
		if all := watchDirs(path, func(string) error { return err }); all != want {
			t.Errorf("with %v, all are watched: %v", err, all)
		}
	}
}
