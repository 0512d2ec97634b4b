package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tandem/persist/config/settings"
)

func TestConfigOfAnotherUserIsRejected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("scrollback = 77\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := File{path: path}
	if c, err := f.Load(); err != nil || c.Scrollback != 77 {
		t.Fatalf("%+v, %v", c.Scrollback, err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if !f.hasChanged() {
		t.Error("another mode is no change")
	}
	if _, err := f.Load(); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "anyone can write to it; run chmod o-w") {
		t.Errorf("everybody's: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if !f.hasChanged() {
		t.Error("mine again is no change")
	}
	if c, err := f.Load(); err != nil || c.Scrollback != 77 {
		t.Errorf("mine again: %+v, %v", c.Scrollback, err)
	}
}

func TestRejectedConfigAppliesOnceOthersCannotWriteIt(t *testing.T) {
	for name, open := range map[string]func(path string) string{
		"file":   func(path string) string { return path },
		"folder": filepath.Dir,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, []byte("scrollback = 77\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				f := File{path: path}
				if _, err := f.Load(); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				told := make(chan int)
				go f.follow(ctx, nil, func() time.Duration { return pollWatched }, func(c settings.Config, err error) {
					if err != nil {
						c.Scrollback = -1
					}
					told <- c.Scrollback
				})
				old := time.Now().Add(-time.Hour)
				err := errors.Join(os.Chmod(open(path), 0o777), os.WriteFile(path, []byte("scrollback = 88\n"), 0), os.Chtimes(path, old, old))
				if err != nil {
					t.Fatal(err)
				}
				if got := <-told; got != -1 {
					t.Errorf("writable by others: scrollback %d", got)
				}
				if err := os.Chmod(open(path), 0o700); err != nil {
					t.Fatal(err)
				}
				select {
				case got := <-told:
					if got != 88 {
						t.Errorf("no longer writable by others: scrollback %d", got)
					}
				case <-time.After(time.Hour):
					t.Error("no longer writable by others, but no change was reported")
				}
			})
		})
	}
}

func TestPipeInPlaceOfConfigIsRejected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f := File{path: path}
	if _, err := f.Load(); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("scrollback = 77\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !f.hasChanged() {
		t.Error("a file in its place is no change")
	}
	if c, err := f.Load(); err != nil || c.Scrollback != 77 {
		t.Errorf("then a file: %+v, %v", c.Scrollback, err)
	}
}
