package cast

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardInput drops what a terminal has answered and nobody has read.
func discardInput(in *os.File) { _ = unix.IoctlSetInt(int(in.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
