package pty

import (
	"bytes"
	"errors"
	"image"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// Size returns the size of the terminal with this master.
func Size(master *os.File) (cols, rows int, err error) {
	err = onDescriptor(master, func(fd int) error {
		size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err == nil {
			cols, rows = int(size.Col), int(size.Row)
		}
		return err
	})
	return cols, rows, err
}

// SetSize sets the size of a terminal, with cell as the size of a cell in pixels. The foreground
// programs get SIGWINCH; programs that display images use the pixel size.
func SetSize(master *os.File, cols, rows int, cell image.Point) error {
	return onDescriptor(master, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{
			Col: uint16(cols), Row: uint16(rows), Xpixel: uint16(min(cols*cell.X, math.MaxUint16)), Ypixel: uint16(min(rows*cell.Y, math.MaxUint16)),
		})
	})
}

// DiscardInput discards input no program has read yet, as the terminal itself does on an
// interrupt. The only way to flush the line discipline from the master is to set the
// terminal's modes to their current values, so a program that changes them at the same instant may
// lose the change.
func DiscardInput(master *os.File) error {
	return onDescriptor(master, func(fd int) error {
		// TCOFLUSH on the master discards input that has not reached the line discipline.
		if err := unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH); err != nil {
			return err
		}
		// TCSETSF discards input that waits in the line discipline for a program to read it.
		t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err != nil {
			return err
		}
		return unix.IoctlSetTermios(fd, unix.TCSETSF, t)
	})
}

// SendsSignal reports whether the terminal turns a byte of p into a signal, usually ctrl+c or
// ctrl+\, instead of passing it to the program.
func SendsSignal(master *os.File, p []byte) bool {
	var t *unix.Termios
	err := onDescriptor(master, func(fd int) (err error) {
		t, err = unix.IoctlGetTermios(fd, unix.TCGETS)
		return err
	})
	return err == nil && t.Lflag&unix.ISIG != 0 &&
		(bytes.IndexByte(p, t.Cc[unix.VINTR]) >= 0 || bytes.IndexByte(p, t.Cc[unix.VQUIT]) >= 0)
}

// onDescriptor calls f with a file's descriptor, which stays non-blocking.
func onDescriptor(file *os.File, f func(fd int) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	controlErr := conn.Control(func(fd uintptr) { err = f(int(fd)) })
	return errors.Join(controlErr, err)
}
