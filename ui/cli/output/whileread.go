package output

import (
	"context"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// errUnread ends a command once nobody reads its output pipe any more, with the status of a
// program killed by SIGPIPE.
var errUnread = &ExitError{Status: StatusSignal + int(syscall.SIGPIPE)}

// WhileRead gives a context that ends when nobody reads a pipe any more, with
// errUnread as the cause: `tandem logs -f web | grep -m1 ready` is not to wait
// for another line. Of what is not a pipe it is ctx itself. Release is to be called.
func WhileRead(ctx context.Context, stream io.Writer) (reading context.Context, release func()) {
	f, ok := stream.(*os.File)
	if !ok || f == nil {
		return ctx, func() {}
	}
	var wake [2]int
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 || unix.Pipe2(wake[:], unix.O_CLOEXEC) != nil {
		return ctx, func() {}
	}
	reading, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if unread(f, wake[0]) {
			cancel(errUnread)
		}
	}()
	return reading, func() {
		unix.Close(wake[1])
		<-done
		unix.Close(wake[0])
		cancel(nil)
	}
}

// unread waits until nobody reads a pipe any more, or the other end of wake is
// closed: then it is false.
func unread(pipe *os.File, wake int) (gone bool) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		// An error of a pipe's writing end is asked for by no event of its own.
		fds := []unix.PollFd{{Fd: int32(fd)}, {Fd: int32(wake)}}
		for {
			n, err := unix.Poll(fds, -1)
			if n > 0 || err != unix.EINTR {
				break
			}
		}
		gone = fds[0].Revents&unix.POLLERR != 0
	})
	return err == nil && gone
}
