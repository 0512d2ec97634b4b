//go:build !linux

package files

import "os"

// pinned is a path that leads to an open folder, as long as it keeps its name.
func pinned(dir *os.File) string { return dir.Name() }
