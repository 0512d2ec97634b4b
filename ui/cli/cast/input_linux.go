package cast

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardInput discards unread answers of a terminal.
func discardInput(in *os.File) { _ = unix.IoctlSetInt(int(in.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
