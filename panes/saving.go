package panes

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes/kit/text"
)

// A FileSave writes a file on this machine.
type FileSave struct {
	What  string // name of the content, for errors
	Path  string
	Write func(context.Context, Engine, io.Writer) (written int64, err error)
}

// Save writes a new file. It asks before it overwrites an existing one.
func (s FileSave) Save(env Env) tea.Cmd {
	return AwaitAnswer(env.Context(), env, func(context.Context, Engine) (bool, error) {
		info, err := os.Stat(s.Path)
		return err == nil && info.Mode().IsRegular(), nil // writing it returns any other error
	}, func(exists bool, err error) tea.Cmd {
		switch {
		case err != nil:
			return env.Say(ErrorText(err), true)
		case exists:
			AskReplace(env, s.Path, func() tea.Cmd { return s.save(env, true) })
			return nil
		}
		return s.save(env, false)
	})
}

func (s FileSave) save(env Env, replace bool) tea.Cmd {
	return Call(env.Context(), env, func(ctx context.Context, e Engine) (int64, error) {
		return s.writeFile(ctx, e, replace)
	}, func(written int64, err error) tea.Cmd {
		if err != nil {
			return env.Say(ErrorText(err), true)
		}
		return env.Say("saved "+units.Bytes(written)+" to "+text.ShortPath(s.Path, env.Home()), false)
	})
}

// writeFile writes the file. It replaces an existing file only if replace is set. If writing fails,
// the new file is removed and an existing one is left unchanged.
func (s FileSave) writeFile(ctx context.Context, e Engine, replace bool) (written int64, err error) {
	f, done, err := s.openFile(replace)
	if err != nil {
		return 0, s.wrapError(err)
	}
	written, err = s.Write(ctx, e, f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = done()
	}
	if err != nil {
		// A half-written file is worse than none.
		os.Remove(f.Name())
		return written, s.wrapError(err)
	}
	return written, nil
}

// openFile opens a new file or, to replace an existing one, a temporary file beside it. done moves
// the temporary file into place.
func (s FileSave) openFile(replace bool) (f *os.File, done func() error, err error) {
	info, err := os.Stat(s.Path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, nil, errors.New(s.Path + " is not a regular file")
	}
	if err != nil || !replace {
		f, err = os.OpenFile(s.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		return f, func() error { return nil }, err
	}
	// Renaming over a symbolic link would replace the link, so the temporary file goes beside its
	// target.
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

// wrapError adds to an error of the file system what was to be saved. An error of the engine says
// that already.
func (s FileSave) wrapError(err error) error {
	if engineErr := (*api.Error)(nil); errors.As(err, &engineErr) {
		return err
	}
	return api.Errorf(api.CodeUnavailable, "save %s: %v", s.What, err)
}
