package wire

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
)

// ShortPath returns a path to a socket that fits into a socket address. If path is too long,
// the result leads through an open descriptor of its directory; done closes the descriptor.
func ShortPath(path string) (short string, done func(), err error) {
	if len(path) <= api.MaxSocketPath {
		return path, func() {}, nil
	}
	// The path below /proc is short, whatever the length of the directory's own.
	dir, err := os.OpenFile(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { dir.Close() }, nil
}
