package project

import (
	"errors"
	"path/filepath"
	"tandem/engine/api"
)

// Open reads the project file at path, or finds one if path is empty.
func Open(path string, trust bool, getenv func(string) string) (*File, error) {
	if path == "" {
		found, err := findProject(".", trust)
		if errors.Is(err, ErrNone) {
			return nil, api.Errorf(api.CodeNotFound, "%v", err).WithHint("write a tandem.yaml; see docs/project.md, or give one with -f")
		}
		if err != nil {
			return nil, err
		}
		if err := CheckOverride(found); err != nil {
			return nil, withHint(err)
		}
		path = found
	}
	file, err := Read(path, getenv)
	return file, withHint(err)
}

// Locate returns the path of the project file: path if given, else the nearest one in this folder
// or above. A file that has been deleted, but from which processes were started, counts as well.
func Locate(path string, list []api.Process, trust bool, hint string) (string, error) {
	if path != "" {
		return filepath.Abs(path)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return "", err
	}
	found, err := findProject(here, trust)
	if err != nil && !errors.Is(err, ErrNone) {
		return "", err
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		for _, p := range list {
			if p.Project != nil && filepath.Dir(p.Project.File) == dir && (err != nil || len(dir) > len(filepath.Dir(found))) {
				return p.Project.File, nil
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if errors.Is(err, ErrNone) {
		return "", api.Errorf(api.CodeNotFound, "%v", err).WithHint(hint)
	}
	return found, err
}

// findProject returns the path of the nearest project file in dir or above. Unless trust is set, it
// returns an error if other users own the file or can write it.
func findProject(dir string, trust bool) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	path, err := Find(dir)
	if err != nil || trust {
		return path, err
	}
	return path, withHint(CheckTrust(path, dir))
}

// withHint converts an Error into an API error with its hint.
func withHint(err error) error {
	var mistake *Error
	if errors.As(err, &mistake) {
		return api.Errorf(api.CodeInvalid, "%v", err).WithHint(mistake.Hint)
	}
	return err
}
