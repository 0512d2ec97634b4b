package pty

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// pieceSize is the most that is read in one call: it lies in two pages.
	pieceSize = 4 << 10
	// ptyBuffer is about what a PTY gives at once when its program writes more
	// than that, and burstWait how long the rest is then waited for.
	ptyBuffer = 4000
	burstWait = time.Millisecond
)

// ReadBurst waits for output and takes what there is of it, up to len(p). A PTY
// gives no more than 4 KiB at a time, and to wake the screen for each of them
// would cost more than to read them; so once output fills a PTY's buffer, a
// little more of it is waited for.
func ReadBurst(master *os.File, p []byte) (n int, err error) {
	conn, err := master.SyscallConn()
	if err != nil {
		return 0, err
	}
	waitErr := conn.Read(func(fd uintptr) bool {
		for n < len(p) {
			var got int
			got, err = readPiece(int(fd), p[n:])
			switch {
			case got > 0:
				n += got
			case err == unix.EINTR:
			case err == unix.EAGAIN && n >= ptyBuffer && readable(int(fd), burstWait):
			default:
				return n > 0 || err != unix.EAGAIN
			}
		}
		return true
	})
	switch {
	case n > 0: // an error comes again
		return n, nil
	case waitErr != nil:
		return 0, waitErr
	case err == nil:
		return 0, io.EOF
	}
	return 0, err
}

// readPiece reads at most pieceSize bytes. The kernel takes output from the PTY
// before it copies it, and a copy that faults in a process that is being killed
// loses it; so the memory is written to, and is there, before there is anything
// to lose.
func readPiece(fd int, p []byte) (n int, err error) {
	p = p[:min(len(p), pieceSize)]
	p[0], p[len(p)-1] = 0, 0
	return unix.Read(fd, p)
}

// readable waits a little for output.
func readable(fd int, wait time.Duration) bool {
	n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(wait.Milliseconds()))
	return n > 0
}

// ReadNow reads what is there. A deadline that passed before a read began does
// not tell that there is nothing.
func ReadNow(master *os.File, p []byte) (n int, err error) {
	err = onDescriptor(master, func(fd int) (err error) {
		n, err = readPiece(fd, p)
		return err
	})
	return max(n, 0), err
}
