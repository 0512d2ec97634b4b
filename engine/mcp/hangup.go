package mcp

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// watchReader calls gone once nobody can read what is written to a pipe, a
// socket or a terminal any more: the other end is closed, whatever became of
// the input. The function that comes back ends that.
func watchReader(out io.Writer, gone func()) (unwatch func()) {
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
		_ = conn.Control(func(fd uintptr) { closed = hungUp(int(fd), int(wake.Fd())) }) // a file that is closed needs no watch
		if closed {
			gone()
		}
	}()
	return func() { waker.Close(); <-done }
}

// hungUp waits until the other end of fd is closed, or that of wake is: false
// then. Without asking for any event, poll tells of errors and hang-ups alone
// (poll(2): POLLERR at the writing end of a pipe, POLLHUP of a stream socket or
// terminal). Regular files and the like have neither.
func hungUp(fd, wake int) bool {
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
