package keeper

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// A socket is where the keeper listens. Its methods belong to the loop.
type socket struct {
	path     string
	serve    func(*net.UnixListener) // returns when the listener is closed
	listener *net.UnixListener
	file     os.FileInfo // what the listener made at path
}

const maxSocketPath = 107 // unix(7), without the NUL

// open replaces a socket that an earlier keeper left. Nobody else can listen on
// it, since this keeper holds the lock.
func (s *socket) open() error {
	if len(s.path) > maxSocketPath {
		return fmt.Errorf("listen on %s: path is longer than %d bytes", s.path, maxSocketPath)
	}
	switch st, err := os.Lstat(s.path); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("listen on keeper socket: %w", err)
	case st.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("listen on %s: a file that is not a socket is in the way", s.path)
	default:
		if err := os.Remove(s.path); err != nil {
			return fmt.Errorf("remove stale socket: %w", err)
		}
	}
	mask := syscall.Umask(0o177)
	defer syscall.Umask(mask)
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: s.path, Net: "unixpacket"})
	if err != nil {
		return fmt.Errorf("listen on keeper socket: %w", err)
	}
	l.SetUnlinkOnClose(false) // close looks whose it is
	if s.file, err = os.Lstat(s.path); err != nil {
		l.Close()
		return fmt.Errorf("listen on keeper socket: %w", err)
	}
	s.listener = l
	go s.serve(l)
	return nil
}

// close removes the socket, unless another keeper has put its own there: the data
// folder may have been deleted and made again.
func (s *socket) close() {
	if there, err := os.Lstat(s.path); err == nil && os.SameFile(there, s.file) {
		os.Remove(s.path)
	}
	s.listener.Close()
}

// keepSocket makes the socket again when it was deleted, as by an older keeper
// that ended or by somebody who tidies up: the next engine needs it.
func (k *keeper) keepSocket() {
	if _, err := os.Lstat(k.socket.path); !errors.Is(err, os.ErrNotExist) || k.displaced() {
		return
	}
	k.socket.listener.Close()
	if err := k.socket.open(); err != nil {
		k.engine.logf("keeper: make the socket again: %v", err)
	}
}

// displaced reports whether the data folder is no longer the one that this keeper
// has locked: it was deleted, and another keeper may have one in its place.
func (k *keeper) displaced() bool {
	ours, err := k.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(k.lock.Name())
	return errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(ours, there)
}
