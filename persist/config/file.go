package config

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tandem/persist/config/settings"
	"tandem/persist/inotify"
	"tandem/persist/trust"
)

const (
	// settleTime is how long the file must be unchanged before it is read. An editor may write it
	// in parts.
	settleTime = 50 * time.Millisecond
	// sameTime is the resolution of file times. Two changes within it may have the same time.
	sameTime = time.Second
)

// A File follows config.toml. It is not safe for concurrent use.
type File struct {
	Watches *inotify.Pool // shared with others who watch files; nil: its own

	path string
	text []byte
	seen stamp

	refused bool  // other users could have written the file
	err     error // of the last load by Changed
}

// A stamp is the state of the file by which changes are detected.
type stamp struct {
	info os.FileInfo
	at   time.Time // time of the check
}

// Load reads the file. If it returns an error, the result is the defaults, except that private folders
// stay private and no kept output is deleted. The file can be followed even then.
func (f *File) Load() (settings.Config, error) {
	if f.path == "" {
		path, err := Path()
		if err != nil {
			return settings.Defaults(), err
		}
		f.path = path
	}
	// Stat before reading, so that the next check notices a change made during the read.
	f.seen = f.statFile()
	text, err := readConfig(f.path)
	f.text, f.refused = text, trust.File(f.path) != nil
	if err != nil {
		return afterMistake(settings.Defaults()), err
	}
	c, err := Parse(text)
	if err != nil {
		return c, &fileError{f.path, err}
	}
	return c, nil
}

// Changed loads the file if it has changed since the last load. Otherwise it returns the error of
// the last load.
func (f *File) Changed() (c settings.Config, changed bool, err error) {
	if f.path != "" && !f.hasChanged() {
		return settings.Config{}, false, f.err
	}
	c, f.err = f.Load()
	return c, true, f.err
}

// A fileError is an error in a configuration file, with the path of the file.
type fileError struct {
	path string
	err  error
}

func (e *fileError) Error() string { return fmt.Sprintf("%s: %v", e.path, e.err) }
func (e *fileError) Unwrap() error { return e.err }

// Brief shortens an error to one line: the file's name and the first mistake.
func Brief(err error) error {
	var wrong *mistakes
	var file *fileError
	if errors.As(err, &wrong) && errors.As(err, &file) {
		return errors.New(filepath.Base(file.path) + " " + wrong.brief())
	}
	return err
}

// Follow calls tell after each change of the file since the last load, with the new configuration
// or an error. It returns when ctx ends.
func (f *File) Follow(ctx context.Context, tell func(settings.Config, error)) {
	if f.path == "" {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	news, look := watch(ctx, f.path, cmp.Or(f.Watches, new(inotify.Pool)).New)
	f.follow(ctx, news, look, tell)
}

func (f *File) follow(ctx context.Context, news <-chan struct{}, look func() time.Duration, tell func(settings.Config, error)) {
	for ctx.Err() == nil {
		if !f.hasChanged() {
			select {
			case <-news:
			case <-time.After(look()):
			case <-ctx.Done():
			}
			continue
		}
		// An editor may still be writing: wait until the file is unchanged for a while.
		for before := f.statFile(); waitFor(ctx, settleTime); {
			now := f.statFile()
			if now.equals(before) {
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

// waitFor waits for d. It returns false if ctx ended first.
func waitFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func (f *File) statFile() stamp {
	info, _ := os.Stat(f.path) // nil if the file does not exist
	return stamp{info, time.Now()}
}

// hasChanged reports whether the file has changed since the last load. A change within sameTime may
// leave the file's time the same, so the content is compared as well.
func (f *File) hasChanged() bool {
	now := f.statFile()
	if !now.equals(f.seen) || f.refused && trust.File(f.path) == nil {
		return true
	}
	if now.info == nil || f.seen.at.Sub(now.info.ModTime()) > sameTime {
		return false
	}
	f.seen.at = now.at
	text, err := readConfig(f.path)
	return err == nil && !bytes.Equal(text, f.text)
}

func (s stamp) equals(other stamp) bool {
	if s.info == nil || other.info == nil {
		return s.info == other.info
	}
	return os.SameFile(s.info, other.info) && s.info.Size() == other.info.Size() && s.info.Mode() == other.info.Mode() && s.info.ModTime().Equal(other.info.ModTime())
}
