package attach

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// reopen opens a terminal once more, so that writes to it need not block and
// nobody else who has it open sees a difference. Where that is not allowed, as
// after su, the descriptor is f's own.
func reopen(f *os.File) int {
	path := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return int(f.Fd())
	}
	return fd
}

// discardOutput throws away what a terminal has not taken yet.
func discardOutput(f *os.File) {
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCOFLUSH)
}
