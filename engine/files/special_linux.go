package files

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// makeSpecial makes a named pipe or a socket. Devices are not made.
func makeSpecial(dst *opened, name string, mode fs.FileMode) error {
	kind := uint32(unix.S_IFIFO)
	switch mode.Type() {
	case fs.ModeNamedPipe:
	case fs.ModeSocket:
		kind = unix.S_IFSOCK
	default:
		return notRegular{mode}
	}
	dir, err := dst.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Mknodat(int(dir.Fd()), name, kind|uint32(mode.Perm()), 0)
}
