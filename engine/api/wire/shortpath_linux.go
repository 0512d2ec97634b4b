package wire

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
)

// ShortPath returns a path of a socket that fits into an address: through its folder, which is
// open until done is called, if its own is too long.
func ShortPath(path string) (short string, done func(), err error) {
	if len(path) <= api.MaxSocketPath {
		return path, func() {}, nil
	}
	dir, err := os.OpenFile(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { dir.Close() }, nil
}
