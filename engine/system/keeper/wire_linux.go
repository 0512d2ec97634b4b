package keeper

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"tandem/engine/base/unixsocket"
)

func rightsSpace(n int) int { return unix.CmsgSpace(4 * n) }

// encodeRights returns the control message for fds, see SCM_RIGHTS in unix(7).
func encodeRights(fds []int) []byte {
	if len(fds) == 0 {
		return nil
	}
	return unix.UnixRights(fds...)
}

// parseRights returns all descriptors in a control buffer.
func parseRights(oob []byte) (fds []int) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for i := range messages {
		if got, err := unix.ParseUnixRights(&messages[i]); err == nil {
			fds = append(fds, got...)
		}
	}
	return fds
}

func isTruncated(flags int) bool { return flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 }

func closeFDs(fds []int) {
	for _, fd := range fds {
		closeFD(fd)
	}
}

func closeFD(fd int) {
	if fd >= 0 {
		unix.Close(fd)
	}
}

func dupFD(fd int) (int, error) {
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
}

// beginWriteback makes the kernel write a file to disk soon. If it fails, the kernel does so
// later.
func beginWriteback(fd int) { _ = unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE) }

// createMemfd returns an anonymous file containing body.
func createMemfd(body []byte) (int, error) {
	fd, err := unix.MemfdCreate("tandem-message", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("make memfd: %v", err)
	}
	for off := 0; off < len(body); {
		n, err := unix.Pwrite(fd, body[off:], int64(off))
		if err != nil && err != unix.EINTR {
			closeFD(fd)
			return -1, fmt.Errorf("write memfd: %v", err)
		}
		off += max(n, 0)
	}
	return fd, nil
}

// readMemfd reads a message from a peer's descriptor. It accepts only regular files, since reading
// anything else may never end.
func readMemfd(fd int) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("stat content of large message: %v", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errors.New("content of large message is not a regular file")
	}
	if st.Size > maxMessage {
		return nil, fmt.Errorf("message of %d bytes is over the limit of %d", st.Size, maxMessage)
	}
	body := make([]byte, st.Size)
	for off := 0; off < len(body); {
		n, err := unix.Pread(fd, body[off:], int64(off))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, fmt.Errorf("read content of large message: %v", err)
		case n == 0:
			return nil, io.ErrUnexpectedEOF
		default:
			off += n
		}
	}
	return body, nil
}

// A peer is the process at the other end of a socket.
type peer struct {
	uid, pid int
	pidfd    int // -1 if the kernel does not provide it (before Linux 6.5)
}

// peerOf returns the connected process. The caller closes its pidfd, also with an error.
func peerOf(conn *net.UnixConn) (peer, error) {
	pid, uid, err := unixsocket.PeerOf(conn)
	if err != nil {
		return peer{pidfd: -1}, err
	}
	pidfd, _ := unixsocket.OpenPeer(conn) // -1 without one
	return peer{uid: uid, pid: pid, pidfd: pidfd}, nil
}

// checkUID rejects processes of other users, including root: Tandem does not cross users.
func (p peer) checkUID(own int) error {
	if p.uid != own {
		return fmt.Errorf("socket of user %d refuses process %d of user %d", own, p.pid, p.uid)
	}
	return nil
}

// fileOf returns an *os.File with working deadlines for a received descriptor: os.NewFile adds
// only non-blocking descriptors to the poller.
func fileOf(fd int, name string) (*os.File, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		closeFD(fd)
		return nil, fmt.Errorf("make %s non-blocking: %v", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
