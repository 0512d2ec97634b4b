//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many symbolic links a path may lead through (path_resolution(7)).
const maxLinks = 40

// resolvePath returns the path without symbolic links and "..", like realpath(3), but keeps missing
// elements unchanged.
func resolvePath(path string) (string, error) {
	done, rest, links := "/", path, 0
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		target, err := os.Readlink(next)
		if err != nil {
			if errors.Is(err, fs.ErrPermission) {
				return "", err // the target cannot be known
			}
			done = next // not a link, or missing
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("too many symbolic links")
		}
		if strings.HasPrefix(target, "/") {
			done = "/"
		}
		rest = target + "/" + rest
	}
	return done, nil
}

// resolveAll resolves the paths of a list and adds the other mounts of the same files.
func resolveAll(list string, paths []string, table mounts) ([]string, error) {
	var all []string
	for _, path := range paths {
		resolved, err := resolvePath(path)
		if named := (*fs.PathError)(nil); errors.As(err, &named) && named.Path == path {
			err = named.Err
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", list, path, err)
		}
		all = append(all, resolved)
		all = append(all, table.aliases(resolved)...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// isWithin reports whether path is folder or below it; both are clean.
func isWithin(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == '/' || folder == "/")
}

func isWithinAny(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return isWithin(path, folder) })
}
