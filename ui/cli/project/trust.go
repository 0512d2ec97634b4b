package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/persist/trust"
)

// CheckTrust returns an *Error if the project file at path should not be read, because the file, or
// a folder between it and searchStart, belongs to another user except root, or is writable by
// everyone. searchStart is the folder in which the search for the file began.
func CheckTrust(path, searchStart string) error { return checkTrustAs(path, searchStart, os.Geteuid()) }

func checkTrustAs(path, from string, me int) error {
	for _, stat := range [...]func(string) (fs.FileInfo, error){os.Lstat, os.Stat} { // the owner of a link can replace it
		if err := checkOwner(path, me, stat); err != nil {
			return err
		}
	}
	for at := filepath.Clean(from); ; at = filepath.Dir(at) {
		err := checkOwner(at, me, os.Stat)
		if err != nil || at == filepath.Dir(path) || at == filepath.Dir(at) {
			return err
		}
	}
}

// checkOwner checks the owner and mode of path. A sticky folder is safe, because users cannot
// replace others' files in it.
func checkOwner(path string, me int, stat func(string) (fs.FileInfo, error)) error {
	info, err := stat(path)
	if err != nil {
		return &Error{Path: path, What: err.Error()}
	}
	err = trust.Owner(info, me)
	if err == nil {
		return nil
	}
	hint := "look at the project file, then give --trust to read it this once"
	if errors.Is(err, trust.ErrEverybody) {
		hint = "chmod o-w " + path + ", or " + hint
	}
	return &Error{Path: path, What: err.Error(), Hint: hint}
}
