package api

import (
	"path/filepath"
	"strings"
)

// AbsolutePath returns path cleaned, after resolving a leading ~ in home and a relative path in
// base.
func AbsolutePath(path, base, home string) string {
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		return filepath.Join(home, path[1:])
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
