//go:build !linux

package files

import (
	"io/fs"
)

// makeSpecial makes nothing.
func makeSpecial(_ *opened, _ string, mode fs.FileMode) error { return notRegular{mode} }
