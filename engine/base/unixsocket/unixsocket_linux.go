// Package unixsocket supplements package net for unix(7) sockets: with addresses for long paths,
// and with the process at the other end.
package unixsocket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// MaxPath is the length of sun_path minus its final NUL.
const MaxPath = 107

// ShortPath returns a path to a socket that fits into a socket address. If path is too long, the
// result leads through an open descriptor of its directory; done closes the descriptor.
func ShortPath(path string) (short string, done func(), err error) {
	if len(path) <= MaxPath {
		return path, func() {}, nil
	}
	dir, err := os.OpenFile(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { dir.Close() }, nil
}

// PeerOf returns the process at the other end, as of the time of the connection (SO_PEERCRED).
func PeerOf(c *net.UnixConn) (pid, uid int, err error) {
	err = control(c, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			pid, uid = int(cred.Pid), int(cred.Uid)
		}
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("read peer credentials: %w", err)
	}
	return pid, uid, nil
}

// OpenPeer returns a pidfd of the process at the other end, to be closed by the caller, or -1 with an
// error: ENOPROTOOPT before Linux 6.5, ESRCH or EINVAL if the process was reaped (SO_PEERPIDFD).
func OpenPeer(c *net.UnixConn) (pidfd int, err error) {
	pidfd = -1
	err = control(c, func(fd int) error {
		own, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		if err == nil {
			unix.CloseOnExec(own)
			pidfd = own
		}
		return err
	})
	return pidfd, err
}

func control(c *net.UnixConn, do func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var own error
	err = raw.Control(func(fd uintptr) { own = do(int(fd)) })
	return errors.Join(err, own)
}
