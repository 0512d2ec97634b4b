package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"tandem/persist/trust"
)

const (
	// configQuiet is how long it has to stay as it is before it is read: an editor
	// may write it in pieces.
	configQuiet = 50 * time.Millisecond
	// sameTime is within what two changes of a file may carry the same time.
	sameTime = time.Second
)

// A File is config.toml while somebody follows it. It is for one
// goroutine at a time.
type File struct {
	path string
	text []byte
	seen stamp

	refused bool  // other users may have written the file
	err     error // of the last load by Changed
}

// A stamp is what tells that a file has changed.
type stamp struct {
	info os.FileInfo
	at   time.Time // when it was looked at
}

// Load reads the file. After an error it can be followed all the same.
func (f *File) Load() (Config, error) {
	if f.path == "" {
		path, err := Path()
		if err != nil {
			return Config{}, err
		}
		f.path = path
	}
	f.seen = f.look()
	text, err := readConfig(f.path)
	f.text, f.refused = text, trust.File(f.path) != nil
	if err != nil {
		return Config{}, err
	}
	c, err := Parse(text)
	if err != nil {
		return Config{}, &fileError{f.path, err}
	}
	return c, nil
}

// Changed loads the file if it is another one than at the last load. Without a change, err is
// that of the last load.
func (f *File) Changed() (c Config, changed bool, err error) {
	if f.path != "" && !f.touched() {
		return Config{}, false, f.err
	}
	c, f.err = f.Load()
	return c, true, f.err
}

// A fileError is what is wrong with a configuration and where it is.
type fileError struct {
	path string
	err  error
}

func (e *fileError) Error() string { return fmt.Sprintf("%s: %v", e.path, e.err) }
func (e *fileError) Unwrap() error { return e.err }

// Brief is an error on one line: the file's name and the first mistake.
func Brief(err error) error {
	var wrong *mistakes
	var file *fileError
	if errors.As(err, &wrong) && errors.As(err, &file) {
		return errors.New(filepath.Base(file.path) + " " + wrong.brief())
	}
	return err
}

// Follow tells of every change of the file from the last load on, until ctx
// ends: what it says now, or why that cannot be used.
func (f *File) Follow(ctx context.Context, tell func(Config, error)) {
	if f.path == "" {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	news, look := watch(ctx, f.path, fsnotify.NewWatcher)
	f.follow(ctx, news, look, tell)
}

func (f *File) follow(ctx context.Context, news <-chan struct{}, look time.Duration, tell func(Config, error)) {
	for ctx.Err() == nil {
		if !f.touched() {
			select {
			case <-news:
			case <-time.After(look):
			case <-ctx.Done():
			}
			continue
		}
		for before := f.look(); wait(ctx, configQuiet); {
			now := f.look()
			if now.same(before) {
				break
			}
			before = now
		}
		before := f.text
		c, err := f.Load()
		if err != nil || !bytes.Equal(before, f.text) {
			tell(c, err)
		}
	}
}

// wait returns after some time: false, if ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func (f *File) look() stamp {
	info, _ := os.Stat(f.path) // none, if it is not there
	return stamp{info, time.Now()}
}

// touched reports whether the file is another one than at the last load. Two
// changes can have the same time, so one that was fresh then may have changed.
func (f *File) touched() bool {
	now := f.look()
	if !now.same(f.seen) || f.refused && trust.File(f.path) == nil {
		return true
	}
	if now.info == nil || f.seen.at.Sub(now.info.ModTime()) > sameTime {
		return false
	}
	f.seen.at = now.at
	text, err := readConfig(f.path)
	return err == nil && !bytes.Equal(text, f.text)
}

func (s stamp) same(other stamp) bool {
	if s.info == nil || other.info == nil {
		return s.info == other.info
	}
	return os.SameFile(s.info, other.info) && s.info.Size() == other.info.Size() && s.info.Mode() == other.info.Mode() && s.info.ModTime().Equal(other.info.ModTime())
}
