package mcp

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// watchHangup calls onHangup once the reader of out has closed its end. out may be a pipe, a socket
// or a terminal; anything else is not watched. unwatch stops watching and waits for the watcher to
// return.
func watchHangup(out io.Writer, onHangup func()) (unwatch func()) {
	f, ok := out.(*os.File)
	if !ok {
		return func() {}
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return func() {}
	}
	wake, waker, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer wake.Close()
		closed := false
		_ = conn.Control(func(fd uintptr) { closed = waitForHangup(int(fd), int(wake.Fd())) }) // a closed file needs no watch
		if closed {
			onHangup()
		}
	}()
	return func() { waker.Close(); <-done }
}

// waitForHangup blocks until the other end of fd or of wake is closed. It reports true for fd, and
// false for wake. It requests no events: poll reports errors and hang-ups anyway (poll(2): POLLERR
// for the write end of a pipe, POLLHUP for a stream socket or terminal). Regular files report
// neither.
func waitForHangup(fd, wake int) bool {
	fds := []unix.PollFd{{Fd: int32(fd)}, {Fd: int32(wake)}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
		case err != nil || fds[1].Revents != 0:
			return false
		case fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
			return true
		case fds[0].Revents != 0:
			return false // POLLNVAL
		}
	}
}
