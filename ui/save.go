package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/widget"
)

// savedMsg is the outcome of a save.
type savedMsg struct {
	panes.Saving
	bytes int64
	err   error
}

// save writes to a new file, or in place of the one that is there.
func (m *model) save(s panes.Saving, replace bool) tea.Cmd {
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		n, err := writeTo(ctx, e, s, replace)
		return savedMsg{s, n, err}
	}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} })
}

func (m *model) saved(msg savedMsg) tea.Cmd {
	switch {
	case errors.Is(msg.err, os.ErrExist):
		panes.AskReplace(env{m}, msg.Path, m.save(msg.Saving, true))
		return nil
	case msg.err != nil:
		return m.notices.say(panes.ErrorText(msg.err), true)
	}
	return m.notices.say("saved "+widget.Bytes(msg.bytes)+" to "+widget.ShortPath(msg.Path, m.o.Home), false)
}

// writeTo does the save. What fails in the middle leaves no file, or the one that
// was there; os.ErrExist is the error of one that is not to be replaced.
func writeTo(ctx context.Context, e panes.Engine, s panes.Saving, replace bool) (written int64, err error) {
	f, done, err := openFor(s, replace)
	if errors.Is(err, os.ErrExist) {
		return 0, err
	}
	if err != nil {
		return 0, failedToSave(s, err)
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
		return written, failedToSave(s, err)
	}
	return written, nil
}

// openFor opens a file to write to: a new one, or one beside that which done puts
// it in place of.
func openFor(s panes.Saving, replace bool) (f *os.File, done func() error, err error) {
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

// failedToSave is an error of the file system as it is told; the engine's own stay as
// they are.
func failedToSave(s panes.Saving, err error) error {
	if told := (*api.Error)(nil); errors.As(err, &told) {
		return err
	}
	return api.Errorf(api.CodeUnavailable, "save %s: %v", s.What, err)
}
