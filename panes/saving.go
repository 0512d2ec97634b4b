package panes

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"tandem/engine/api"
)

// A Saving writes something to a file of this machine.
type Saving struct {
	What  string // is saved, for errors
	Path  string
	Write func(context.Context, Engine, io.Writer) (written int64, err error)
}

// To does the save. What fails in the middle leaves no file, or the one that
// was there; os.ErrExist is the error of one that is not to be replaced.
func (s Saving) To(ctx context.Context, e Engine, replace bool) (written int64, err error) {
	f, done, err := s.open(replace)
	if errors.Is(err, os.ErrExist) {
		return 0, err
	}
	if err != nil {
		return 0, s.failed(err)
	}
	written, err = s.Write(ctx, e, f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = done()
	}
	if err != nil {
		os.Remove(f.Name())
		return written, s.failed(err)
	}
	return written, nil
}

// open opens a file to write to: a new one, or one beside that which done puts
// it in place of.
func (s Saving) open(replace bool) (f *os.File, done func() error, err error) {
	info, err := os.Stat(s.Path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, nil, errors.New(s.Path + " is not a regular file")
	}
	if err != nil || !replace {
		f, err = os.OpenFile(s.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		return f, func() error { return nil }, err
	}
	path, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return nil, nil, err
	}
	f, err = os.CreateTemp(filepath.Dir(path), ".tandem-*")
	if err != nil {
		return nil, nil, err
	}
	return f, func() error {
		return errors.Join(os.Chmod(f.Name(), info.Mode().Perm()), os.Rename(f.Name(), path))
	}, nil
}

// failed is an error of the file system as it is told; the engine's own stay as
// they are.
func (s Saving) failed(err error) error {
	if told := (*api.Error)(nil); errors.As(err, &told) {
		return err
	}
	return api.Errorf(api.CodeUnavailable, "save %s: %v", s.What, err)
}
