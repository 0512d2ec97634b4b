package wire

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
)

// PeerOfConn returns the process at the other end of a unix socket connection, as of the time of
// the connection (SO_PEERCRED, unix(7)).
func PeerOfConn(c *net.UnixConn) (api.Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return api.Peer{}, fmt.Errorf("read peer credentials: %v", err)
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = credErr
	}
	if err != nil {
		return api.Peer{}, fmt.Errorf("read peer credentials: %v", err)
	}
	return api.Peer{PID: int(cred.Pid), UID: int(cred.Uid)}, nil
}
