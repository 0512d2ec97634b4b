// Package startrules checks requests to start a program: the folder, the umask, the size of the
// terminal, the entry of a project file, and the privacy of the session.
package startrules

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/session/terminal"
	"tandem/persist/store"
)

// Folder checks the working directory of a program. If path is empty, it returns the home
// directory, or / if there is none.
func Folder(path string) (string, error) {
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "/", nil
		}
		path = home
		if _, err := os.Stat(path); err != nil {
			return "/", nil
		}
	}
	wrong := func(why any) error {
		return api.Errorf(api.CodeInvalid, "start in %s: %v", names.ShownPath(path), why).WithReason(api.ReasonBadCWD)
	}
	if !filepath.IsAbs(path) {
		return "", wrong("the path is not absolute")
	}
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil {
		return "", wrong(store.Cause(err))
	}
	if !info.IsDir() {
		return "", wrong("not a directory")
	}
	if err := unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS); err != nil {
		return "", wrong(err)
	}
	return path, nil
}

// CheckUmask rejects an invalid umask. It must be octal; an empty one is valid.
func CheckUmask(text string) error {
	if text == "" {
		return nil
	}
	if _, err := strconv.ParseUint(text, 8, 9); err != nil {
		return api.Errorf(api.CodeInvalid, "umask %s: must be octal, 0000 to 0777", names.Shown(text))
	}
	return nil
}

const defaultCols, defaultRows = 80, 24

// Size returns the size of a new terminal, with a default for a side of 0. Both sides are checked.
func Size(cols, rows int) (int, int, error) {
	if cols == 0 {
		cols = defaultCols
	}
	if rows == 0 {
		rows = defaultRows
	}
	return cols, rows, CheckSize(cols, rows)
}

// CheckSize rejects a size of a terminal out of range.
func CheckSize(cols, rows int) error {
	if cols != terminal.ClampSide(cols) || rows != terminal.ClampSide(rows) {
		return api.Errorf(api.CodeInvalid, "size %dx%d: both sides must be 1 to %d", cols, rows, terminal.MaxSide)
	}
	return nil
}

const (
	maxProjectPath = 4096 // bytes of a path
	maxDigest      = 128  // bytes
)

// SetProject records which entry of which project file a process belongs to.
func SetProject(r *store.Record, in *api.ProjectEntry) error {
	if in == nil {
		return nil
	}
	wrong := func(why string) error {
		return api.Errorf(api.CodeInvalid, "start process: project file %s: %s", names.Shown(in.File), why)
	}
	switch {
	case !filepath.IsAbs(in.File):
		return wrong("its path is not absolute")
	case len(in.File) > maxProjectPath:
		return wrong("its path is too long")
	case names.Check(in.Name) != nil:
		return wrong("the entry's name is not valid")
	case in.Project != "" && names.CheckLabel(in.Project) != nil:
		return wrong("the project's name is not valid")
	case len(in.Digest) > maxDigest:
		return wrong("the digest is too long")
	}
	entry := store.Project(*in)
	r.Project = &entry
	return nil
}
