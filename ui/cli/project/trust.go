package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/persist/trust"
)

// CheckTrust returns an *Error if the project file at path, found from the folder from, should not
// be read: the file, or a folder between the two, belongs to another user except root, or is
// writable by everyone.
func CheckTrust(path, from string) error { return checkTrustAs(path, from, os.Geteuid()) }

func checkTrustAs(path, from string, me int) error {
	for _, stat := range [...]func(string) (fs.FileInfo, error){os.Lstat, os.Stat} { // the owner of a link can replace it
		if err := checkOwner(path, me, stat); err != nil {
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

// checkOwner checks the owner and mode of path. A sticky folder is safe, because users cannot
// replace others' files in it.
func checkOwner(path string, me int, stat func(string) (fs.FileInfo, error)) error {
	info, err := stat(path)
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
