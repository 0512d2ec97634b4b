//go:build !linux

package files

import "os"

// pinned is a path that leads to an open folder, as long as it keeps its name.
func pinned(dir *os.File) string { return dir.Name() }

// onMainThread reports whether the calling thread is the one that the process
// began with, which matters where threads can be confined.
func onMainThread() bool { return false }
