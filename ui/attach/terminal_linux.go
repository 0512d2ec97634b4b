package attach

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// reopenTerminal opens a terminal again for nonblocking writes. Setting O_NONBLOCK on f
// itself would affect every process sharing it. If opening is not permitted, as after su,
// it returns f's own descriptor.
func reopenTerminal(f *os.File) int {
	path := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return int(f.Fd())
	}
	return fd
}

// discardOutput discards output that a terminal has not taken yet.
func discardOutput(f *os.File) {
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCOFLUSH)
}
