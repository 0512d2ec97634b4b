package proctree

import (
	"os"

	"golang.org/x/sys/unix"

	"tandem/persist/store"
)

// OnEnd calls ended once a process has exited, at once if it already has. It waits on a pidfd,
// without polling. stop cancels the wait, though ended may still be called. If the kernel provides
// no pidfd, ended is never called.
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
		// Check after opening: the descriptor stays on its process.
		if !who.Alive() {
			if conn.Control(func(uintptr) {}) == nil { // otherwise stop closed it
				ended()
			}
			return
		}
		if conn.Read(isReadable) == nil { // otherwise stop closed it
			ended()
		}
	}()
	return func() { f.Close() }
}

func isReadable(fd uintptr) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return n > 0 || err != nil && err != unix.EINTR
}
