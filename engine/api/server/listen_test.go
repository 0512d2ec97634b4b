package server

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/base/unixsocket"
)

func TestListenCreatesAPrivateSocketUnderAnyUmask(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	for _, mask := range []int{0, 0o777} {
		dir := filepath.Join(socketDir(t), "run")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		unix.Umask(mask)
		path := filepath.Join(dir, "s")
		l, err := Listen(path)
		unix.Umask(0)
		if err != nil {
			t.Fatal(err)
		}
		if mode := modeOf(t, path); mode != fs.ModeSocket|0o600 {
			t.Errorf("with umask %o the socket has mode %v, want 0600", mask, mode)
		}
		l.Close()
	}
}

func TestListenDoesNotRestoreADeletedDataFolder(t *testing.T) {
	folder := filepath.Join(socketDir(t), "deleted")
	if _, err := Listen(filepath.Join(folder, "engine.sock")); !errors.Is(err, api.CodeUnavailable) {
		t.Errorf("Listen gave %v, want %v", err, api.CodeUnavailable)
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder: %v, want none", err)
	}
}

func TestListenReplacesAStaleSocket(t *testing.T) {
	path := filepath.Join(socketDir(t), "s")
	stale, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close()
	l, err := Listen(path)
	if err != nil {
		t.Fatalf("Listen = %v", err)
	}
	l.Close()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close the socket is still there: %v", err)
	}
}

func TestListenLeavesALiveSocketAlone(t *testing.T) {
	path := filepath.Join(socketDir(t), "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Listen(path); !errors.Is(err, api.CodeConflict) {
		t.Errorf("second Listen = %v, want CodeConflict", err)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the first listener is gone: %v", err)
	}
	c.Close()
}

func TestListenKeepsAFileThatIsNotASocket(t *testing.T) {
	path := filepath.Join(socketDir(t), "s")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); !errors.Is(err, api.CodeConflict) {
		t.Errorf("Listen = %v, want CodeConflict", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "precious" {
		t.Errorf("the file holds %q now", data)
	}
}

func TestListenErrorExplainsATooLongPath(t *testing.T) {
	path := filepath.Join(socketDir(t), strings.Repeat("x", unixsocket.MaxPath))
	_, err := Listen(path)
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeInvalid || !strings.Contains(e.Message, "at most 107") || e.Hint == "" {
		t.Errorf("Listen = %v, want CodeInvalid with the limit and a hint", err)
	}
}

func TestClosingListenerKeepsItsSuccessorsSocket(t *testing.T) {
	path := filepath.Join(socketDir(t), "s")
	first, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	first.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the second socket is gone: %v", err)
	}
}

func TestListenerClosesConnectionsOfOtherUsers(t *testing.T) {
	path := filepath.Join(socketDir(t), "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.(*listener).trust = func(int) bool { return false }
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading gives %d bytes and %v, want the connection closed", n, err)
	}
	l.Close()
	if c := <-accepted; c != nil {
		t.Error("Accept gave out the stranger's connection")
	}
}

// socketDir is a temporary folder whose path leaves room for a socket's name.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func modeOf(t testing.TB, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}
