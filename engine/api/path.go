package api

import (
	"path/filepath"
	"strings"
)

// AbsolutePath makes path absolute and clean. A leading ~ stands for home, and a relative path
// starts at base.
func AbsolutePath(path, base, home string) string {
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		return filepath.Join(home, path[1:])
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
