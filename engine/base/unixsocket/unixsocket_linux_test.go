package unixsocket

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// connect connects a socket at a path to itself.
func connect(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	short, done, err := ShortPath(path)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestShortPathReachesLongPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", MaxPath))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	connect(t, filepath.Join(dir, "s"))
	if info, err := os.Stat(filepath.Join(dir, "s")); err != nil || info.Mode().Type() != os.ModeSocket {
		t.Errorf("no socket at the long path: %v, %v", info, err)
	}
	if _, _, err := ShortPath(filepath.Join(dir, "none", "s")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a missing directory: %v", err)
	}
}

func TestPeerIsTheConnectedProcess(t *testing.T) {
	c := connect(t, filepath.Join(t.TempDir(), "s"))
	if pid, uid, err := PeerOf(c); pid != os.Getpid() || uid != os.Geteuid() || err != nil {
		t.Errorf("pid %d, uid %d, %v", pid, uid, err)
	}
	pidfd, err := OpenPeer(c)
	if errors.Is(err, unix.ENOPROTOOPT) { // before Linux 6.5
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pidfd)
	if err := unix.PidfdSendSignal(pidfd, 0, nil, 0); err != nil {
		t.Errorf("signal the peer: %v", err)
	}
	if flags, err := unix.FcntlInt(uintptr(pidfd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("children inherit the descriptor: flags %x, %v", flags, err)
	}
}

func TestClosedConnectionHasNoPeer(t *testing.T) {
	c := connect(t, filepath.Join(t.TempDir(), "s"))
	c.Close()
	if pidfd, err := OpenPeer(c); pidfd != -1 || err == nil {
		t.Errorf("pidfd %d, %v", pidfd, err)
	}
	if pid, _, err := PeerOf(c); pid != 0 || err == nil {
		t.Errorf("pid %d, %v", pid, err)
	}
}
