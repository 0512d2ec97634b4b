package proctree

import (
	"os"

	"golang.org/x/sys/unix"

	"tandem/persist/store"
)

// OnEnd calls ended once a process has ended, at once if it has. Nothing is asked of it
// meanwhile: a pidfd becomes readable. stop gives up; ended may be called nevertheless. Where
// the kernel has no such descriptor, ended is never called.
func OnEnd(who store.Identity, ended func()) (stop func()) {
	fd, err := unix.PidfdOpen(who.PID, unix.PIDFD_NONBLOCK)
	if err != nil {
		if err == unix.ESRCH {
			ended()
		}
		return func() {}
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	conn, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return func() {}
	}
	go func() {
		defer f.Close()
		if !who.Alive() { // checked behind the descriptor, which cannot change any more
			if conn.Control(func(uintptr) {}) == nil { // else it was closed
				ended()
			}
			return
		}
		if conn.Read(isReadable) == nil { // else it was closed
			ended()
		}
	}()
	return func() { f.Close() }
}

func isReadable(fd uintptr) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return n > 0 || err != nil && err != unix.EINTR
}
