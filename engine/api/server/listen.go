package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"tandem/engine/api/sockets"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/wire"
	"tandem/engine/base/unixsocket"
)

const (
	probeTimeout = 2 * time.Second
	socketMode   = 0o600
)

// Listen creates the engine's unix socket at path with mode 0600. It replaces a socket that nobody
// uses. The listener closes connections of users other than this one and root.
//
// The error is CodeConflict if the existing socket is in use or belongs to another user, or if the
// file is not a socket; it is then left alone. A directory only for sockets is created if it is
// missing. A data directory must exist, so a deleted one stays deleted.
func Listen(path string) (net.Listener, error) {
	if len(path) > unixsocket.MaxPath {
		return nil, api.Errorf(api.CodeInvalid, "listen on %s: the path has %d bytes; a socket path may have at most %d",
			path, len(path), unixsocket.MaxPath).WithHint("choose a shorter data folder with TANDEM_DATA_DIR")
	}
	if err := socketFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return listenAt(path)
}

// ListenSpare is like Listen, for a path of sockets.SparePaths. It may be longer than
// unixsocket.MaxPath.
func ListenSpare(path string) (net.Listener, error) {
	if err := socketFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return listenAt(path)
}

func socketFolder(dir string) error {
	if sockets.HoldsOnly(dir) {
		return wire.PrivateFolder(dir)
	}
	return wire.TrustedFolder(dir)
}

func listenAt(path string) (net.Listener, error) {
	short, done, err := unixsocket.ShortPath(path)
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "listen on %s: %v", path, err)
	}
	defer done()
	if err := removeStale(short); err != nil {
		return nil, err
	}
	l, err := bindSocket(short)
	if err != nil {
		return nil, err
	}
	l.path = path
	return l, nil
}

// removeStale deletes the socket at path, if it belongs to this user and nobody listens on it.
// Otherwise it returns an error.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return api.Errorf(api.CodeUnavailable, "listen on %s: %v", path, err)
	case info.Mode().Type() != fs.ModeSocket:
		return api.Errorf(api.CodeConflict, "listen on %s: the file there is not a socket", path).
			WithHint("move it away, or choose another data folder with TANDEM_DATA_DIR")
	case !wire.OwnedBySelf(info):
		return api.Errorf(api.CodeConflict, "listen on %s: the socket there belongs to another user", path).WithHint(wire.HintOwnFolder)
	}
	// Only a refused connection proves that nobody listens: a busy engine may time out.
	c, err := net.DialTimeout("unix", path, probeTimeout)
	if err == nil {
		c.Close()
		return api.Errorf(api.CodeConflict, "listen on %s: another engine answers there", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return api.Errorf(api.CodeUnavailable, "listen on %s: check whether the socket is in use: %v", path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return api.Errorf(api.CodeUnavailable, "listen on %s: remove the stale socket: %v", path, err)
	}
	return nil
}

// bindSocket creates the socket file. The file has its final mode from the start: it gets the mode
// of the unbound socket, minus the umask (unix(7)).
func bindSocket(path string) (*listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if e := raw.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), socketMode) }); e != nil {
			return e
		}
		return err
	}}
	l, err := lc.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "listen on %s: %v", path, err)
	}
	ul := l.(*net.UnixListener)
	ul.SetUnlinkOnClose(false) // Close must not delete a newer engine's socket
	var info fs.FileInfo
	if err = os.Chmod(path, socketMode); err == nil {
		info, err = os.Lstat(path)
	}
	if err != nil {
		ul.Close()
		return nil, api.Errorf(api.CodeUnavailable, "listen on %s: %v", path, err)
	}
	return &listener{UnixListener: ul, path: path, file: info, trust: wire.TrustFor(os.Geteuid())}, nil
}

// A listener accepts only connections of trusted users.
type listener struct {
	*net.UnixListener
	path  string
	file  fs.FileInfo
	trust func(uid int) bool
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		_, uid, err := unixsocket.PeerOf(c)
		trusted := err == nil && l.trust(uid)
		if trusted && !isSpare(c) {
			return c, nil
		}
		if trusted {
			rejectClient(c)
		}
		c.Close()
	}
}

const (
	// spareDescriptors is how many file descriptors are reserved for serving connected clients, and
	// for another keeper. New clients do not get them.
	spareDescriptors = 32
	// refusalWait is how long to wait for the request of a client before it is rejected.
	refusalWait = 20 * time.Millisecond
)

// isSpare reports whether a connection has one of the reserved descriptors.
func isSpare(c *net.UnixConn) (spare bool) {
	var limit unix.Rlimit
	raw, err := c.SyscallConn()
	if err != nil || unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return false
	}
	// The kernel assigns the lowest free descriptor, so its number tells how many are in use.
	err = raw.Control(func(fd uintptr) { spare = uint64(fd)+spareDescriptors >= limit.Cur })
	return err == nil && spare
}

// rejectClient tells a client that there are no free descriptors. It ignores errors, because the
// connection is closed anyway.
func rejectClient(c *net.UnixConn) {
	_ = c.SetDeadline(time.Now().Add(refusalWait))
	if _, err := c.Read(make([]byte, maxRefused)); err != nil {
		return
	}
	e := api.Errorf(api.CodeConflict, "connect: the engine has reached its limit of open files").
		WithHint("close clients, stop something, or start the engine with a higher limit: ulimit -n")
	body, err := json.Marshal(e)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(c, "HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
}

// maxRefused is the maximum number of bytes read of a rejected request.
const maxRefused = 64 << 10

// A Lasting listener continues to accept connections after Renew has replaced its deleted socket.
type Lasting struct {
	mu     sync.Mutex
	now    net.Listener
	closed bool
}

func NewLasting(l net.Listener) *Lasting { return &Lasting{now: l} }

func (l *Lasting) current() (now net.Listener, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now, l.closed
}

// Accept waits for a connection to the current socket.
func (l *Lasting) Accept() (net.Conn, error) {
	for {
		now, closed := l.current()
		// Renew closes the old listener. If that caused the error, accept again.
		conn, err := now.Accept()
		if latest, _ := l.current(); err == nil || closed || latest == now {
			return conn, err
		}
	}
}

func (l *Lasting) Addr() net.Addr { now, _ := l.current(); return now.Addr() }

func (l *Lasting) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.now.Close()
}

// Path returns the path of the current socket.
func (l *Lasting) Path() string {
	now, _ := l.current()
	if own, ok := now.(*listener); ok {
		return own.path
	}
	return ""
}

// Renew calls listen for a new socket if the current one was deleted, renamed or replaced. If its
// mode was changed, Renew restores the mode.
func (l *Lasting) Renew(listen func() (net.Listener, error)) error {
	now, _ := l.current()
	own, ok := now.(*listener)
	if !ok {
		return nil
	}
	switch info, err := os.Lstat(own.path); {
	case err == nil && os.SameFile(info, own.file):
		if info.Mode().Perm() == socketMode {
			return nil
		}
		return os.Chmod(own.path, socketMode)
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return nil
	}
	next, err := listen()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return next.Close()
	}
	// Closing the old listener makes Accept return. It does not remove the file of the new socket.
	l.now, next = next, l.now
	return next.Close()
}

// Close removes the socket file, unless a newer engine has replaced it with its own.
func (l *listener) Close() error {
	if info, err := os.Lstat(l.path); err == nil && os.SameFile(info, l.file) {
		_ = os.Remove(l.path) // a stale socket is replaced by the next engine anyway
	}
	return l.UnixListener.Close()
}
