package output

import (
	"context"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// errUnread exits a command once its output pipe has no reader, with the status of a program killed
// by SIGPIPE.
var errUnread = &ExitError{Status: StatusSignal + int(syscall.SIGPIPE)}

// WhileRead returns a context cancelled with errUnread once the pipe stream has no reader, so that
// `tandem logs -f web | grep -m1 ready` need not wait for another line. If stream is not a pipe, it
// returns ctx. The caller must call release.
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
		if waitUnread(f, wake[0]) {
			cancel(errUnread)
		}
	}()
	return reading, func() {
		// Closing one end wakes the poll. The other end stays open until then, or its number could
		// be reused.
		unix.Close(wake[1])
		<-done
		unix.Close(wake[0])
		cancel(nil)
	}
}

// waitUnread waits until a pipe has no reader and returns true. It returns false once the other end
// of wake is closed.
func waitUnread(pipe *os.File, wake int) (gone bool) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		// poll reports POLLERR on a pipe without readers even if no events are requested.
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
