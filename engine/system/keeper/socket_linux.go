package keeper

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"tandem/engine/base/unixsocket"
)

// A socket is the keeper's listener. Its methods must be called on the loop.
type socket struct {
	path     string                  // path to listen on
	spare    string                  // path to listen on if path fails; "" for none
	serve    func(*net.UnixListener) // returns when the listener is closed
	at       string                  // path the keeper listens on now
	listener *net.UnixListener
	file     os.FileInfo // socket file created by the listener
}

// spareSocket returns the path to listen on if Socket fails, for example because a logout deleted
// the runtime directory.
func (o Options) spareSocket() string { return filepath.Join(o.DataDir, "keeper.sock") }

// open listens at path or, if that fails, at the spare path.
func (s *socket) open() error {
	if len(s.path) > unixsocket.MaxPath {
		return fmt.Errorf("listen on %s: path is longer than %d bytes", s.path, unixsocket.MaxPath)
	}
	err := s.openAt(s.path)
	if err != nil && s.spare != "" && s.openAt(s.spare) == nil {
		return nil
	}
	return err
}

// openAt listens at path, replacing a socket left by an earlier keeper. No other keeper listens
// there, since this one holds the lock.
func (s *socket) openAt(path string) error {
	if dir := filepath.Dir(path); dir != filepath.Dir(s.spare) { // do not recreate a deleted data directory
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	switch st, err := os.Lstat(path); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("listen on keeper socket: %w", err)
	case st.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("listen on %s: the file there is not a socket", path)
	default:
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove stale socket: %w", err)
		}
	}
	l, err := listenAt(path)
	if err != nil {
		return fmt.Errorf("listen on keeper socket: %w", err)
	}
	l.SetUnlinkOnClose(false) // close checks that the file is ours
	file, err := os.Lstat(path)
	if err != nil {
		l.Close()
		return fmt.Errorf("listen on keeper socket: %w", err)
	}
	s.at, s.file, s.listener = path, file, l
	go s.serve(l)
	return nil
}

func listenAt(path string) (*net.UnixListener, error) {
	short, done, err := unixsocket.ShortPath(path)
	if err != nil {
		return nil, err
	}
	defer done()
	// The umask closes the gap between bind and a later chmod.
	mask := syscall.Umask(0o177)
	defer syscall.Umask(mask)
	return net.ListenUnix("unixpacket", &net.UnixAddr{Name: short, Net: "unixpacket"})
}

// close removes the socket file unless another keeper created it: the data directory may have been
// deleted and recreated.
func (s *socket) close() {
	if there, err := os.Lstat(s.at); err == nil && os.SameFile(there, s.file) {
		os.Remove(s.at)
	}
	s.listener.Close()
}

// keepFiles recreates the socket and the lock file if they were deleted, for example by an older
// keeper on exit or by the user. The next engine needs the socket.
func (k *keeper) keepFiles() {
	if IsDisplaced(k.lock.folder) {
		return
	}
	if err := k.lock.renew(); err != nil {
		k.engine.logf("keeper: recreate the lock file: %v", err)
	}
	if _, err := os.Lstat(k.socket.at); !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return
	}
	k.socket.listener.Close()
	if err := k.socket.open(); err != nil {
		k.engine.logf("keeper: recreate the socket: %v", err)
	}
}

// watchFolders calls changed after one of the directories, or a file in it, was deleted; see
// inotify(7). The returned function ends that. If the kernel has no watches left, changed is never
// called.
func watchFolders(changed func(), paths ...string) (stop func()) {
	none := func() {}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return none
	}
	f := os.NewFile(uintptr(fd), "inotify")
	watch := func() {
		for _, path := range paths { // a recreated directory needs a new watch
			_, _ = unix.InotifyAddWatch(fd, path, unix.IN_DELETE|unix.IN_DELETE_SELF|unix.IN_ONLYDIR)
		}
	}
	watch()
	go func() {
		events := make([]byte, 4096)
		for {
			if _, err := f.Read(events); err != nil {
				return
			}
			changed()
			watch()
		}
	}()
	return func() { f.Close() }
}
