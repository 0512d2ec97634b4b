//go:build !linux

package files

import (
	"io/fs"
	"os"
)

// makeSpecial makes nothing.
func makeSpecial(_ *os.Root, _ string, mode fs.FileMode) error { return notRegular{mode} }
