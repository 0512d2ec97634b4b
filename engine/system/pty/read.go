package pty

import (
	"io"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// pieceSize is the maximum size of a single read; such a piece spans at most two pages.
	pieceSize = 4 << 10
	// ptyBuffer is roughly the amount a PTY returns at once to a program that writes more, and
	// burstWait how long to wait for the rest.
	ptyBuffer = 4000
	burstWait = time.Millisecond
)

// ReadBurst waits for output and reads what is available, up to len(p). A PTY returns at most 4
// KiB at a time, and waking the screen for each piece costs more than reading it. So once the
// output fills a PTY's buffer, ReadBurst briefly waits for more.
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
			case err == unix.EAGAIN && n >= ptyBuffer && hasInput(int(fd), burstWait):
			default:
				return n > 0 || err != unix.EAGAIN
			}
		}
		return true
	})
	switch {
	case n > 0: // the next read returns the error again
		return n, nil
	case waitErr != nil:
		return 0, waitErr
	case err == nil:
		return 0, io.EOF
	}
	return 0, err
}

// readPiece reads at most pieceSize bytes. The kernel removes output from the PTY before copying
// it, so a copy that faults while this process is being killed would lose it.
func readPiece(fd int, p []byte) (n int, err error) {
	p = p[:min(len(p), pieceSize)]
	if err := faultIn(p); err != nil {
		return 0, err
	}
	return unix.Read(fd, p)
}

// faultIn writes to the pages of p, at most two, so that the kernel can later copy output to them
// without a fault. It returns EFAULT if p is in the mapping of a file that was truncated, or whose
// disk became read-only.
func faultIn(p []byte) (err error) {
	// Such a write would end the process with SIGBUS. Have the runtime panic instead.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			err = unix.EFAULT
		}
	}()
	p[0], p[len(p)-1] = 0, 0
	return nil
}

// hasInput waits briefly for output and reports whether there is any.
func hasInput(fd int, wait time.Duration) bool {
	n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(wait.Milliseconds()))
	return n > 0
}

// ReadNow reads without waiting. An expired deadline would not do: such a read may fail although
// output is available.
func ReadNow(master *os.File, p []byte) (n int, err error) {
	err = onDescriptor(master, func(fd int) (err error) {
		n, err = readPiece(fd, p)
		return err
	})
	return max(n, 0), err
}
