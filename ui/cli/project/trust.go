package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/persist/trust"
)

// Trusted says why a project file that was found from a folder should not be
// followed: it, or a folder between the two, belongs to somebody else who is not
// root, or can be written by everybody. Mistakes are *Error.
func Trusted(path, from string) error { return trusted(path, from, os.Geteuid()) }

func trusted(path, from string, me int) error {
	for _, look := range [...]func(string) (fs.FileInfo, error){os.Lstat, os.Stat} { // a link may be somebody's, too
		if err := checkOwner(path, me, look); err != nil {
			return err
		}
	}
	folder, at := filepath.Dir(path), filepath.Clean(from)
	for {
		if err := checkOwner(at, me, os.Stat); err != nil {
			return err
		}
		if at == folder || at == filepath.Dir(at) {
			return nil
		}
		at = filepath.Dir(at)
	}
}

// checkOwner looks at who may have written a file, or what is in a folder. In a
// sticky one nobody replaces the files of others.
func checkOwner(path string, me int, look func(string) (fs.FileInfo, error)) error {
	info, err := look(path)
	if err != nil {
		return &Error{Path: path, What: err.Error()}
	}
	const hint = "look at the project file, then give --trust to read it this once"
	switch err := trust.Owner(info, me); {
	case errors.Is(err, trust.ErrEverybody):
		return &Error{Path: path, What: err.Error(), Hint: "chmod o-w " + path + ", or " + hint}
	case err != nil:
		return &Error{Path: path, What: err.Error(), Hint: hint}
	}
	return nil
}
