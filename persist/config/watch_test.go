package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhatHappensAtAPathIsTold(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a", "b", "config.toml"), filepath.Join(t.TempDir(), "config.toml")
	news := watch(t.Context(), path)
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
