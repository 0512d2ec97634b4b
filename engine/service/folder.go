package service

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/persist/store"
)

// workingFolder checks the working directory of a program. If path is empty, it returns the home
// directory, or / if there is none.
func workingFolder(path string) (string, error) {
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
